//! Hearing of state changes, rejections and served fallbacks.
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
//! than that: the panic is caught, the call goes on. Events carry the
//! breaker's generation and a sequence number of the process; under
//! concurrency two may be delivered in either order, and these two put them
//! right.
//!
//! An observer that operates a breaker is told of that change too, before its
//! own call returns. One that answers each change with another never ends: act
//! only on what isn't an operator's ([`Trigger::Operator`](crate::Trigger::Operator)).
//! Nor does one that brings back each key that was given up for a new one: another
//! is given up for that.
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

mod event;
#[cfg(feature = "log")]
mod to_log;

pub use event::{
    CallEnded, CallOutcome, CircuitId, FallbackServed, KeyEvicted, KeysFull, LastGoodFailed,
    LastGoodStep, LateOutcome, Panicked, ProbeExpired, Rejection, StateChange, WouldTrip,
};
#[cfg(feature = "log")]
pub use to_log::LogObserver;

use crate::error::{CircuitOpenError, Refused};
use crate::name::Name;
use crate::notify::{Audience, InPlaceOf};
use breaker_core::{Change, Generation};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

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
    /// nobody does, no call is timed.
    fn wants_calls(&self) -> bool {
        false
    }

    /// An admitted call ended. Told only where [`wants_calls`](Self::wants_calls).
    fn call_ended(&self, event: &CallEnded<'_>) {
        let _ = event;
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
    /// shadow.
    fn would_trip(&self, event: &WouldTrip<'_>) {
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

    /// A last-good answer could not be stored, or could not be loaded.
    fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
        let _ = event;
    }
}

impl<T: Observer + ?Sized> Observer for Arc<T> {
    fn state_changed(&self, event: &StateChange<'_>) {
        (**self).state_changed(event);
    }

    fn rejected(&self, event: &Rejection<'_>) {
        (**self).rejected(event);
    }

    fn wants_calls(&self) -> bool {
        (**self).wants_calls()
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

    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        (**self).key_evicted(event);
    }

    fn keys_full(&self, event: &KeysFull<'_>) {
        (**self).keys_full(event);
    }

    fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
        (**self).last_good_failed(event);
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
        change_observers(|observers| observers.retain(|observer| observer.id != self.id));
    }
}

/// Installs an observer, beside those that are there already.
///
/// Inside a test scope the observer hears of that scope's breakers alone, and
/// ends with it.
pub fn install(observer: impl Observer + 'static) -> Installed {
    let id = next(&NEXT_ID);
    let entry = Entry {
        id,
        observer: Arc::new(observer),
    };
    #[cfg(feature = "test-util")]
    let Some(entry) = crate::test::install_in_scope(entry) else {
        // Others may have none: the scope's are asked through the same flag.
        ANYONE.store(true, Ordering::Release);
        return Installed { id };
    };
    change_observers(|observers| observers.push(entry));
    Installed { id }
}

#[derive(Clone)]
pub(crate) struct Entry {
    id: u64,
    observer: Arc<dyn Observer>,
}

#[cfg(feature = "test-util")]
impl Entry {
    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

static ANYONE: AtomicBool = AtomicBool::new(false);
static OBSERVERS: RwLock<Option<Arc<[Entry]>>> = RwLock::new(None);
static NEXT_ID: AtomicU64 = AtomicU64::new(0);
static SEQUENCE: AtomicU64 = AtomicU64::new(0);

fn next(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Ordering::Relaxed)
}

fn change_observers(change: impl FnOnce(&mut Vec<Entry>)) {
    let mut observers = OBSERVERS.write().unwrap_or_else(PoisonError::into_inner);
    let mut entries = observers.as_deref().unwrap_or_default().to_vec();
    change(&mut entries);
    if !entries.is_empty() {
        ANYONE.store(true, Ordering::Release);
    }
    let left = observers.replace(entries.into());
    drop(observers);
    // Outside the lock: an observer's destructor may do anything.
    forget_panic(|| drop(left));
}

/// Whether there ever was an observer: the one untaken branch where there is
/// none.
#[inline]
pub(crate) fn anyone() -> bool {
    ANYONE.load(Ordering::Relaxed)
}

fn tell(audience: Audience<'_>, what: impl Fn(&dyn Observer, u64)) {
    let sequence = next(&SEQUENCE);
    // Also because a breaker may be used by a destructor while unwinding: a
    // second panic there would end the process.
    for entry in listeners(audience).iter() {
        forget_panic(|| what(&*entry.observer, sequence));
    }
}

#[cfg(feature = "test-util")]
fn listeners(audience: Audience<'_>) -> Listeners {
    match audience.scope() {
        Some(scope) => Listeners(Some(scope.observers())),
        None => of_process(),
    }
}

#[cfg(not(feature = "test-util"))]
fn listeners(_: Audience<'_>) -> Listeners {
    of_process()
}

fn of_process() -> Listeners {
    Listeners(
        OBSERVERS
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone(),
    )
}

/// The observers of one event. An observer that uninstalled itself meanwhile is
/// dropped with this, and may panic there too.
struct Listeners(Option<Arc<[Entry]>>);

impl Listeners {
    fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.0.as_deref().unwrap_or_default().iter()
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        let entries = self.0.take();
        forget_panic(|| drop(entries));
    }
}

/// Runs what is an observer's; a panic there is that observer's own affair.
fn forget_panic(theirs: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(theirs)) {
        // The payload may panic in its destructor.
        std::mem::forget(panic);
    }
}

#[cold]
pub(crate) fn state_changed(audience: Audience<'_>, name: &Name, change: &Change) {
    tell(audience, |observer, sequence| {
        observer.state_changed(&StateChange {
            breaker: name.as_str(),
            key: name.key(),
            change,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn rejected(
    audience: Audience<'_>,
    name: Name,
    refused: Refused,
    generation: Generation,
) {
    let error = CircuitOpenError::new(name, refused);
    tell(audience, |observer, sequence| {
        observer.rejected(&Rejection {
            error: &error,
            generation,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn fallback_served(
    audience: Audience<'_>,
    name: &Name,
    generation: Generation,
    in_place_of: InPlaceOf,
) {
    tell(audience, |observer, sequence| {
        observer.fallback_served(&FallbackServed {
            breaker: name.as_str(),
            key: name.key(),
            in_place_of,
            generation,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn would_trip(audience: Audience<'_>, name: &Name, change: &Change) {
    tell(audience, |observer, sequence| {
        observer.would_trip(&WouldTrip {
            breaker: name.as_str(),
            key: name.key(),
            change,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn key_evicted(audience: Audience<'_>, name: &Name) {
    let Some(key) = name.key() else { return };
    tell(audience, |observer, sequence| {
        observer.key_evicted(&KeyEvicted {
            breaker: name.as_str(),
            key,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn keys_full(audience: Audience<'_>, name: &Name) {
    let Some(key) = name.key() else { return };
    tell(audience, |observer, sequence| {
        observer.keys_full(&KeysFull {
            breaker: name.as_str(),
            key,
            sequence,
        });
    });
}

#[cfg(all(
    feature = "last-good",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
))]
#[cold]
pub(crate) fn last_good_failed(
    audience: Audience<'_>,
    name: &Name,
    step: LastGoodStep,
    error: &(dyn std::error::Error + 'static),
) {
    tell(audience, |observer, sequence| {
        observer.last_good_failed(&LastGoodFailed {
            breaker: name.as_str(),
            key: name.key(),
            step,
            error,
            sequence,
        });
    });
}
