//! The way from a breaker to the observers: nothing where there are none.

use crate::began::Began;
use crate::bound::Lent;
use crate::end::End;
use crate::error::Refused;
#[cfg(feature = "std")]
use crate::observe::{self, CallOutcome, CircuitId, Moment, Played, Source, Would};
use crate::subject::Subject;
use breaker_core::{Change, Generation, Reconfiguration};
#[cfg(feature = "std")]
use breaker_core::{Clock, State, Trigger};
#[cfg(feature = "std")]
use core::time::Duration;

/// What a served fallback stands in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InPlaceOf {
    /// A refused call.
    Open,
    /// A counted failure.
    Failed,
    /// An answer that took too long.
    TimedOut,
}

impl InPlaceOf {
    /// Its name in logs and metrics: `open`, `failed` or `timed_out`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
        }
    }
}

/// Who hears of an event: the observers of the process, or those of a test scope.
#[cfg(feature = "std")]
#[derive(Clone, Copy)]
pub(crate) struct Audience<'a> {
    #[cfg(feature = "test-util")]
    scope: Option<&'a crate::test::Scope>,
    #[cfg(not(feature = "test-util"))]
    process: core::marker::PhantomData<&'a ()>,
}

#[cfg(feature = "test-util")]
impl<'a> Audience<'a> {
    pub(crate) fn of_process() -> Self {
        Self { scope: None }
    }

    pub(crate) fn of_scope(scope: &'a crate::test::Scope) -> Self {
        Self { scope: Some(scope) }
    }

    pub(crate) fn scope(self) -> Option<&'a crate::test::Scope> {
        self.scope
    }
}

#[cfg(all(feature = "std", not(feature = "test-util")))]
impl Audience<'_> {
    pub(crate) fn of_process() -> Self {
        Self {
            process: core::marker::PhantomData,
        }
    }
}

#[cfg(feature = "std")]
impl Audience<'_> {
    pub(crate) fn reconfigured(
        self,
        name: &crate::name::Name,
        circuit: CircuitId,
        change: &Reconfiguration,
    ) {
        if observe::anyone() && change.from != change.to {
            observe::reconfigured(self, name, circuit, change);
        }
    }

    pub(crate) fn key_evicted(self, name: &crate::name::Name, circuit: CircuitId) {
        if observe::anyone() {
            observe::key_evicted(self, name, circuit);
        }
    }

    pub(crate) fn left(self, name: &crate::name::Name) {
        if observe::anyone() {
            observe::left(self, name);
        }
    }

    pub(crate) fn keys_full(self, name: &crate::name::Name, circuit: CircuitId) {
        if observe::anyone() {
            observe::keys_full(self, name, circuit);
        }
    }
}

#[cfg(feature = "std")]
impl<'a, S: Subject> Lent<'a, S> {
    /// What an event is of, and who hears of it.
    fn source(self) -> Source<'a> {
        Source {
            audience: self.audience(),
            name: self.subject().name(),
            circuit: CircuitId(self.circuit().identity()),
        }
    }

    /// Notes it, also where nobody is told.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_change(self, change: &Change) {
        self.tell_link_of_change(change);
        self.tell_followed(change);
    }

    /// The same of what others did, which the link has told.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_followed(self, change: &Change) {
        self.noted().note(change);
        if !observe::anyone() {
            return;
        }
        let source = self.source();
        observe::state_changed(&source, change);
        if change.trigger == Trigger::ProbeTimedOut {
            observe::probe_expired(&source, change.generation);
        }
    }

    pub(crate) fn tell_reconfigured(self, change: &Reconfiguration) {
        let circuit = CircuitId(self.circuit().identity());
        self.audience()
            .reconfigured(&self.subject().name(), circuit, change);
    }

    #[inline]
    pub(crate) fn tell_rejected(self, refused: Refused, generation: Generation) {
        if observe::anyone() {
            observe::rejected(self.source(), refused, generation);
        }
    }

    #[inline]
    pub(crate) fn tell_fallback(self, generation: Generation, in_place_of: InPlaceOf) {
        if observe::anyone() {
            observe::fallback_served(&self.source(), generation, in_place_of);
        }
    }

    /// A rehearsal tells of this opening too, and of those after it.
    #[inline]
    pub(crate) fn tell_would_trip(self, change: &Change) {
        if observe::anyone() && self.audience().rehearse(|_| ()).is_none() {
            observe::would_trip(&self.source(), change);
        }
    }

    /// Of no call (`NONE`) nothing is told.
    #[inline]
    pub(crate) fn tell_late(self, generation: Generation, end: End) {
        if observe::anyone() && generation != Generation::NONE && end.is_made() {
            let current = self.circuit().generation();
            observe::late_outcome(&self.source(), CallOutcome::from(end), generation, current);
        }
    }

    /// A call ended that took so long. Of no call (`NONE`) nothing is told.
    pub(crate) fn tell_ended(self, generation: Generation, end: End, began: Began, took: Duration) {
        if generation == Generation::NONE {
            return;
        }
        let source = self.source();
        observe::call_ended(&source, CallOutcome::from(end), took, generation);
        let circuit = self.circuit();
        if circuit.state() == State::Shadow && circuit.generation() == generation {
            self.rehearse(&source, generation, end, began, took);
        }
    }

    /// What a live breaker would have done with a call that has ended.
    #[cold]
    fn rehearse(
        self,
        source: &Source<'_>,
        generation: Generation,
        end: End,
        began: Began,
        took: Duration,
    ) {
        let call = Played {
            generation,
            began: Moment {
                nanos: began.nanos(),
                entropy: self.clock().entropy(),
            },
            took,
            outcome: end.outcome(),
            overrides: self.circuit().live().overrides(),
        };
        let fresh = || Box::new(self.subject().breaker().own_circuit().fresh()) as Box<_>;
        match source
            .audience
            .rehearse(|play| play.play(source, call, fresh))
        {
            Some(Would::Reject(reason)) => {
                observe::would_reject(source, reason, CallOutcome::from(end), generation);
            }
            Some(Would::Trip(change)) => observe::would_trip(source, &change),
            Some(Would::Close {
                after,
                rejected,
                rejected_successes,
            }) => {
                let outage = (after, rejected, rejected_successes);
                observe::would_close(source, outage, generation);
            }
            Some(Would::Nothing) | None => {}
        }
    }

    #[cfg(all(
        feature = "last-good",
        any(
            feature = "js",
            not(all(target_family = "wasm", target_os = "unknown"))
        )
    ))]
    pub(crate) fn tell_last_good_failed(
        self,
        step: observe::LastGoodStep,
        error: &(dyn core::error::Error + 'static),
    ) {
        if observe::anyone() {
            observe::last_good_failed(&self.source(), step, error);
        }
    }
}

/// Without std there are no observers.
#[cfg(not(feature = "std"))]
impl<S: Subject> Lent<'_, S> {
    pub(crate) fn tell_change(self, _: &Change) {}

    pub(crate) fn tell_reconfigured(self, _: &Reconfiguration) {}

    pub(crate) fn tell_rejected(self, _: Refused, _: Generation) {}

    pub(crate) fn tell_fallback(self, _: Generation, _: InPlaceOf) {}

    pub(crate) fn tell_would_trip(self, _: &Change) {}

    pub(crate) fn tell_late(self, _: Generation, _: End) {}

    pub(crate) fn tell_ended(self, _: Generation, _: End, _: Began, _: core::time::Duration) {}
}
