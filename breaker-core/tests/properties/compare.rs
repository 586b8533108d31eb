//! Holds every answer of the breaker against the model.

use crate::history::Operator;
use crate::model::{Did, Model, Opened};
use crate::rules::Rules;
use crate::world::{Check, Seen, Stand, Watcher};
use breaker_core::{
    Change, Effect, Generation, Reason, Rejected, Snapshot, SnapshotError, State, Trigger,
};
use proptest::{prop_assert, prop_assert_eq};
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Compare {
    model: Model,
    /// The model's generation of each call that was admitted.
    admitted_in: Vec<u64>,
    /// The model's generation and the breaker's, as they last stood.
    last: (u64, Option<Generation>),
}

impl Compare {
    pub(crate) fn new(rules: Rules, resolution: u64) -> Self {
        Self {
            model: Model::new(rules, resolution),
            admitted_in: Vec::new(),
            last: (0, None),
        }
    }

    fn admitted(&mut self, now: u64, generation: Generation, change: Option<&Change>) -> Check {
        let from = self.model.state;
        let answer = self.model.ask(now);
        prop_assert!(answer.may_admit, "admitted, but {answer:?}");
        let trigger = self.model.admit(now);
        self.admitted_in.push(self.model.generation);
        match (change, trigger) {
            (None, None) => {}
            (Some(change), Some(trigger)) => {
                prop_assert_eq!(change.generation, generation);
                self.changed(from, change, &[trigger])?;
                prop_assert_eq!(change.failures, 0);
            }
            _ => prop_assert!(false, "{change:?} where the model has {trigger:?}"),
        }
        self.generation(generation)
    }

    fn refused(&mut self, now: u64, rejected: Rejected) -> Check {
        let answer = self.model.ask(now);
        let Some(refusal) = &answer.may_refuse else {
            prop_assert!(false, "{rejected:?}, but {answer:?}");
            return Ok(());
        };
        prop_assert_eq!(rejected.reason, refusal.reason);
        match (rejected.retry_after, &refusal.retry_after) {
            (None, None) => {}
            (Some(left), Some(bounds)) => {
                prop_assert!(
                    bounds.contains(&left.as_nanos()),
                    "{left:?} not in {bounds:?}"
                );
            }
            _ => prop_assert!(false, "{rejected:?} where the model has {refusal:?}"),
        }
        self.generation(rejected.generation)
    }

    /// A grant is asked for where the call would be a probe, and nowhere else.
    /// Withheld, it is refused with nothing to wait for, in the same generation.
    fn asked(
        &mut self,
        now: u64,
        for_grant: bool,
        granted: bool,
        refused: Option<Rejected>,
    ) -> Check {
        let probing = matches!(self.model.state, State::Open | State::HalfOpen);
        if !for_grant {
            prop_assert!(!probing || refused.is_some(), "a probe without a grant");
            return Ok(());
        }
        let answer = self.model.ask(now);
        prop_assert!(probing && answer.may_admit, "asked where {answer:?}");
        prop_assert_eq!(refused.is_none(), granted);
        if let Some(rejected) = refused {
            let reason = match self.model.state {
                State::Open => Reason::Open,
                _ => Reason::HalfOpenFull,
            };
            prop_assert_eq!(rejected.reason, reason);
            prop_assert_eq!(rejected.retry_after, Some(Duration::ZERO));
            self.generation(rejected.generation)?;
        }
        Ok(())
    }

    /// `None`: the permit was dropped, and its effect not seen.
    fn settled(&mut self, from: State, did: &Did, effect: Option<Effect>) -> Check {
        let Some(effect) = effect else {
            return Ok(());
        };
        match (did, effect) {
            (Did::Late, Effect::Late)
            | (Did::Neutral, Effect::Neutral)
            | (Did::Counted, Effect::Counted)
            | (Did::NothingToSee, Effect::Late | Effect::Neutral | Effect::Counted) => {}
            (Did::WouldTrip { failures: wanted }, Effect::WouldTrip(Change { failures, .. })) => {
                prop_assert_eq!(wanted.unwrap_or(failures), failures);
            }
            (Did::Opened(Opened { triggers, failures }), Effect::Tripped(change)) => {
                prop_assert_eq!(failures.unwrap_or(change.failures), change.failures);
                self.changed(from, &change, triggers)?;
            }
            (Did::Closed { failures }, Effect::Closed(change)) => {
                prop_assert_eq!(*failures, change.failures);
                self.changed(from, &change, &[Trigger::Recovered])?;
            }
            _ => prop_assert!(false, "{effect:?} where the model has {did:?}"),
        }
        Ok(())
    }

    fn operated(&mut self, now: u64, operator: Operator, change: &Change) -> Check {
        let from = self.model.state;
        match operator {
            Operator::Close => self.model.close(),
            Operator::Clear => self.model.clear(),
            Operator::ForceOpen => self.model.force(State::ForcedOpen),
            Operator::Disable => self.model.force(State::Disabled),
            Operator::Shadow => self.model.force(State::Shadow),
            Operator::OpenFor(wait) => self.model.open_for(wait.as_nanos(), now),
        }
        self.changed(from, change, &[Trigger::Operator])
    }

