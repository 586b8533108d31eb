//! Who looks at a service's pages while it is asked: a browser at the status page, and Prometheus.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::Client;
use reqwest::header::ACCEPT;
use serde::Deserialize;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::Trouble;

/// Somebody who looks until this is dropped.
#[derive(Debug)]
pub(super) struct Watcher(JoinHandle<reqwest::Result<()>>);

/// What the page's script reads first in each answer.
#[derive(Deserialize)]
struct Document {
    process: String,
    version: u64,
    refresh_ms: u64,
}

impl Watcher {
    pub(super) fn look(operations: SocketAddr) -> reqwest::Result<Self> {
        let http = Client::builder().no_proxy().build()?;
        Ok(Self(tokio::spawn(
            async move { look(&http, operations).await },
        )))
    }

    /// Looks no longer.
    ///
    /// # Errors
    /// Where a page didn't answer: what it costs would be nothing, and said to be what it costs.
    pub(super) async fn end(mut self) -> Result<(), Trouble> {
        match self.0.is_finished() {
            true => Ok((&mut self.0).await??),
            false => Ok(()),
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// As the page's own script does: what changed since, as often as the page says. And the metrics, each time:
/// more often than Prometheus does.
async fn look(http: &Client, operations: SocketAddr) -> reqwest::Result<()> {
    let mut since = String::new();
    loop {
        let page = http.get(format!("http://{operations}/circuits{since}"));
        let page = page.header(ACCEPT, "application/json").send().await?;
        let page: Document = page.error_for_status()?.json().await?;
        let metrics = http.get(format!("http://{operations}/metrics"));
        metrics.send().await?.error_for_status()?.bytes().await?;
        since = format!("?since={}.{}", page.process, page.version);
        sleep(Duration::from_millis(page.refresh_ms)).await;
    }
}
