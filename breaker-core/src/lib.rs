//! The state machine of [breakerbox](https://docs.rs/breakerbox): a circuit
//! breaker in one atomic word.
//!
//! `no_std`, no `alloc`, no `unsafe`, no lock, no timer and no thread: every
//! transition is evaluated lazily, when a call asks for admission or reports
//! how it ended, and time comes in through a [`Clock`].
//!
//! ```
//! use breaker_core::{Circuit, Config, ManualClock, Outcome, State};
//!
//! static PMS: Circuit = Circuit::new(Config::DEFAULT);
//! let clock = ManualClock::new(0);
//!
//! for _ in 0..5 {
//!     let permit = PMS.admit(&clock).expect("closed: everything is admitted");
//!     permit.settle(Outcome::Failure);
//! }
//! assert_eq!(PMS.state(), State::Open);
//! let refused = PMS.admit(&clock).expect_err("open: refused at once");
//! assert_eq!(refused.retry_after, Some(core::time::Duration::from_secs(30)));
//! ```
//!
//! # What is where
//! [`Settings`] are checked into a [`Config`], of which a [`Circuit`] is made.
//! [`Circuit::admit`] gives a [`Permit`], which is settled with an [`Outcome`];
//! the [`Effect`] says what that did. `transition` holds the rules as pure
//! functions, `word` and `stamp` what the two atomic words mean.
//!
//! # What the words can hold
//! | what | most | beyond it |
//! | --- | --- | --- |
//! | `threshold` | [`MAX_THRESHOLD`] = 134,217,726 | refused |
//! | `probes`, `close_after` | [`MAX_PROBES`] = 511; with `close_rate` [`MAX_PROBES_BY_RATE`] = 255 | refused |
//! | reopenings since the last close | 255 | stay at 255; `backoff` grows no further |
//! | generations until a number repeats | 67,108,864 (2^26) | a permit held that long could be taken for a current one |
//! | instant at which a state was entered | every `u64` of nanoseconds, rounded up to 10 us | |
//! | wait set by an overload, [`Circuit::open_for`] or a snapshot | every `u64` of nanoseconds (584 years): in units of 10 us up to 83 s, whole milliseconds up to 9.3 h, seconds up to 194 days, hours above, each rounded up | |
//!
//! # Sizes
//! On a 64-bit target a [`BareCircuit`] is 16 bytes: two words. One that trips by rate
//! has beside them a [`Sliding`] of 64 bytes and 8 for each slot ([`Window::slots`]):
//! over the last 100 calls 144 bytes in all, over a time of 10 buckets 160. A
//! [`Circuit`] has its settings too ([`LiveConfig`], 288 bytes), with room for those that
//! an operator lays over them. Nothing else is allocated.
//!
//! The code for a call's admission and outcome takes 7 to 16 kB where it is built
//! for size or for a small processor (`cargo xtask size` measures it), and none of
//! it can panic: a program for which nothing else panics has no panic handler's
//! code in it. (Of the constructors those panic that say so; in a `const` or
//! `static` that is an error of the compiler.)
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod chosen;
mod circuit;
mod clock;
mod config;
mod error;
mod live;
mod nanos;
mod outcome;
#[cfg(not(one_thread))]
mod overlay;
mod permit;
mod policy;
mod random;
mod rate;
mod ratio;
mod sliding;
mod snapshot;
mod stamp;
mod state;
mod sync;
mod transition;
mod trial;
mod two_words;
mod wait;
mod word;

pub use chosen::{Chosen, Slot};
pub use circuit::{Admission, BareCircuit, Circuit, CircuitRef};
pub use clock::{Clock, ManualClock, Reading};
pub use config::{
    Config, MAX_BUCKETS, MAX_MIN_CALLS, MAX_PROBES, MAX_PROBES_BY_RATE, MAX_THRESHOLD,
    MAX_WINDOW_CALLS, OnCancel, Overrides, RateConfig, Setting, SettingKind, SettingValue,
    Settings, Window,
};
#[cfg(not(one_thread))]
pub use config::{Mistakes, Reconfiguration, ReconfigureError};
pub use error::{ConfigError, Reason, Rejected, SnapshotError};
pub use live::LiveConfig;
pub use outcome::{Change, Effect, Outcome, Trigger};
#[cfg(loom)]
#[doc(hidden)]
pub use overlay::{Laid, Overlay, UnderWay};
pub use permit::Permit;
pub use policy::{Consecutive, Counted, Policy};
pub use sliding::Sliding;
pub use snapshot::Snapshot;
pub use state::{Generation, State, UnknownState};
#[doc(hidden)]
pub use transition::Order;
