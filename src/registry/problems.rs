//! What waited for a breaker and was wrong for it.

use super::snapshots::{CircuitName, RestoreError};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What waited for a breaker, turned out to be wrong for it when it entered, and was not
/// applied: a state that it can't have been in, settings that it does not take. Sorted by
/// name.
///
/// A problem stands until its cause is gone: until another
/// [`restore`](super::restore()) brings a state for it.
#[must_use]
pub fn problems() -> Vec<Problem> {
    super::book::here().problems().all()
}

/// Something that was not applied to a breaker: see [`problems()`]. Displays as the line of a
/// log.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Problem {
    /// Whose.
    pub circuit: CircuitName,
    /// What.
    pub cause: ProblemCause,
}

/// What was not applied, and why.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ProblemCause {
    /// Its state.
    State(RestoreError),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let circuit = &self.circuit;
        match &self.cause {
            ProblemCause::State(error) => {
                write!(f, "circuit `{circuit}` was not restored: {error}")
            }
        }
    }
}

/// Those of one book: no more than there are causes.
pub(super) struct Problems {
    states: Mutex<BTreeMap<CircuitName, RestoreError>>,
}

impl Problems {
    pub(super) const fn new() -> Self {
        Self {
            states: Mutex::new(BTreeMap::new()),
        }
    }

    fn states(&self) -> MutexGuard<'_, BTreeMap<CircuitName, RestoreError>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another `restore` brings states of its own.
    pub(super) fn forget_states(&self) {
        self.states().clear();
    }

    pub(super) fn add_state(&self, circuit: CircuitName, error: RestoreError) {
        self.states().insert(circuit, error);
    }

    fn all(&self) -> Vec<Problem> {
        let states = self.states();
        let problem = |(circuit, error): (&CircuitName, &RestoreError)| Problem {
            circuit: circuit.clone(),
            cause: ProblemCause::State(*error),
        };
        states.iter().map(problem).collect()
    }
}
