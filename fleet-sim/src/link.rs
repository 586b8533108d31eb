//! How an instance's circuit is shared: the real rules of what to ask, between it and Redis.

use std::sync::Arc;

use breaker_core::{Admission, Change, Circuit, Effect, Generation, Policy, State, Trigger};
use breaker_redis::instance::{Asked, Follow, Happened, Instance, Options, Settled, Step};
use breaker_redis::protocol::{Caller, Cause, Command, Counts, Reply, Shared};

use crate::clock::{Moment, Reading};

/// A circuit's link to the others.
#[derive(Debug)]
pub(crate) struct Link {
    instance: Instance,
    /// When it is woken next.
    wakes: Moment,
}

/// What an instance wants.
#[derive(Debug)]
pub(crate) enum Wants {
    /// To ask Redis; then it may want more.
    Asks(Box<(Asked, Command)>),
    /// To be woken then, and nothing before.
    Wakes(Moment),
    /// Nothing, or what is under way already.
    Nothing,
}

impl Link {
    /// As if the instance had been started so many microseconds ago, and asked Redis since.
    pub(crate) fn begun(
        options: Arc<Options>,
        circuit: &Circuit<impl Policy>,
        now: Reading,
        ago: u64,
        seed: u64,
        mut redis: impl FnMut(&Caller, &Command) -> Reply,
    ) -> Self {
        let mut then = Reading(now.0 - ago * 1_000);
        let mut link = Self::new(options, circuit, then, seed);
        link.instance.found(then.micros());
        loop {
            match link.next(then, circuit).0 {
                Step::Ask(asked, command) => {
                    let reply = redis(&link.caller(), &command);
                    link.instance.replied(then.micros(), asked, Ok(&reply));
                }
                // Not longer than until it begins.
                Step::Wait(Some(until)) if until < now.micros() => then = Reading(until * 1_000),
                _ => return link,
            }
        }
    }

    fn new(options: Arc<Options>, circuit: &Circuit<impl Policy>, now: Reading, seed: u64) -> Self {
        let begun = Happened {
            generation: circuit.generation(),
            state: CLOSED,
            cause: None,
            window: Counts::default(),
        };
        Self {
            instance: Instance::new(options, &begun, now.micros(), seed),
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

    /// Whether the circuit lets a call through, and whether Redis is to be asked for the lease.
    pub(crate) fn admit(
        &mut self,
        circuit: &Circuit<impl Policy>,
        now: Reading,
    ) -> (Option<Admission>, bool) {
        let mut asked = false;
        let admission = circuit.try_admit_if_granted(&now, || {
            asked = true;
            self.instance.probe_wanted(now.micros()).is_ok()
        });
        let admission = admission.ok();
        if let Some(change) = admission.as_ref().and_then(|admitted| admitted.change) {
            self.changed(now, &change, circuit);
        }
        (admission, asked)
    }

    /// A call ended, by more than the common success.
    pub(crate) fn ended(
        &mut self,
        now: Reading,
        generation: Generation,
        effect: &Effect,
        circuit: &Circuit<impl Policy>,
    ) {
        if let Some(change) = effect.change() {
            self.changed(now, change, circuit);
        }
        self.settled(now, generation, effect, circuit);
    }

    fn changed(&mut self, now: Reading, change: &Change, circuit: &Circuit<impl Policy>) {
        self.instance.changed(
            now.micros(),
            &Happened {
                generation: change.generation,
                state: shared(change, circuit, now),
                cause: cause(change),
                window: Counts::of_trip(change),
            },
        );
    }

    fn settled(
        &mut self,
        now: Reading,
        generation: Generation,
        effect: &Effect,
        circuit: &Circuit<impl Policy>,
    ) {
        self.instance.settled(
            now.micros(),
            &Settled {
                generation,
                counted: !matches!(effect, Effect::Late | Effect::Neutral),
                counts: circuit.counted(&now).into(),
            },
        );
    }

    /// What it wants, and whether the circuit was changed.
    pub(crate) fn wants(
        &mut self,
        now: Moment,
        reading: Reading,
        circuit: &Circuit<impl Policy>,
    ) -> (Wants, bool) {
        let (step, followed) = self.next(reading, circuit);
        let wants = match step {
            Step::Ask(asked, command) => Wants::Asks(Box::new((asked, command))),
            Step::Wait(Some(until)) => {
                let wait = until.saturating_sub(reading.micros()).max(1);
                let wakes = now + wait * 1_000;
                if wakes < self.wakes {
                    self.wakes = wakes;
                    Wants::Wakes(wakes)
                } else {
                    Wants::Nothing
                }
            }
            _ => Wants::Nothing,
        };
        (wants, followed)
    }

    /// It is woken. `false`: that was for an earlier wish.
    pub(crate) fn is_woken(&mut self, now: Moment) -> bool {
        let is_wanted = self.wakes == now;
        if is_wanted {
            self.wakes = Moment::MAX;
        }
        is_wanted
    }

    /// What it wants to be done, but for what concerns the circuit alone, which is done; and whether that
    /// was changed.
    fn next(&mut self, now: Reading, circuit: &Circuit<impl Policy>) -> (Step, bool) {
        let mut followed = false;
        loop {
            match self.instance.next(now.micros()) {
                Step::Follow(follow) => {
                    let outcome = follow_in(circuit, &follow, now);
                    followed |= outcome.is_ok();
                    self.instance.followed(now.micros(), outcome);
                }
                Step::Look => self
                    .instance
                    .counted(now.micros(), circuit.counted(&now).into()),
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

fn follow_in(
    circuit: &Circuit<impl Policy>,
    follow: &Follow,
    now: Reading,
) -> Result<Generation, Generation> {
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

fn shared(change: &Change, circuit: &Circuit<impl Policy>, now: Reading) -> Shared {
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
        Trigger::Failures | Trigger::FailureRate | Trigger::FailedProbe => {
            Some(Cause::Tripped { failures })
        }
        Trigger::WaitOver | Trigger::ProbeTimedOut => Some(Cause::Leased),
        Trigger::Recovered => Some(Cause::Recovered),
        _ => None, // nothing else happens here
    }
}
