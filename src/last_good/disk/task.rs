//! What runs on a thread where it may wait for the disk.

use super::error::DiskError;
#[cfg(not(feature = "tokio"))]
use crate::last_good::NeverWaits;
use crate::last_good::Reply;
use std::path::Path;

/// What a file's answer is awaited with: it is read and written on a thread where
/// that may take its time, from the moment in which it was asked for, whether the
/// task is awaited or dropped.
#[cfg(feature = "tokio")]
#[derive(Debug)]
#[must_use = "only who awaits it learns how it ended"]
pub struct DiskTask<T> {
    running: tokio::task::JoinHandle<Result<T, DiskError>>,
    path: std::path::PathBuf,
}

#[cfg(feature = "tokio")]
impl<T> Future for DiskTask<T> {
    type Output = Result<T, DiskError>;

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        std::pin::Pin::new(&mut self.running)
            .poll(context)
            .map(|ended| match ended {
                Ok(result) => result,
                Err(error) => match error.try_into_panic() {
                    // Of the answer's own code. As if it had been read right here.
                    Ok(panic) => std::panic::resume_unwind(panic),
                    Err(_) => Err(DiskError::RuntimeEnded {
                        path: self.path.clone(),
                    }),
                },
            })
    }
}

/// Without a runtime nothing is awaited.
#[cfg(not(feature = "tokio"))]
pub type DiskTask<T> = NeverWaits<Result<T, DiskError>>;

/// Runs it in the runtime's threads for what blocks; right here, if there is no
/// runtime.
pub(super) fn run<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> Result<T, DiskError> + Send + 'static,
) -> Reply<T, DiskError, DiskTask<T>> {
    #[cfg(feature = "tokio")]
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        return Reply::Later(DiskTask {
            running: runtime.spawn_blocking(work),
            path: path.to_owned(),
        });
    }
    #[cfg(not(feature = "tokio"))]
    let _ = path;
    Reply::Now(work())
}
