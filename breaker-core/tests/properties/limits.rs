//! What must hold whatever the model says: watchers that know one rule each.

use crate::history::Operator;
use crate::rules::Rules;
use crate::world::{Call, Check, Seen, Stand, Watcher};
use breaker_core::{Change, Effect, Generation, Outcome, State, Trigger};
use proptest::{prop_assert, prop_assert_eq};
use std::time::Duration;

/// A trial has no more probes in flight than it may, and is decided by as many
/// results as it must be.
#[derive(Debug)]
pub(crate) struct Trials {
    rules: Rules,
    calls: Vec<Generation>,
    trial: Option<Trial>,
}

#[derive(Debug)]
struct Trial {
    generation: Generation,
    in_flight: u32,
    successes: u32,
    failures: u32,
}

impl Trials {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            calls: Vec::new(),
            trial: None,
        }
    }

    /// The trial that this call is a probe of.
    fn trial_of(&mut self, call: Call) -> Option<&mut Trial> {
        let generation = self.calls[call];
        self.trial
            .as_mut()
            .filter(|trial| trial.generation == generation)
    }

    fn admitted(&mut self, call: Call) -> Check {
        let (probes, close_after) = (self.rules.probes, self.rules.close_after());
        let Some(trial) = self.trial_of(call) else {
            return Ok(());
        };
        trial.in_flight += 1;
        prop_assert!(trial.in_flight <= probes, "{trial:?}");
        let most = close_after.unwrap_or(probes);
        let counts = trial.in_flight + trial.successes + trial.failures;
        prop_assert!(counts <= most, "{trial:?}");
        Ok(())
    }

    fn settled(&mut self, call: Call, outcome: Outcome, effect: Option<Effect>) -> Check {
        let cancelled_is_failure = self.rules.cancelled_is_failure;
        let needed = self.rules.close_takes();
        let decided_by_rate = self.rules.close_after().is_none();
        let Some(trial) = self.trial_of(call) else {
            return Ok(());
        };
        if effect == Some(Effect::Late) {
            return Ok(());
        }
        trial.in_flight -= 1;
        match outcome {
            Outcome::Success => trial.successes += 1,
            Outcome::Failure | Outcome::Panicked => trial.failures += 1,
            Outcome::Dropped if cancelled_is_failure => trial.failures += 1,
            _ => {}
        }
        match effect {
            Some(Effect::Closed(_)) => {
                prop_assert_eq!(trial.successes + trial.failures, needed, "{:?}", trial);
            }
            Some(Effect::Tripped(change)) if change.trigger == Trigger::FailedProbe => {
                let results = trial.successes + trial.failures;
                prop_assert!(trial.failures > 0, "{trial:?}");
                prop_assert!(!decided_by_rate || results == needed, "{trial:?}");
            }
            Some(Effect::Counted) => {
                prop_assert!(trial.successes + trial.failures < needed, "{trial:?}");
            }
            _ => {}
        }
        Ok(())
    }
}

impl Watcher for Trials {
    fn saw(&mut self, _: u64, seen: &Seen) -> Check {
        match seen {
            Seen::Admitted {
                call,
                generation,
                change,
            } => {
                self.calls.push(*generation);
                if change.is_some() {
                    self.trial = Some(Trial {
                        generation: *generation,
                        in_flight: 0,
                        successes: 0,
                        failures: 0,
                    });
                }
                self.admitted(*call)
            }
            Seen::Settled {
                call,
                outcome,
                effect,
                ..
            } => self.settled(*call, *outcome, *effect),
            _ => Ok(()),
        }
    }

    fn stands(&mut self, _: u64, stand: &Stand) -> Check {
        let trial = self.trial.as_ref();
        let is_tried = trial.is_some_and(|trial| trial.generation == stand.generation);
        prop_assert_eq!(is_tried, stand.state == State::HalfOpen);
        Ok(())
    }
}

/// Nobody is admitted sooner after an opening than it must last: `reset` after
/// a counted trip, as long as was said after an imposed one.
#[derive(Debug)]
pub(crate) struct OpenTimes {
    reset: Duration,
    opening: Option<Opening>,
    /// A permit was dropped, which may have tripped the breaker.
    dropped: bool,
    generation: Option<Generation>,
}

#[derive(Clone, Copy, Debug)]
struct Opening {
    /// When it opened; or, if the clock was set back before that, the earliest
    /// reading of a call that asked since.
    since: u64,
    lasts: Duration,
}

impl OpenTimes {
    pub(crate) fn new(rules: &Rules) -> Self {
        Self {
            reset: Duration::from_nanos(rules.reset),
            opening: None,
            dropped: false,
            generation: None,
        }
    }

    fn opened(&mut self, now: u64, change: &Change, imposed: Option<Duration>) -> Check {
        // A clock ends after 584 years; so does every wait.
        let lasts = imposed.unwrap_or(self.reset);
        let lasts = lasts.min(Duration::from_nanos(u64::MAX));
        prop_assert!(change.wait >= Some(lasts), "{change:?} for {lasts:?}");
        self.opening = Some(Opening { since: now, lasts });
        Ok(())
    }
}

impl Watcher for OpenTimes {
    fn saw(&mut self, now: u64, seen: &Seen) -> Check {
        match seen {
            Seen::Admitted { .. } => {
                if let Some(Opening { since, lasts }) = self.opening.take() {
                    let passed = Duration::from_nanos(now.saturating_sub(since));
                    prop_assert!(passed >= lasts, "admitted {passed:?} after it opened");
                }
            }
            Seen::Refused(_) => {
                if let Some(opening) = &mut self.opening {
                    opening.since = opening.since.min(now);
                }
            }
            Seen::Settled {
                outcome,
                effect: Some(Effect::Tripped(change)),
                ..
            } => {
                let imposed = match outcome {
                    Outcome::Overloaded(wait) => Some(*wait),
                    _ => None,
                };
                self.opened(now, change, imposed)?;
            }
            Seen::Settled { effect: None, .. } => self.dropped = true,
            Seen::Operated(Operator::OpenFor(wait), change) => {
                self.opened(now, change, Some(*wait))?;
            }
            Seen::Operated(..)
            | Seen::Restored(_, Ok(_))
            | Seen::Followed {
                followed: Ok(Some(_)),
                ..
            } => self.opening = None,
            Seen::Asked { .. }
            | Seen::Settled { .. }
            | Seen::Restored(..)
            | Seen::Followed { .. }
            | Seen::Counted(_)
            | Seen::Reconfigured(..) => {}
        }
        Ok(())
    }

    fn stands(&mut self, now: u64, stand: &Stand) -> Check {
        let moved_on = self.generation.replace(stand.generation) != Some(stand.generation);
        let dropped = std::mem::take(&mut self.dropped);
        if dropped && moved_on && stand.state == State::Open {
            self.opening = Some(Opening {
                since: now,
                lasts: self.reset,
            });
        }
        Ok(())
    }
}

/// Sees nothing wrong.
#[derive(Debug)]
pub(crate) struct Unwatched;

impl Watcher for Unwatched {
    fn saw(&mut self, _: u64, _: &Seen) -> Check {
        Ok(())
    }
}
