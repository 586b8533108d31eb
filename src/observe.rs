//! Hearing of what breakers do: state changes, refused calls, the end of each call, served fallbacks.
//!
//! ```
//! use breakerbox::observe::{self, Observer, StateChange};
//! use breakerbox::{Breaker, Settings};
//! use std::sync::{Arc, Mutex};
//!
//! #[derive(Default)]
//! struct Lines(Mutex<Vec<String>>);
//! impl Observer for Lines {
//!     fn state_changed(&self, event: &StateChange<'_>) {
//!         self.0.lock().unwrap().push(event.to_string());
//!     }
//! }
//!
//! let lines = Arc::new(Lines::default());
//! let _installed = observe::install(lines.clone());
//! let pms = Breaker::new("pms", Settings::new().threshold(2).jitter(0.0).must());
//! for _ in 0..2 {
//!     let _ = pms.call_sync(|| Err::<(), _>("no answer"));
//! }
//! assert_eq!(*lines.0.lock().unwrap(), ["circuit `pms` opened after 2 failures, for 30s"]);
//! ```
//!
//! Observers run on the thread of the call that caused the event, outside any
//! lock, after the breaker has changed. One that panics is told nothing worse
//! than that: the panic is caught, the call goes on. One that blocks holds up that call, and
//! nothing else. Several are told in the order in which they were installed.
//!
//! | event | when |
//! | --- | --- |
//! | [`state_changed`](Observer::state_changed) | a breaker entered a state: from, to, why, after how many failures, for how long |
//! | [`rejected`](Observer::rejected) | a call was refused |
//! | [`call_ended`](Observer::call_ended) | an admitted call ended, however it did, and how long it took: told where [`wants_calls`](Observer::wants_calls) |
//! | [`late_outcome`](Observer::late_outcome) | it ended in another generation, and counts for nothing |
//! | [`probe_expired`](Observer::probe_expired) | the probes of a trial never ended |
//! | [`fallback_served`](Observer::fallback_served) | what the caller got is not fresh |
//! | [`would_trip`](Observer::would_trip) | a breaker in shadow would have opened |
//! | [`key_evicted`](Observer::key_evicted), [`keys_full`](Observer::keys_full) | a key was given up for a new one, or none could be |
//! | [`sharing_lost`](Observer::sharing_lost), [`sharing_restored`](Observer::sharing_restored) | the processes that share circuits can't be reached, or can again |
//! | [`sharing_differs`](Observer::sharing_differs) | another process of a fleet declares a breaker otherwise |
//! | [`last_good_failed`](Observer::last_good_failed) | a last-good answer could not be stored or loaded |
//!
//! Each admitted call's end is told exactly once: by whatever way it was made, also where it was
//! dropped, panicked, timed out, or came too late to count; after what it did to the breaker. A call
//! that was admitted while nobody wanted to hear of calls is not timed, and so not told of.
//!
//! Where there is no observer an event costs one branch that is not taken, and nothing is timed.
//! That is so again once the last one has been uninstalled.
//!
//! # In order, and without a flood
//! Events carry the circuit's number, its generation and a sequence number of the process; under
//! concurrency two may be delivered in either order, and these put them right. For an observer that
//! needs them in order, [`InOrder`] does. [`FirstThenCounts`] tells of the first refused call of
//! each opening, and then how many they were. [`Event`] is one that is kept.
//!
//! # Observers that act
//! An observer that operates a breaker is told of that change too, before its
//! own call returns. One that answers each change with another never ends: act
//! only on what isn't an operator's ([`Trigger::Operator`](crate::Trigger::Operator)).
//! Nor does one that brings back each key that was given up for a new one: another
//! is given up for that. Of calls it may make as many as it likes: an observer that makes a
//! guarded call while it is told of one (its end, its refusal, its fallback) is not told of that.
//!
//! ```
//! use breakerbox::observe::{self, Observer, StateChange};
//! use breakerbox::{State, Trigger};
//!
//! /// Where one is down, so is the other.
//! struct Together;
//! impl Observer for Together {
//!     fn state_changed(&self, event: &StateChange<'_>) {
//!         if event.change.trigger == Trigger::Operator {
//!             return;
//!         }
//!         if event.change.to == State::Open {
//!             if let Some(rates) = breakerbox::find("rates") {
//!                 rates.force_open();
//!             }
//!         }
//!     }
//! }
//! # let _scope = breakerbox::test::scope();
//! # use breakerbox::{Breaker, Settings, breaker};
//! # breaker! { static RATES = { name: "rates" } }
//! # RATES.call_sync(|| Ok::<_, ()>(())).unwrap();
//! # let pms = Breaker::new("pms", Settings::new().threshold(1).must());
//! let _installed = observe::install(Together);
//! # let _ = pms.call_sync(|| Err::<(), _>("no answer"));
//! # assert_eq!(RATES.state(), State::ForcedOpen);
//! ```

