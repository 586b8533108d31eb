//! A circuit breaker in one line above a client function.
//!
//! ```
//! use breakerbox::{CircuitOpenError, circuit_breaker};
//!
//! #[derive(Debug)]
//! enum PmsError {
//!     Down,
//!     UnknownHotel,
//!     Refused(CircuitOpenError),
//! }
//! impl From<CircuitOpenError> for PmsError {
//!     fn from(open: CircuitOpenError) -> Self {
//!         Self::Refused(open)
//!     }
//! }
//!
//! #[circuit_breaker(threshold = 2, reset = "30s", classify = |e| matches!(e, PmsError::Down))]
//! fn rooms(hotel: &str) -> Result<u32, PmsError> {
//!     if hotel == "H1" { Err(PmsError::Down) } else { Err(PmsError::UnknownHotel) }
//! }
//!
//! # let _scope = breakerbox::test::scope();
//! assert!(matches!(rooms("nowhere"), Err(PmsError::UnknownHotel)));   // an answer: not counted
//! assert!(matches!(rooms("H1"), Err(PmsError::Down)));
//! assert!(matches!(rooms("H1"), Err(PmsError::Down)));                // the second: it opens
//! assert!(matches!(rooms("H1"), Err(PmsError::Refused(_))));          // refused at once
//! ```
//!
//! When a dependency stops answering, callers must not pile up behind it. After
//! enough counted failures the breaker opens: calls are refused at once, or
//! served by a fallback. When its wait is over, single probes find out whether
//! the dependency is back.
//!
//! # Where to look
//! - [`circuit_breaker`]: the attribute and all its options.
//! - [`breaker!`]: one breaker for several functions.
//! - [`Breaker`]: a breaker by hand: [`Breaker::call`], [`Breaker::call_sync`],
//!   [`Breaker::admit`], [`Breaker::shared`].
//! - [`observe`]: hearing of state changes, rejections and served fallbacks.
//! - [`find`]: any breaker of the process by name, to look at it or operate it.
//! - `test`: tests of annotated functions that never sleep (feature
//!   `test-util`).
//!
//! # Features
//! | feature | what it adds | default |
//! | --- | --- | --- |
//! | `std` | [`SystemClock`], [`ExactClock`], [`Breaker::shared`], [`find`], [`observe`] | yes |
//! | `tokio` | `timeout`, through tokio's timer | yes |
//! | `log` | `observe::LogObserver` | no |
//! | `test-util` | `test::scope()` | no |
//!
//! Without `std` the crate is `no_std` and without `alloc`: give each
//! [`Breaker`] a [`Clock`] of the platform's ([`Breaker::with_clock`]) and name
//! it in the attribute (`breaker = ..`).
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[path = "private.rs"]
#[doc(hidden)]
pub mod __private;
mod bound;
mod breaker;
mod brief;
mod call;
mod cause;
mod classify;
mod clock;
mod error;
mod fallback;
mod guard;
#[cfg(feature = "std")]
mod keyed;
mod limit;
mod name;
mod notify;
#[cfg(feature = "std")]
pub mod observe;
mod permit;
mod refusal;
#[cfg(feature = "std")]
mod registry;
mod served;
mod subject;
#[cfg(feature = "test-util")]
pub mod test;
mod ticket;
mod timer;

pub use breaker_core::{
    Change, Clock, Config, ConfigError, Consecutive, Effect, Generation, MAX_BUCKETS,
    MAX_MIN_CALLS, MAX_PROBES, MAX_THRESHOLD, MAX_WINDOW_CALLS, ManualClock, OnCancel, Outcome,
    Policy, RateConfig, Reason, Setting, Settings, Sliding, Snapshot, SnapshotError, State,
    Trigger, UnknownState, Window,
};
pub use breaker_macros::{breaker, circuit_breaker};

pub use breaker::Breaker;
pub use call::{Call, Classified};
pub use cause::Cause;
pub use classify::Verdict;
pub use clock::DefaultClock;
#[cfg(all(
    feature = "std",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub use clock::{ExactClock, SystemClock};
pub use error::{CallError, CircuitOpenError, TimeoutError};
pub use guard::Guard;
#[cfg(feature = "std")]
pub use guard::KeyedGuard;
#[cfg(feature = "std")]
pub use keyed::{DEFAULT_MAX_KEYS, Key, KeyedBreaker, KeyedBreakers};
#[cfg(feature = "std")]
pub use name::KeyLabel;
pub use notify::InPlaceOf;
pub use permit::Permit;
#[cfg(feature = "std")]
pub use registry::{AnyBreaker, Found, FoundKeyed, find, find_keyed};
pub use served::Served;
pub use subject::Subject;
pub use timer::Timer;
#[cfg(feature = "tokio")]
pub use timer::TokioTimer;
