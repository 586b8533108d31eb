//! How an instance's circuit is shared: the real rules of what to ask, between it and Redis.

use std::sync::Arc;

use breaker_core::{Change, Circuit, Effect, Generation, State, Trigger};
use breaker_redis::instance::{Follow, Happened, Instance, Options, Settled, Step};
use breaker_redis::protocol::{Caller, Cause, Counts, Shared};

use crate::clock::{Moment, Reading};

/// A circuit's link to the others.
#[derive(Debug)]
pub(crate) struct Link {
    instance: Instance,
    /// When it is woken next.
    pub(crate) wakes: Moment,
}

impl Link {
    pub(crate) fn new(options: Options, circuit: &Circuit, now: Reading, seed: u64) -> Self {
        let begun = Happened {
            generation: circuit.generation(),
            state: CLOSED,
            cause: None,
            window: Counts::default(),
        };
        Self {
            instance: Instance::new(Arc::new(options), &begun, now.micros(), seed),
            wakes: Moment::MAX,
        }
    }

    pub(crate) fn instance(&mut self) -> &mut Instance {
        &mut self.instance
    }

    /// How it introduces itself.
    pub(crate) fn caller(&self) -> Caller {
        self.instance.caller()
    }

    pub(crate) fn changed(&mut self, now: Reading, change: &Change, circuit: &Circuit) {
        self.instance.changed(
            now.micros(),
            &Happened {
                generation: change.generation,
                state: shared(change, circuit, now),
                cause: cause(change),
                window: Counts::default(), // no rate trips here
            },
        );
    }

    pub(crate) fn settled(
        &mut self,
        now: Reading,
        generation: Generation,
        effect: &Effect,
        circuit: &Circuit,
    ) {
        self.instance.settled(
            now.micros(),
            &Settled {
                generation,
                counted: !matches!(effect, Effect::Late | Effect::Neutral),
                counts: counts(circuit, now),
            },
        );
    }

    /// What it wants to be done, but for what concerns the circuit alone, which is done; and whether that
    /// was changed.
    pub(crate) fn next(&mut self, now: Reading, circuit: &Circuit) -> (Step, bool) {
        let mut followed = false;
        loop {
            match self.instance.next(now.micros()) {
                Step::Follow(follow) => {
                    let outcome = follow_in(circuit, &follow, now);
                    followed |= outcome.is_ok();
                    self.instance.followed(now.micros(), outcome);
                }
                Step::Look => self.instance.counted(now.micros(), counts(circuit, now)),
                step => return (step, followed),
            }
        }
    }
}

const CLOSED: Shared = Shared {
    state: State::Closed,
    wait: 0,
    imposed: false,
    reopenings: 0,
};

fn follow_in(circuit: &Circuit, follow: &Follow, now: Reading) -> Result<Generation, Generation> {
    // One thread: nothing comes between.
    let generation = circuit.generation();
    if generation != follow.only_in {
        return Err(generation);
    }
    match circuit.restore(&follow.to, &now) {
        Ok(change) => Ok(change.generation),
        Err(_) => Err(generation),
    }
}

fn counts(circuit: &Circuit, now: Reading) -> Counts {
    Counts {
        failures: circuit.snapshot(&now).consecutive,
        ..Counts::default()
    }
}

fn shared(change: &Change, circuit: &Circuit, now: Reading) -> Shared {
    let wait = change.wait.unwrap_or_default();
    Shared {
        state: change.to,
        wait: wait.as_micros() as u64,
        imposed: false,
        reopenings: circuit.snapshot(&now).reopenings,
    }
}

fn cause(change: &Change) -> Option<Cause> {
    let failures = change.failures;
    match change.trigger {
        Trigger::Failures | Trigger::FailedProbe => Some(Cause::Tripped { failures }),
        Trigger::WaitOver | Trigger::ProbeTimedOut => Some(Cause::Leased),
        Trigger::Recovered => Some(Cause::Recovered),
        _ => None, // nothing else happens here
    }
}