mod any;
mod clock;
mod event;
mod flood;
mod kept;
mod listeners;
mod order;
mod rehearsal;
mod tell;
#[cfg(feature = "log")]
mod to_log;
#[cfg(feature = "metrics")]
mod to_metrics;
#[cfg(feature = "tracing")]
mod to_tracing;

pub use any::AnyEvent;
pub use clock::ClockOfEvents;
pub use event::{
    CallEnded, CallOutcome, CircuitId, Difference, FallbackServed, KeyEvicted, KeysFull,
    LastGoodFailed, LastGoodStep, LateOutcome, Left, Missed, Operated, Panicked, Part,
    ProbeExpired, Reconfigured, Rejection, SharingDiffers, SharingLost, SharingRestored,
    StateChange, WouldClose, WouldReject, WouldTrip,
};
pub use flood::FirstThenCounts;
pub use kept::Event;
pub use order::InOrder;
#[cfg(feature = "log")]
pub use to_log::LogObserver;
#[cfg(feature = "metrics")]
pub use to_metrics::MetricsObserver;
#[cfg(feature = "tracing")]
pub use to_tracing::TracingObserver;

pub(crate) use event::Entering;
pub(crate) use listeners::{Entry, anyone, anyone_wants_calls, forget_panic};
pub(crate) use rehearsal::{Moment, Played, Would};
pub use rehearsal::{Rehearsal, Rehearsed};
#[cfg(all(
    feature = "last-good",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
))]
pub(crate) use tell::last_good_failed;
#[cfg(all(
    feature = "status-page",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub(crate) use tell::operated;
pub(crate) use tell::{
    Source, call_ended, fallback_served, key_evicted, keys_full, late_outcome, left, probe_expired,
    reconfigured, rejected, sharing_differs, sharing_lost, sharing_restored, state_changed,
    would_close, would_reject, would_trip,
};

use breaker_core::Generation;
use std::sync::Arc;
use std::time::Duration;

/// All methods of an [`Observer`] that hear of an event, by one expression.
macro_rules! hears_all {
    ($self:ident, $event:ident => $hear:expr) => {
        fn state_changed(&$self, $event: &StateChange<'_>) {
            $hear;
        }

        fn rejected(&$self, $event: &Rejection<'_>) {
            $hear;
        }

        fn call_ended(&$self, $event: &CallEnded<'_>) {
            $hear;
        }

        fn late_outcome(&$self, $event: &LateOutcome<'_>) {
            $hear;
        }

        fn probe_expired(&$self, $event: &ProbeExpired<'_>) {
            $hear;
        }

        fn fallback_served(&$self, $event: &FallbackServed<'_>) {
            $hear;
        }

        fn would_trip(&$self, $event: &WouldTrip<'_>) {
            $hear;
        }

        fn would_reject(&$self, $event: &WouldReject<'_>) {
            $hear;
        }

        fn would_close(&$self, $event: &WouldClose<'_>) {
            $hear;
        }

        fn reconfigured(&$self, $event: &Reconfigured<'_>) {
            $hear;
        }

        fn operated(&$self, $event: &Operated<'_>) {
            $hear;
        }

        fn key_evicted(&$self, $event: &KeyEvicted<'_>) {
            $hear;
        }

        fn keys_full(&$self, $event: &KeysFull<'_>) {
            $hear;
        }

        fn last_good_failed(&$self, $event: &LastGoodFailed<'_>) {
            $hear;
        }

        fn missed(&$self, $event: &Missed<'_>) {
            $hear;
        }
    };
}
use hears_all;

