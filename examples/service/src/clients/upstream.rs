//! One HTTP API.

use std::time::Duration;

use breakerbox::classify::ErrorWithRetryAfter;
use reqwest::{Client, Method, Url};
use serde::de::DeserializeOwned;

use super::Failed;

/// One HTTP API: where it is, and the connections to it.
#[derive(Clone, Debug)]
pub struct Upstream {
    http: Client,
    base: Url,
}

impl Upstream {
    /// The API below this address.
    #[must_use]
    pub fn new(http: Client, base: Url) -> Self {
        Self { http, base }
    }

    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: [&str; 2],
        within: Option<Duration>,
    ) -> Result<T, Failed> {
        self.ask(Method::GET, path, within).await
    }

    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: [&str; 2],
        within: Option<Duration>,
    ) -> Result<T, Failed> {
        self.ask(Method::POST, path, within).await
    }

    /// `within`: where no breaker has a timeout.
    async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        path: [&str; 2],
        within: Option<Duration>,
    ) -> Result<T, Failed> {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            // Escapes what is in them: a hotel's name comes from outside.
            segments.pop_if_empty().extend(path);
        }
        let mut request = self.http.request(method, url);
        if let Some(within) = within {
            request = request.timeout(within);
        }
        let response = request.send().await?.error_with_retry_after()?;
        Ok(response.json().await?)
    }
}
