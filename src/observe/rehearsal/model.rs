//! What a breaker in shadow would do: a circuit of its kind, asked and told as the real one would be.

use breaker_core::{Circuit, Clock, Effect, Generation, Outcome, Overrides, Policy, Reason};
use std::time::Duration;

/// A circuit, of whatever policy.
pub(crate) trait Model: Send + Sync {
    /// Its settings are those of the real one from now on.
    fn follow(&self, overrides: &Overrides);

    fn ask(&self, at: Moment) -> Result<Generation, Reason>;

    fn settle(&self, admitted: Generation, outcome: Outcome, took: Duration, at: Moment) -> Effect;
}

impl<P: Policy + Send + Sync> Model for Circuit<P> {
    fn follow(&self, overrides: &Overrides) {
        // Declared alike, it takes what the real one has taken.
        let _ = self.reconfigure(overrides);
    }

    fn ask(&self, at: Moment) -> Result<Generation, Reason> {
        match self.try_admit(&at) {
            Ok(admission) => Ok(admission.generation),
            Err(rejected) => Err(rejected.reason),
        }
    }

    fn settle(&self, admitted: Generation, outcome: Outcome, took: Duration, at: Moment) -> Effect {
        self.settle_after(admitted, outcome, took, &at)
    }
}

/// A reading of the exact clock, and what the clock has for the jitter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) nanos: u64,
    pub(crate) entropy: Option<u64>,
}

impl Moment {
    pub(crate) fn after(self, took: Duration) -> Self {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        Self {
            nanos: self.nanos.saturating_add(took),
            ..self
        }
    }
}

impl Clock for Moment {
    fn now(&self) -> u64 {
        self.nanos
    }

    fn entropy(&self) -> Option<u64> {
        self.entropy
    }
}