/// What another observer wants, this one wants too: it is there for that one.
macro_rules! wants_what {
    ($self:ident, $other:expr) => {
        fn wants_calls(&$self) -> bool {
            $other.wants_calls()
        }

        #[cfg(feature = "tracing")]
        fn wants_spans(&$self) -> bool {
            $other.wants_spans()
        }

        fn rehearsal(&$self) -> Option<&Rehearsal> {
            $other.rehearsal()
        }
    };
}
use wants_what;

/// Of an adaptor's setting.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Whether a generation comes after another: they begin anew after 2^26.
fn is_later(generation: Generation, than: Generation) -> bool {
    let by = generation.get().wrapping_sub(than.get()) % (1 << 26);
    by != 0 && by < 1 << 25
}

/// Hears of what breakers do. Every method does nothing by default.
pub trait Observer: Send + Sync {
    /// A breaker entered a state.
    fn state_changed(&self, event: &StateChange<'_>) {
        let _ = event;
    }

    /// A call was refused.
    fn rejected(&self, event: &Rejection<'_>) {
        let _ = event;
    }

    /// Whether it wants [`call_ended`](Self::call_ended). Asked once, when it is installed: where
    /// nobody does, no call is timed. For each call it costs two readings of the exact clock.
    fn wants_calls(&self) -> bool {
        false
    }

    /// An admitted call ended. Told only where [`wants_calls`](Self::wants_calls).
    fn call_ended(&self, event: &CallEnded<'_>) {
        let _ = event;
    }

    /// Whether it wants a span of the [`tracing`] crate for each guarded call, and
    /// [`wants_calls`](Self::wants_calls). Asked once, when it is installed.
    #[cfg(feature = "tracing")]
    fn wants_spans(&self) -> bool {
        false
    }

    /// A call ended too late to count.
    fn late_outcome(&self, event: &LateOutcome<'_>) {
        let _ = event;
    }

    /// The probes of a trial never ended.
    fn probe_expired(&self, event: &ProbeExpired<'_>) {
        let _ = event;
    }

    /// A fallback's answer was served: what the caller got is not fresh.
    fn fallback_served(&self, event: &FallbackServed<'_>) {
        let _ = event;
    }

    /// A breaker in shadow would have opened. Told once for each entry into
    /// shadow; where a [`Rehearsal`] is installed, each time.
    fn would_trip(&self, event: &WouldTrip<'_>) {
        let _ = event;
    }

    /// A breaker in shadow would have refused a call, which has ended now. Told where a [`Rehearsal`]
    /// is installed.
    fn would_reject(&self, event: &WouldReject<'_>) {
        let _ = event;
    }

    /// A breaker in shadow would have closed again. Told where a [`Rehearsal`] is installed.
    fn would_close(&self, event: &WouldClose<'_>) {
        let _ = event;
    }

    /// Itself, if it is one: it is asked what breakers in shadow would do, and is told of nothing.
    #[doc(hidden)]
    fn rehearsal(&self) -> Option<&Rehearsal> {
        None
    }

    /// A breaker's configuration was changed at run time. Not told of what it begins with: settings
    /// that wait for a breaker are its own from its first call on.
    fn reconfigured(&self, event: &Reconfigured<'_>) {
        let _ = event;
    }

    /// An operator did something, and it is known who did.
    fn operated(&self, event: &Operated<'_>) {
        let _ = event;
    }

