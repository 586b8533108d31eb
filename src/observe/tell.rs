//! Telling the observers: a function for each event.

use super::Observer;
use super::event::{
    CallEnded, CallOutcome, CircuitId, Difference, FallbackServed, KeyEvicted, KeysFull,
    LateOutcome, Left, Part, ProbeExpired, Reconfigured, Rejection, SharingDiffers, SharingLost,
    SharingRestored, StateChange, WouldClose, WouldReject, WouldTrip,
};
#[cfg(all(
    feature = "last-good",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
))]
use super::event::{LastGoodFailed, LastGoodStep};
use super::listeners::Entry;
use crate::error::{CircuitOpenError, Refused};
use crate::name::Name;
use crate::notify::{Audience, InPlaceOf};
use breaker_core::{Change, Generation, Reason, Reconfiguration};
use std::error::Error;
use std::time::Duration;

/// What an event is of, and who hears of it.
pub(crate) struct Source<'a> {
    pub(crate) audience: Audience<'a>,
    pub(crate) name: Name,
    pub(crate) circuit: CircuitId,
}

#[cold]
pub(crate) fn state_changed(of: &Source<'_>, change: &Change) {
    of.audience.tell(|observer, sequence| {
        observer.state_changed(&StateChange {
            breaker: of.name.as_str(),
            key: of.name.key(),
            circuit: of.circuit,
            change,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn probe_expired(of: &Source<'_>, generation: Generation) {
    of.audience.tell(|observer, sequence| {
        observer.probe_expired(&ProbeExpired {
            breaker: of.name.as_str(),
            key: of.name.key(),
            circuit: of.circuit,
            generation,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn rejected(of: Source<'_>, refused: Refused, generation: Generation) {
    let Source {
        audience,
        name,
        circuit,
    } = of;
    let error = CircuitOpenError::new(name, refused);
    audience.tell_of_call(everybody, |observer, sequence| {
        observer.rejected(&Rejection {
            error: &error,
            circuit,
            calls: 1,
            generation,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn call_ended(
    of: &Source<'_>,
    outcome: CallOutcome,
    took: Duration,
    generation: Generation,
) {
    of.audience
        .tell_of_call(Entry::wants_calls, |observer, sequence| {
            observer.call_ended(&CallEnded {
                breaker: of.name.as_str(),
                key: of.name.key(),
                circuit: of.circuit,
                outcome,
                took,
                generation,
                sequence,
            });
        });
}

#[cold]
pub(crate) fn late_outcome(
    of: &Source<'_>,
    outcome: CallOutcome,
    generation: Generation,
    current: Generation,
) {
    of.audience.tell_of_call(everybody, |observer, sequence| {
        observer.late_outcome(&LateOutcome {
            breaker: of.name.as_str(),
            key: of.name.key(),
            circuit: of.circuit,
            outcome,
            generation,
            current,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn fallback_served(of: &Source<'_>, generation: Generation, in_place_of: InPlaceOf) {
    of.audience.tell_of_call(everybody, |observer, sequence| {
        observer.fallback_served(&FallbackServed {
            breaker: of.name.as_str(),
            key: of.name.key(),
            circuit: of.circuit,
            in_place_of,
            generation,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn would_trip(of: &Source<'_>, change: &Change) {
    of.audience.tell(|observer, sequence| {
        observer.would_trip(&WouldTrip {
            breaker: of.name.as_str(),
            key: of.name.key(),
            circuit: of.circuit,
            change,
            sequence,
        });
    });
}

/// Of no circuit: to the observers of the process, or of the test scope that this thread is in.
fn tell_here(what: impl Fn(&dyn Observer, u64)) {
    #[cfg(feature = "test-util")]
    if let Some(scope) = crate::test::current() {
        return Audience::of_scope(&scope).tell(what);
    }
    Audience::of_process().tell(what);
}

#[cfg(all(
    feature = "status-page",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
#[cold]
pub(crate) fn operated(event: &super::event::Operated<'_>) {
    tell_here(|observer, sequence| {
        observer.operated(&super::event::Operated { sequence, ..*event });
    });
}

#[cold]
pub(crate) fn reconfigured(
    audience: Audience<'_>,
    name: &Name,
    circuit: CircuitId,
    change: &Reconfiguration,
) {
    audience.tell(|observer, sequence| {
        observer.reconfigured(&Reconfigured {
            breaker: name.as_str(),
            key: name.key(),
            circuit,
            change,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn would_reject(
    of: &Source<'_>,
    reason: Reason,
    outcome: CallOutcome,
    generation: Generation,
) {
    of.audience.tell_of_call(everybody, |observer, sequence| {
        observer.would_reject(&WouldReject {
            breaker: of.name.as_str(),
            key: of.name.key(),
            circuit: of.circuit,
            reason,
            outcome,
            generation,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn would_close(
    of: &Source<'_>,
    (after, rejected, rejected_successes): (Duration, u64, u64),
    generation: Generation,
) {
    of.audience.tell(|observer, sequence| {
        observer.would_close(&WouldClose {
            breaker: of.name.as_str(),
            key: of.name.key(),
            circuit: of.circuit,
            after,
            rejected,
            rejected_successes,
            generation,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn key_evicted(audience: Audience<'_>, name: &Name, circuit: CircuitId) {
    let Some(key) = name.key() else { return };
    audience.tell(|observer, sequence| {
        observer.key_evicted(&KeyEvicted {
            breaker: name.as_str(),
            key,
            circuit,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn left(audience: Audience<'_>, name: &Name) {
    audience.tell(|observer, sequence| {
        observer.left(&Left {
            breaker: name.as_str(),
            sequence,
        });
    });
}

#[cold]
pub(crate) fn sharing_lost(
    fleet: &str,
    error: &(dyn Error + 'static),
    losses: u64,
    part: Option<Part>,
    is_ended: bool,
) {
    tell_here(|observer, sequence| {
        observer.sharing_lost(&SharingLost {
            fleet,
            error,
            losses,
            part,
            is_ended,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn sharing_differs(fleet: &str, breaker: &str, differences: &[Difference]) {
    tell_here(|observer, sequence| {
        observer.sharing_differs(&SharingDiffers {
            fleet,
            breaker,
            differences,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn sharing_restored(fleet: &str, after: Duration) {
    tell_here(|observer, sequence| {
        observer.sharing_restored(&SharingRestored {
            fleet,
            after,
            sequence,
        });
    });
}

#[cold]
pub(crate) fn keys_full(audience: Audience<'_>, name: &Name, circuit: CircuitId) {
    let Some(key) = name.key() else { return };
    audience.tell(|observer, sequence| {
        observer.keys_full(&KeysFull {
            breaker: name.as_str(),
            key,
            circuit,
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
pub(crate) fn last_good_failed(of: &Source<'_>, step: LastGoodStep, error: &(dyn Error + 'static)) {
    of.audience.tell_of_call(everybody, |observer, sequence| {
        observer.last_good_failed(&LastGoodFailed {
            breaker: of.name.as_str(),
            key: of.name.key(),
            circuit: of.circuit,
            step,
            error,
            sequence,
        });
    });
}

fn everybody(_: &Entry) -> bool {
    true
}
