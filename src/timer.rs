//! Where time limits come from.

#[cfg(all(feature = "js", all(target_family = "wasm", target_os = "unknown")))]
mod js;
#[cfg(all(
    feature = "tokio",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
mod tokio;

#[cfg(all(
    feature = "tokio",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub use self::tokio::TokioTimer;
#[cfg(all(feature = "js", all(target_family = "wasm", target_os = "unknown")))]
pub use js::{JsSleep, JsTimer};

use core::future::Future;
use core::time::Duration;

/// The timer of `timeout` where no other is named: the [`JsTimer`].
#[cfg(all(feature = "js", all(target_family = "wasm", target_os = "unknown")))]
pub type DefaultTimer = JsTimer;

/// The timer of `timeout` where no other is named: the [`TokioTimer`].
#[cfg(all(
    feature = "tokio",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub type DefaultTimer = TokioTimer;

/// The one there is.
#[cfg(all(feature = "js", all(target_family = "wasm", target_os = "unknown")))]
pub(crate) const DEFAULT: DefaultTimer = JsTimer;

/// The one there is.
#[cfg(all(
    feature = "tokio",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub(crate) const DEFAULT: DefaultTimer = TokioTimer;

/// Makes the timers behind `timeout`. The breaker itself needs none.
///
/// Where there is neither tokio nor JavaScript, implement it over the platform's
/// timer.
pub trait Timer {
    /// Ends when its time is over.
    type Sleep: Future<Output = ()>;

    /// A timer of `after` from now.
    fn sleep(&self, after: Duration) -> Self::Sleep;
}