    /// A key was given up for a new one.
    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        let _ = event;
    }

    /// No key could be given up for a new one.
    fn keys_full(&self, event: &KeysFull<'_>) {
        let _ = event;
    }

    /// A [shared](crate::Breaker::shared) breaker was dropped, or breakers by key were.
    fn left(&self, event: &Left<'_>) {
        let _ = event;
    }

    /// Circuits, all or a [part](SharingLost::part) of them, are shared with nobody for now: each process
    /// is on its own. Of no breaker, but of all that are shared through this [link](crate::link).
    fn sharing_lost(&self, event: &SharingLost<'_>) {
        let _ = event;
    }

    /// Circuits are shared again.
    fn sharing_restored(&self, event: &SharingRestored<'_>) {
        let _ = event;
    }

    /// Another process of a fleet declares the breaker otherwise than this one. Each goes on by what itself
    /// declares.
    fn sharing_differs(&self, event: &SharingDiffers<'_>) {
        let _ = event;
    }

    /// A last-good answer could not be stored, or could not be loaded.
    fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
        let _ = event;
    }

    /// Told by [`InOrder`] alone: events were missed.
    fn missed(&self, event: &Missed<'_>) {
        let _ = event;
    }
}

impl<T: Observer + ?Sized> Observer for Arc<T> {
    wants_what!(self, (**self));

    fn state_changed(&self, event: &StateChange<'_>) {
        (**self).state_changed(event);
    }

    fn rejected(&self, event: &Rejection<'_>) {
        (**self).rejected(event);
    }

    fn call_ended(&self, event: &CallEnded<'_>) {
        (**self).call_ended(event);
    }

    fn late_outcome(&self, event: &LateOutcome<'_>) {
        (**self).late_outcome(event);
    }

    fn probe_expired(&self, event: &ProbeExpired<'_>) {
        (**self).probe_expired(event);
    }

    fn fallback_served(&self, event: &FallbackServed<'_>) {
        (**self).fallback_served(event);
    }

    fn would_trip(&self, event: &WouldTrip<'_>) {
        (**self).would_trip(event);
    }

    fn would_reject(&self, event: &WouldReject<'_>) {
        (**self).would_reject(event);
    }

    fn would_close(&self, event: &WouldClose<'_>) {
        (**self).would_close(event);
    }

    fn reconfigured(&self, event: &Reconfigured<'_>) {
        (**self).reconfigured(event);
    }

    fn operated(&self, event: &Operated<'_>) {
        (**self).operated(event);
    }

    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        (**self).key_evicted(event);
    }

    fn keys_full(&self, event: &KeysFull<'_>) {
        (**self).keys_full(event);
    }

    fn left(&self, event: &Left<'_>) {
        (**self).left(event);
    }

    fn sharing_lost(&self, event: &SharingLost<'_>) {
        (**self).sharing_lost(event);
    }

    fn sharing_restored(&self, event: &SharingRestored<'_>) {
        (**self).sharing_restored(event);
    }

    fn sharing_differs(&self, event: &SharingDiffers<'_>) {
        (**self).sharing_differs(event);
    }

    fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
        (**self).last_good_failed(event);
    }

    fn missed(&self, event: &Missed<'_>) {
        (**self).missed(event);
    }
}

/// An observer hears of events until this is dropped.
#[must_use = "the observer is removed when this is dropped: keep it, or call `forever`"]
#[derive(Debug)]
pub struct Installed {
    id: u64,
}

impl Installed {
    /// Lets the observer hear of events as long as the process runs.
    pub fn forever(self) {
        std::mem::forget(self);
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        #[cfg(feature = "test-util")]
        crate::test::uninstall_from_scopes(self.id);
        listeners::uninstall(self.id);
    }
}

/// Installs an observer, beside those that are there already.
///
/// Inside a test scope the observer hears of that scope's breakers alone, and
/// ends with it.
pub fn install(observer: impl Observer + 'static) -> Installed {
    let entry = Entry::new(observer);
    let id = entry.id();
    #[cfg(feature = "test-util")]
    let Some(entry) = crate::test::install_in_scope(entry) else {
        return Installed { id };
    };
    listeners::install(entry);
    Installed { id }
}
