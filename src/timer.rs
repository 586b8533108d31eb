//! Where time limits come from.

use core::future::Future;
use core::time::Duration;

/// Makes the timers behind `timeout`. The breaker itself needs none.
///
/// Where there is no tokio, implement it over the platform's timer:
/// `setTimeout` in a browser or an edge worker.
pub trait Timer {
    /// Ends when its time is over.
    type Sleep: Future<Output = ()>;

    /// A timer of `after` from now.
    fn sleep(&self, after: Duration) -> Self::Sleep;
}

/// Tokio's timer. Needs a tokio runtime with time enabled around the call.
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

#[cfg(feature = "tokio")]
impl Timer for TokioTimer {
    type Sleep = tokio::time::Sleep;

    fn sleep(&self, after: Duration) -> tokio::time::Sleep {
        tokio::time::sleep(after)
    }
}
