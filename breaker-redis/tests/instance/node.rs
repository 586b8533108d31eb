//! A process of the fleet: a real circuit, a clock of its own, and the instance between them, put
//! together as the background of a `Fleet` does.

use crate::rates::Windows;
use breaker_core::{Change, Chosen, Circuit, Clock, Effect, Outcome, Settings, Slot, Trigger};
use breaker_redis::instance::{Happened, Instance, Options, Settled};
use breaker_redis::protocol::{Cause, Counts, Shared};
use breakerbox::{Generation, State};
use std::sync::Arc;
use std::time::Duration;

/// A clock whose origin is anywhere, and which is too fast or too slow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drifting {
    pub(crate) origin: u64,
    /// Millionths.
    pub(crate) too_fast: i64,
}

impl Drifting {
    /// Microseconds by it, at a true time in microseconds.
    pub(crate) fn at(self, now: u64) -> u64 {
        let drift = i128::from(now) * i128::from(self.too_fast) / 1_000_000;
        u64::try_from(i128::from(self.origin) + i128::from(now) + drift).expect("a time")
    }

    /// The true time at which it shows this, or a little later.
    pub(crate) fn shows(self, local: u64) -> u64 {
        let passed = u128::from(local.saturating_sub(self.origin));
        let rate = u128::try_from(1_000_000 + i128::from(self.too_fast)).expect("it goes on");
        u64::try_from(passed * 1_000_000 / rate + 2).unwrap_or(u64::MAX)
    }
}

/// What it shows at a moment, to the circuit.
pub(crate) struct Moment(pub(crate) u64);

impl Clock for Moment {
    fn now(&self) -> u64 {
        self.0 * 1_000
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

/// What a breaker tells its link, which another thread may tell earlier or later.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hook {
    Changed(Happened),
    Settled(Settled),
}

pub(crate) struct Node {
    pub(crate) clock: Drifting,
    pub(crate) circuit: Circuit<Chosen<Box<[Slot]>>>,
    is_by_rate: bool,
    pub(crate) instance: Instance,
    pub(crate) options: Arc<Options>,
    pub(crate) is_linked: bool,
    pub(crate) is_following: bool,
    /// When it was found last: answers of a connection before it don't arrive.
    pub(crate) connection: u32,
    pub(crate) wakes_at: u64,
    pub(crate) asks: u64,
    pub(crate) probes: u64,
    pub(crate) follows: u64,
    pub(crate) windows: Windows,
}

impl Node {
    pub(crate) fn new(
        settings: Settings,
        options: Options,
        clock: Drifting,
        now: u64,
        seed: u64,
    ) -> Self {
        let circuit = Circuit::chosen(settings).expect("settings that can work");
        let options = Arc::new(options);
        let begun = Happened {
            generation: circuit.generation(),
            state: CLOSED,
            cause: None,
            window: Counts::default(),
        };
        Self {
            instance: Instance::new(options.clone(), &begun, clock.at(now), seed),
            is_by_rate: circuit.config().min_calls().is_some(),
            circuit,
            clock,
            options,
            is_linked: false,
            is_following: false,
            connection: 0,
            wakes_at: 0,
            asks: 0,
            probes: 0,
            follows: 0,
            windows: Windows::default(),
        }
    }

    pub(crate) fn local(&self, now: u64) -> u64 {
        self.clock.at(now)
    }

    pub(crate) fn moment(&self, now: u64) -> Moment {
        Moment(self.local(now))
    }

    pub(crate) fn state(&self) -> State {
        self.circuit.state()
    }

    /// A call asks: the generation that admits it, and what is told of it.
    pub(crate) fn admit(&mut self, now: u64) -> Option<(Generation, Option<Hook>)> {
        let (local, moment) = (self.local(now), self.moment(now));
        let instance = &mut self.instance;
        let granted = || probes(instance, local).is_ok();
        let admission = self.circuit.try_admit_if_granted(&moment, granted).ok()?;
        if self.circuit.state() == State::HalfOpen {
            self.probes += 1;
        }
        let hook = admission.change.map(|change| self.happened(&change, now));
        Some((admission.generation, hook))
    }

    /// A call ends: what is told of it.
    pub(crate) fn settle(
        &mut self,
        now: u64,
        generation: Generation,
        outcome: Outcome,
        is_slow: bool,
    ) -> Vec<Hook> {
        let moment = self.moment(now);
        let was = (self.circuit.state(), self.circuit.counted(&moment));
        let took = Duration::from_secs(is_slow.into());
        let is_success = outcome == Outcome::Success;
        let effect = self
            .circuit
            .settle_after(generation, outcome, took, &moment);
        let mut hooks = Vec::new();
        if let Some(change) = effect.change() {
            if change.from == State::Closed {
                self.note_trip(now, change.calls);
            } else if change.to == State::Open {
                self.note_trip(now, 1);
            }
            hooks.push(self.happened(change, now));
        }
        let ends_no_row = self.is_by_rate || was.1.failures == 0;
        let is_common = was.0 == State::Closed && is_success && !is_slow && ends_no_row;
        let is_neutral = effect == Effect::Neutral && was.0 != State::HalfOpen;
        if effect != Effect::Late && !is_common && !is_neutral {
            hooks.push(Hook::Settled(Settled {
                generation,
                counted: effect != Effect::Neutral,
                counts: self.counts(now),
            }));
        }
        hooks
    }

    /// What its breaker has counted.
    pub(crate) fn counts(&self, now: u64) -> Counts {
        self.circuit.counted(&self.moment(now)).into()
    }

    pub(crate) fn happened(&self, change: &Change, now: u64) -> Hook {
        let left = |wait: Duration| u64::try_from(wait.as_micros()).expect("a wait");
        let snapshot = self.circuit.snapshot(&self.moment(now));
        let imposed = change.wait.is_some() && snapshot.imposed;
        let failures = change.failures;
        Hook::Changed(Happened {
            generation: change.generation,
            state: Shared {
                state: change.to,
                wait: change.wait.map_or(0, left),
                imposed,
                reopenings: snapshot.reopenings,
            },
            cause: match change.trigger {
                Trigger::Operator => Some(Cause::Operator),
                Trigger::Overloaded => Some(Cause::Overloaded),
                Trigger::Recovered => Some(Cause::Recovered),
                Trigger::WaitOver | Trigger::ProbeTimedOut => Some(Cause::Leased),
                Trigger::Restored | Trigger::Fleet => None,
                _ => Some(Cause::Tripped { failures }),
            },
            window: Counts::of_trip(change),
        })
    }

    pub(crate) fn tell(&mut self, now: u64, hook: Hook) {
        let local = self.local(now);
        match hook {
            Hook::Changed(happened) => self.instance.changed(local, &happened),
            Hook::Settled(settled) => self.instance.settled(local, &settled),
        }
        self.wakes_at = 0;
    }
}

pub(crate) const CLOSED: Shared = Shared {
    state: State::Closed,
    wait: 0,
    imposed: false,
    reopenings: 0,
};

/// A call asks to probe; whoever asked just before how long it would have to wait was told the same.
pub(crate) fn probes(instance: &mut Instance, now: u64) -> Result<(), Duration> {
    let left = instance.time_left(now);
    let answer = instance.probe_wanted(now);
    match answer {
        Ok(()) => assert_eq!(left, Duration::ZERO),
        // Where it is asked for first, the answer may be there in a round trip.
        Err(said) if left.is_zero() => assert!(said <= Duration::from_secs(1), "{said:?}"),
        Err(said) => assert_eq!(left, said),
    }
    answer
}
