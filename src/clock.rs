//! The clocks of the platforms.

#[cfg(all(
    feature = "std",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
mod system;
#[cfg(all(
    feature = "std",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub use system::{ExactClock, SystemClock};

#[cfg(all(feature = "js", all(target_family = "wasm", target_os = "unknown")))]
mod js;
#[cfg(all(feature = "js", all(target_family = "wasm", target_os = "unknown")))]
pub use js::JsClock;
#[cfg(all(
    feature = "http",
    feature = "js",
    all(target_family = "wasm", target_os = "unknown")
))]
pub(crate) use js::since_epoch;

#[cfg(not(all(
    feature = "std",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
)))]
mod none;
#[cfg(not(all(
    feature = "std",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
)))]
pub(crate) use none::NoClock;

/// The clock of a [`Breaker`](crate::Breaker) that names no other: the
/// [`SystemClock`].
#[cfg(all(
    feature = "std",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub type DefaultClock = SystemClock;

/// The clock of a [`Breaker`](crate::Breaker) that names no other: the
/// [`JsClock`].
#[cfg(all(feature = "js", all(target_family = "wasm", target_os = "unknown")))]
pub type DefaultClock = JsClock;

/// There is no clock here: give each breaker one of the platform's.
#[cfg(not(all(
    feature = "std",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
)))]
pub type DefaultClock = NoClock;

/// The one there is.
#[cfg(all(
    feature = "std",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub(crate) const DEFAULT: DefaultClock = SystemClock;

/// The one there is.
#[cfg(all(feature = "js", all(target_family = "wasm", target_os = "unknown")))]
pub(crate) const DEFAULT: DefaultClock = JsClock;
