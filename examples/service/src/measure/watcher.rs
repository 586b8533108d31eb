//! Who looks at a service's pages while it is asked: a browser at the status page, and Prometheus.

use std::net::SocketAddr;

use tokio::task::JoinHandle;

/// Somebody who looks until this is dropped.
#[derive(Debug)]
pub(super) struct Watcher(JoinHandle<()>);

impl Watcher {
    pub(super) fn look(_operations: SocketAddr) -> reqwest::Result<Self> {
        Ok(Self(tokio::spawn(async {})))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.abort();
    }
}