    fn restored(
        &mut self,
        now: u64,
        snapshot: &Snapshot,
        restored: Result<Change, SnapshotError>,
    ) -> Check {
        let from = self.model.state;
        match (self.model.restore(snapshot, now), restored) {
            (Err(_), Err(_)) => Ok(()),
            (Ok(()), Ok(change)) => self.changed(from, &change, &[Trigger::Restored]),
            (model, restored) => {
                prop_assert!(false, "{restored:?} where the model has {model:?}");
                Ok(())
            }
        }
    }

    /// As [`restored`](Self::restored), unless it was to be done in another generation: then nothing
    /// has become of it. Nonsense is nonsense in any.
    fn followed(
        &mut self,
        now: u64,
        snapshot: &Snapshot,
        may_be: bool,
        followed: Result<Option<Change>, SnapshotError>,
    ) -> Check {
        let from = self.model.state;
        if !may_be {
            let is_sense = self.model.makes_sense(snapshot);
            prop_assert_eq!(followed.ok(), is_sense.then_some(None));
            return Ok(());
        }
        match (self.model.restore(snapshot, now), followed) {
            (Err(_), Err(_)) => Ok(()),
            (Ok(()), Ok(Some(change))) => self.changed(from, &change, &[Trigger::Fleet]),
            (model, followed) => {
                prop_assert!(false, "{followed:?} where the model has {model:?}");
                Ok(())
            }
        }
    }

    /// The model has made the change already.
    fn changed(&mut self, from: State, change: &Change, triggers: &[Trigger]) -> Check {
        prop_assert_eq!(change.from, from);
        prop_assert_eq!(change.to, self.model.state);
        prop_assert!(
            triggers.contains(&change.trigger),
            "{:?} not in {triggers:?}",
            change.trigger
        );
        let bounds = self.model.wait().cloned();
        match (change.wait, bounds) {
            (None, None) => {}
            (Some(wait), Some(bounds)) => {
                let within = self.model.announced(wait.as_nanos());
                prop_assert!(within, "a wait of {wait:?} not in {bounds:?}");
            }
            (wait, bounds) => prop_assert!(false, "a wait of {wait:?}, not in {bounds:?}"),
        }
        self.generation(change.generation)
    }

    /// The breaker's generation moves on when the model's does, and only then.
    fn generation(&mut self, generation: Generation) -> Check {
        let (model_was, was) = self.last;
        if let Some(was) = was {
            let (was, is) = (was.get(), generation.get());
            if self.model.generation > model_was {
                prop_assert!(is > was, "a new generation, {is}, after {was}");
            } else {
                prop_assert_eq!(is, was, "the same generation");
            }
        }
        self.last = (self.model.generation, Some(generation));
        Ok(())
    }
}

impl Watcher for Compare {
    fn saw(&mut self, now: u64, seen: &Seen) -> Check {
        match seen {
            Seen::Admitted {
                call,
                generation,
                change,
            } => {
                assert_eq!(*call, self.admitted_in.len(), "calls are numbered in turn");
                self.admitted(now, *generation, change.as_ref())
            }
            Seen::Refused(rejected) => self.refused(now, *rejected),
            Seen::Asked {
                for_grant,
                granted,
                refused,
            } => self.asked(now, *for_grant, *granted, *refused),
            Seen::Settled {
                call,
                outcome,
                took,
                effect,
            } => {
                let from = self.model.state;
                let admitted_in = self.admitted_in[*call];
                let did = self
                    .model
                    .settle(admitted_in, *outcome, took.as_nanos(), now);
                self.settled(from, &did, *effect)
            }
            Seen::Operated(operator, change) => self.operated(now, *operator, change),
            Seen::Restored(snapshot, restored) => self.restored(now, snapshot, *restored),
            Seen::Followed {
                snapshot,
                may_be,
                followed,
            } => self.followed(now, snapshot, *may_be, *followed),
            Seen::Counted(counted) => {
                prop_assert_eq!(*counted, self.model.counted(now));
                Ok(())
            }
            Seen::Reconfigured(overrides) => {
                self.model.reconfigure(overrides);
                Ok(())
            }
        }
    }

    fn stands(&mut self, now: u64, stand: &Stand) -> Check {
        let Snapshot {
            state,
            time_left,
            imposed,
            consecutive,
            reopenings,
        } = stand.snapshot;
        prop_assert_eq!(stand.state, self.model.state);
        prop_assert_eq!(state, self.model.state);
        self.generation(stand.generation)?;
        let bounds = self.model.time_left(now);
        prop_assert!(
            bounds.contains(&time_left.as_nanos()),
            "{time_left:?} left, not in {bounds:?}"
        );
        prop_assert_eq!(imposed, self.model.is_imposed());
        prop_assert_eq!(reopenings, self.model.reopenings());
        match self.model.consecutive() {
            Some(failures) => prop_assert_eq!(consecutive, failures),
            None if state == State::Closed => {}
            None => prop_assert_eq!(consecutive, 0),
        }
        if state != State::Open {
            prop_assert_eq!(time_left, Duration::ZERO);
        }
        Ok(())
    }
}
