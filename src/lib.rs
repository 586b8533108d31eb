//! A circuit breaker in one line above a client function.
//!
//! When a dependency stops answering, callers must not pile up behind it. After
//! enough counted failures the circuit opens: calls are refused at once, or
//! served by a fallback. When its wait is over, single probes find out whether
//! the dependency is back. There is no timer, no thread and no lock in it.
//!
//! ```
//! use breakerbox::{CallError, circuit_breaker, classify};
//!
//! #[circuit_breaker(threshold = 3, reset = "30s", timeout = "2s", classify = classify::reqwest)]
//! async fn rooms(host: &str) -> Result<String, CallError<reqwest::Error>> {
//!     let answer = reqwest::get(format!("http://{host}/rooms")).await?;
//!     Ok(answer.error_for_status()?.text().await?)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! for _ in 0..3 {
//!     assert!(rooms("127.0.0.1:1").await.is_err()); // nobody is there
//! }
//! assert!(matches!(rooms("127.0.0.1:1").await, Err(CallError::Open(_)))); // not called any more
//! # }
//! ```
//!
//! The function's own result passes through untouched. `CallError` is for error
//! types that are somebody else's; one of your own needs a
//! `From<CircuitOpenError>` instead. [`classify`] has what counts for the common
//! clients, each behind its feature, here `reqwest`.
//!
//! # The guide
//! | chapter | what it answers |
//! | --- | --- |
//! | [Options](guide::options) | what can be written in the brackets, with an example for each |
//! | [Failures](guide::failures) | which errors are outages, and which are answers |
//! | [Classifiers](guide::classifiers) | which classifier, for which client and which error |
//! | [Threshold and reset](guide::choosing) | which numbers to begin with, and what they cost |
//! | [Dependencies](guide::dependencies) | how many breakers there should be, and of what |
//! | [Timeouts and cancellation](guide::timeouts) | what becomes of a call that takes too long, or is dropped |
//! | [Composing](guide::composing) | in which order retries, rate limits, timeouts, races and breakers stand, and why |
//! | [Last-good answers](guide::last_good) | what to say while the dependency says nothing, and how old it may be |
//! | [Observing](guide::observing) | which circuit is open, and why |
//! | [Operating](guide::operating) | a circuit is open: what to do; settings at run time; bringing a breaker in by shadow |
//! | [One circuit for a fleet](guide::sharing) | sharing a circuit between processes, through Redis |
//! | [Operating a fleet](guide::operating_fleets) | health pages, operators' programs, how long it takes |
//! | [At the edge](guide::edge) | edge workers, browsers, Node: what is different there |
//! | [Testing](guide::testing) | tests of annotated functions that never sleep |
//!
//! # Where to look
//! - [`circuit_breaker`]: the attribute, with all options in one table.
//! - [`breaker!`]: one breaker for several functions.
//! - [`Breaker`]: a breaker by hand: [`Breaker::call`], [`Breaker::call_sync`],
//!   [`Breaker::admit`], [`Breaker::admit_owned`], [`Breaker::shared`].
//! - [`KeyedBreakers`]: one breaker for each host, account or region.
//! - [`classify`]: which errors of the common clients are outages.
//! - `tower`: a layer for tower's services: hyper, tonic, axum.
//! - `reqwest_middleware`: the same for `reqwest`'s client with middlewares.
//! - `LastGood`: the last good answers, served while there are none (feature
//!   `last-good`).
//! - [`observe`]: hearing of state changes, refused calls, the end of each call, served fallbacks.
//! - [`find`]: any breaker of the process by name, to look at it or operate it;
//!   [`registry`]: all of them, to list, watch, configure, snapshot and restore.
//! - [`link`]: sharing a circuit with other processes, through whatever is linked to it; through Redis
//!   by the crate `breaker-redis`.
//! - `status_page`: a page of every circuit, and operators' actions on it
//!   (feature `status-page`).
//! - `test`: tests of annotated functions that never sleep (feature
//!   `test-util`).
//!
//! # Features
//! | feature | what it adds | default |
//! | --- | --- | --- |
//! | `std` | [`SystemClock`], [`ExactClock`], [`Breaker::shared`], [`KeyedBreakers`], [`find`], [`registry`], [`observe`], [`classify::io`] | yes |
//! | `tokio` | `timeout`, through tokio's timer | yes |
//! | `js` | a clock and a timer for WebAssembly beside JavaScript (`wasm32-unknown-unknown`): browsers, edge workers, Node | no |
//! | `last-good` | `LastGood`, and `last_good` in the attribute | no |
//! | `last-good-disk` | `LastGood::on_disk`, in a file that outlives the process | no |
//! | `log` | `observe::LogObserver` | no |
//! | `tracing` | `observe::TracingObserver`, with a span for each call | no |
//! | `metrics` | `observe::MetricsObserver` | no |
//! | `http` | `classify::status`, `classify::response`, `classify::retry_after` | no |
//! | `reqwest` | `classify::reqwest`, and `?` on its errors | no |
//! | `aws` | `classify::aws` for the errors of the AWS SDK, of any service | no |
//! | `tonic` | `classify::tonic`, `?` on its `Status`, and `From<CircuitOpenError>` for that | no |
//! | `tower` | `tower::CircuitBreakerLayer` | no |
//! | `reqwest-middleware` | `reqwest_middleware::CircuitBreakerMiddleware`, but not for WebAssembly | no |
//! | `serde` | the states of all breakers, written down: [`registry::Snapshots`] | no |
//! | `config-file` | settings by breaker name from a file: `registry::configure_from_file` | no |
//! | `status-page` | `status_page`: a page of all circuits, for axum, but not for WebAssembly | no |
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
#[cfg(feature = "std")]
mod began;
#[cfg(not(feature = "std"))]
#[path = "began/no_std.rs"]
mod began;
mod bound;
mod breaker;
mod brief;
mod call;
mod cause;
#[cfg(feature = "std")]
mod claim;
pub mod classify;
mod clock;
mod end;
mod entered;
mod error;
mod fallback;
mod guard;
#[cfg(doc)]
pub mod guide;
mod half;
mod held;
#[cfg(feature = "std")]
mod keyed;
#[cfg(feature = "std")]
mod last_change;
#[cfg(all(
    feature = "last-good",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
))]
pub mod last_good;
mod limit;
#[cfg(feature = "std")]
pub mod link;
#[cfg(feature = "std")]
mod lock;
mod mark;
mod name;
mod notify;
#[cfg(feature = "std")]
pub mod observe;
#[cfg(feature = "std")]
mod owner;
mod permit;
mod reconfigure;
mod refusal;
#[cfg(feature = "std")]
pub mod registry;
#[cfg(all(feature = "reqwest-middleware", not(target_family = "wasm")))]
pub mod reqwest_middleware;
mod served;
#[cfg(feature = "tracing")]
mod span;
#[cfg(not(feature = "tracing"))]
#[path = "span/none.rs"]
mod span;
#[cfg(all(
    feature = "status-page",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub mod status_page;
