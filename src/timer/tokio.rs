//! The timer of tokio.

use super::Timer;
use core::time::Duration;

/// Tokio's timer. Needs a tokio runtime with time enabled around the call.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

impl Timer for TokioTimer {
    type Sleep = tokio::time::Sleep;

    fn sleep(&self, after: Duration) -> tokio::time::Sleep {
        tokio::time::sleep(after)
    }
}
