//! The two-step form: a permit now, an outcome later.

use crate::circuit::{Admission, CircuitRef};
use crate::clock::{Clock, Reading};
use crate::outcome::{Change, Effect, Outcome};
use crate::policy::{Consecutive, Policy};
use crate::state::Generation;
use core::fmt;
use core::time::Duration;

/// The right to make one call. Settles it: by the method that says how the call
/// ended, or as [`Outcome::Dropped`] when it is dropped.
///
/// ```
/// use breaker_core::{Circuit, Config, Effect, ManualClock, State};
///
/// let (circuit, clock) = (Circuit::new(Config::DEFAULT), ManualClock::new(0));
/// let permit = circuit.admit(&clock)?;
/// assert_eq!(permit.failure(), Effect::Counted);
/// # Ok::<(), breaker_core::Rejected>(())
/// ```
#[must_use = "a permit that is dropped at once is a call that was given up"]
pub struct Permit<'a, C: Clock, P: Policy = Consecutive> {
    circuit: CircuitRef<'a, P>,
    admission: Admission,
    clock: C,
    started: P::Started,
    settled: bool,
}

impl<'a, C: Clock, P: Policy> Permit<'a, C, P> {
    pub(crate) fn new(circuit: CircuitRef<'a, P>, admission: Admission, clock: C) -> Self {
        let started = circuit.start(&clock);
        Self {
            circuit,
            admission,
            clock,
            started,
            settled: false,
        }
    }

    /// The generation that admitted the call.
    pub fn generation(&self) -> Generation {
        self.admission.generation
    }

    /// The change of state that admitting the call brought about: it is the
    /// first probe of a trial.
    pub fn change(&self) -> Option<&Change> {
        self.admission.change.as_ref()
    }

    /// The dependency answered.
    pub fn success(self) -> Effect {
        self.settle(Outcome::Success)
    }

    /// The dependency failed.
    pub fn failure(self) -> Effect {
        self.settle(Outcome::Failure)
    }

    /// An answer that says nothing about the dependency's health.
    pub fn ignore(self) -> Effect {
        self.settle(Outcome::Ignored)
    }

    /// The dependency asked to be left alone for `wait`.
    pub fn overloaded(self, wait: Duration) -> Effect {
        self.settle(Outcome::Overloaded(wait))
    }

    /// Any outcome.
    pub fn settle(mut self, outcome: Outcome) -> Effect {
        self.finish(outcome)
    }

    fn finish(&mut self, outcome: Outcome) -> Effect {
        self.settled = true;
        let generation = self.admission.generation;
        self.circuit
            .settle_started(generation, outcome, self.started, &self.clock)
    }
}

impl<P: Policy> Permit<'_, Reading, P> {
    /// Any outcome, at an explicit time in nanoseconds. Without one, the time is
    /// that of the admission.
    pub fn settle_at(mut self, outcome: Outcome, now: u64) -> Effect {
        self.clock = Reading(now);
        self.finish(outcome)
    }
}

impl<C: Clock, P: Policy> Drop for Permit<'_, C, P> {
    fn drop(&mut self) {
        if !self.settled {
            self.finish(Outcome::Dropped);
        }
    }
}

impl<C: Clock, P: Policy> fmt::Debug for Permit<'_, C, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("admission", &self.admission)
            .finish_non_exhaustive()
    }
}