mod subject;
#[cfg(feature = "test-util")]
pub mod test;
mod ticket;
mod timer;
#[cfg(feature = "tower")]
pub mod tower;
mod verdict;

pub use breaker_core::{
    Change, Clock, Config, ConfigError, Consecutive, Effect, Generation, MAX_BUCKETS,
    MAX_MIN_CALLS, MAX_PROBES, MAX_THRESHOLD, MAX_WINDOW_CALLS, ManualClock, Mistakes, OnCancel,
    Outcome, Overrides, Policy, RateConfig, Reason, Reconfiguration, ReconfigureError, Setting,
    SettingKind, SettingValue, Settings, Sliding, Snapshot, SnapshotError, State, Trigger,
    UnknownState, Window,
};
pub use breaker_macros::{breaker, circuit_breaker};

pub use breaker::Breaker;
pub use call::{Call, Classified};
pub use cause::Cause;
pub use clock::DefaultClock;
#[cfg(all(feature = "js", all(target_family = "wasm", target_os = "unknown")))]
pub use clock::JsClock;
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
#[cfg(feature = "std")]
pub use last_change::LastChange;
#[cfg(all(
    feature = "last-good",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
))]
pub use last_good::LastGood;
#[cfg(feature = "std")]
pub use name::KeyLabel;
pub use notify::InPlaceOf;
#[cfg(feature = "std")]
pub use owner::Owner;
#[cfg(feature = "std")]
pub use permit::OwnedPermit;
pub use permit::Permit;
#[cfg(feature = "std")]
pub use registry::{AnyBreaker, Found, FoundKeyed, find, find_keyed};
pub use served::Served;
pub use subject::Subject;
#[cfg(any(
    all(feature = "js", all(target_family = "wasm", target_os = "unknown")),
    all(
        feature = "tokio",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
))]
pub use timer::DefaultTimer;
pub use timer::Timer;
#[cfg(all(
    feature = "tokio",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub use timer::TokioTimer;
#[cfg(all(feature = "js", all(target_family = "wasm", target_os = "unknown")))]
pub use timer::{JsSleep, JsTimer};
pub use verdict::Verdict;
