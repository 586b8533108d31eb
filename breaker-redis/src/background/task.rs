//! What takes its time, and says in the end what came of it.

use crate::error::Trouble;
use std::future::poll_fn;
use std::panic::{self, AssertUnwindSafe};
use std::pin::pin;
use std::task::Poll;
use tokio::runtime::Runtime;

/// Does this in the background, and then says what came of it: also where it panics, since somebody
/// waits for it.
pub(super) fn start<T: 'static>(
    runtime: &Runtime,
    task: impl Future<Output = Result<T, Trouble>> + Send + 'static,
    then: impl FnOnce(Result<T, Trouble>) + Send + 'static,
) {
    runtime.spawn(async move { then(caught(task).await) });
}

async fn caught<T>(task: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
    let mut task = pin!(task);
    poll_fn(|cx| {
        let polled = panic::catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(cx)));
        polled.unwrap_or_else(|_| {
            let why = "the client for it has panicked, which is a fault of ours";
            Poll::Ready(Err(Trouble::Ended(why.to_owned())))
        })
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[test]
    fn what_panics_says_so_to_whoever_waits_for_it() {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.build().expect("a runtime");
        let said = |panics: bool| {
            let (tell, told) = oneshot::channel();
            let task = async move {
                tokio::task::yield_now().await;
                assert!(!panics, "as it is told to");
                Ok(7)
            };
            start(&runtime, task, move |said| {
                let _ = tell.send(said);
            });
            runtime.block_on(told).expect("something is said")
        };
        assert_eq!(said(false), Ok(7));
        let error = said(true).expect_err("it panicked").to_string();
        assert!(error.contains("panicked"), "{error}");
    }
}
