//! What waited for a breaker and was wrong for it.

use super::overrides::{Layer, Wrong};
use super::snapshots::{CircuitName, RestoreError};
use breaker_core::{ReconfigureError, Setting};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What waited for a breaker, turned out to be wrong for it when it entered, and was not
/// applied: a state that it can't have been in, settings that it does not take. Sorted by
/// name.
///
/// A problem stands until its cause is gone: until the next
/// [`restore`](super::restore()), or until the settings are [configured](super::configure)
/// anew where they come from.
///
/// ```
/// use breakerbox::{Breaker, Config, Overrides, registry};
///
/// # let _scope = breakerbox::test::scope();
/// registry::configure("pms", Overrides::new().failure_rate(0.5))?;
/// let pms = Breaker::shared("pms", Config::DEFAULT);
/// assert_eq!(pms.config(), Config::DEFAULT);
/// assert_eq!(
///     registry::problems()[0].to_string(),
///     "circuit `pms` does not take `failure_rate` from code: \
///      `failure_rate` is for a breaker that trips by rate, and this one counts failures in a \
///      row: set `threshold`, or declare it with `failure_rate`"
/// );
/// # Ok::<(), registry::Mistakes>(())
/// ```
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
    /// A setting, and with it all of those of that layer for this breaker.
    #[non_exhaustive]
    Setting {
        /// Where it comes from.
        layer: Layer,
        /// Which.
        setting: Setting,
        /// What is wrong with it.
        error: ReconfigureError,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let circuit = &self.circuit;
        match &self.cause {
            ProblemCause::State(error) => {
                write!(f, "circuit `{circuit}` was not restored: {error}")
            }
            ProblemCause::Setting {
                layer,
                setting,
                error,
            } => write!(
                f,
                "circuit `{circuit}` does not take `{setting}` from {layer}: {error}"
            ),
        }
    }
}

/// Those of one book: no more than there are causes.
pub(super) struct Problems(Mutex<All>);

struct All {
    states: BTreeMap<CircuitName, RestoreError>,
    /// By layer and the name that it has them by: of several breakers those of the last, which
    /// may be one of very many.
    overrides: BTreeMap<(Layer, String), (String, Vec<Wrong>)>,
}

impl Problems {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(All {
            states: BTreeMap::new(),
            overrides: BTreeMap::new(),
        }))
    }

    /// Nothing of a user's runs while they are locked.
    fn lock(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another `restore` brings states of its own.
    pub(super) fn forget_states(&self) {
        self.lock().states.clear();
    }

    pub(super) fn add_state(&self, circuit: CircuitName, error: RestoreError) {
        self.lock().states.insert(circuit, error);
    }

    /// A layer says something else by these names.
    pub(super) fn forget_overrides(&self, layer: Layer, by: impl Fn(&str) -> bool) {
        let is_old = |of: &(Layer, String)| of.0 == layer && by(&of.1);
        self.lock().overrides.retain(|of, _| !is_old(of));
    }

    pub(super) fn add_overrides(&self, breaker: &str, wrong: Vec<Wrong>) {
        let mut by_cause = BTreeMap::<_, Vec<_>>::new();
        for wrong in wrong {
            let cause = (wrong.layer, wrong.by.clone());
            by_cause.entry(cause).or_default().push(wrong);
        }
        if !by_cause.is_empty() {
            let mut all = self.lock();
            for (cause, wrong) in by_cause {
                all.overrides.insert(cause, (breaker.to_owned(), wrong));
            }
        }
    }

    fn all(&self) -> Vec<Problem> {
        let all = self.lock();
        let of_state = |(circuit, error): (&CircuitName, &RestoreError)| Problem {
            circuit: circuit.clone(),
            cause: ProblemCause::State(*error),
        };
        let of_setting = |breaker: &String, wrong: &Wrong| Problem {
            circuit: CircuitName {
                breaker: breaker.clone(),
                key: None,
            },
            cause: ProblemCause::Setting {
                layer: wrong.layer,
                setting: wrong.setting,
                error: wrong.error,
            },
        };
        let mut problems: Vec<_> = all.states.iter().map(of_state).collect();
        for (breaker, wrong) in all.overrides.values() {
            problems.extend(wrong.iter().map(|wrong| of_setting(breaker, wrong)));
        }
        problems.sort_by(|one, other| one.circuit.cmp(&other.circuit));
        problems
    }
}
