//! Runs a test that talks to a real server: one that hangs fails.

use std::future::Future;
use std::time::Duration;

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(async {
            tokio::time::timeout(Duration::from_secs(60), future)
                .await
                .expect("it hangs")
        })
}
