//! Plays a history on the real breaker, and tells a watcher what was seen.

use crate::history::{Act, Grain, Move, Operator, Step};
use breaker_core::{
    Change, Circuit, Clock, Counted, Effect, Generation, ManualClock, Outcome, Overrides, Permit,
    Policy, Rejected, Snapshot, SnapshotError, State,
};
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq};
use std::time::Duration;

/// Whether what was seen is as it must be.
pub(crate) type Check = Result<(), TestCaseError>;

/// Sees everything that a breaker answers.
pub(crate) trait Watcher {
    /// One call of the breaker's interface, and what it gave.
    fn saw(&mut self, now: u64, seen: &Seen) -> Check;

    /// After each step: the state and the snapshot.
    fn stands(&mut self, now: u64, stand: &Stand) -> Check {
        let _ = (now, stand);
        Ok(())
    }
}

/// The number of an admission in its breaker's life, from 0.
pub(crate) type Call = usize;

#[derive(Clone, Debug)]
pub(crate) enum Seen {
    Admitted {
        call: Call,
        generation: Generation,
        change: Option<Change>,
    },
    Refused(Rejected),
    /// Whether a grant was asked for, in vain if the call was refused then.
    Asked {
        for_grant: bool,
        granted: bool,
        refused: Option<Rejected>,
    },
    Settled {
        call: Call,
        outcome: Outcome,
        took: Duration,
        /// `None`: the permit was dropped, and a drop tells nothing.
        effect: Option<Effect>,
    },
    Operated(Operator, Change),
    Restored(Snapshot, Result<Change, SnapshotError>),
    /// In the present generation, or whichever it is; else it must have done nothing.
    Followed {
        snapshot: Snapshot,
        may_be: bool,
        followed: Result<Option<Change>, SnapshotError>,
    },
    Counted(Counted),
    /// It took these.
    Reconfigured(Box<Overrides>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Stand {
    pub(crate) state: State,
    pub(crate) generation: Generation,
    pub(crate) snapshot: Snapshot,
}

/// A clock that is set by hand, and is as coarse and as random as it is told.
#[derive(Debug, Default)]
pub(crate) struct TestClock {
    pub(crate) hand: ManualClock,
    pub(crate) resolution: u64,
    pub(crate) entropy: Option<u64>,
}

impl Clock for TestClock {
    fn now(&self) -> u64 {
        self.hand.now()
    }

    fn resolution(&self) -> u64 {
        self.resolution
    }

    fn entropy(&self) -> Option<u64> {
        self.entropy
    }
}

struct Held<'a, P: Policy> {
    call: Call,
    admitted: u64,
    permit: Permit<'a, &'a TestClock, P>,
}

/// A breaker, its clock, and the calls in flight.
pub(crate) struct World<'a, P: Policy> {
    circuit: &'a Circuit<P>,
    clock: &'a TestClock,
    grain: Grain,
    held: Vec<Held<'a, P>>,
    calls: Call,
    due: u64,
}

impl<'a, P: Policy> World<'a, P> {
    pub(crate) fn new(circuit: &'a Circuit<P>, clock: &'a TestClock, grain: Grain) -> Self {
        Self {
            circuit,
            clock,
            grain,
            held: Vec::new(),
            calls: 0,
            due: 0,
        }
    }

    /// Plays the steps; the snapshots taken are added to those that are there.
    pub(crate) fn play(
        &mut self,
        steps: &[Step],
        snapshots: &mut Vec<Snapshot>,
        watcher: &mut impl Watcher,
    ) -> Check {
        for step in steps {
            self.set_clock(step.time);
            self.act(&step.act, snapshots, watcher)?;
            watcher.stands(self.clock.now(), &self.stand())?;
        }
        Ok(())
    }

    pub(crate) fn stand(&self) -> Stand {
        Stand {
            state: self.circuit.state(),
            generation: self.circuit.generation(),
            snapshot: self.circuit.snapshot(self.clock),
        }
    }

    /// The calls in flight never end.
    pub(crate) fn forget_calls(&mut self) {
        for held in self.held.drain(..) {
            std::mem::forget(held.permit);
        }
    }

    /// The calls in flight are given up.
    pub(crate) fn drop_calls(&mut self) {
        self.held.clear();
    }

    fn set_clock(&self, time: Move) {
        let now = self.clock.now();
        let reading = match time {
            Move::Stay => return,
            Move::On(by) => now.saturating_add(by),
            Move::Back(by) => now.saturating_sub(by),
            Move::To(reading) => reading,
            Move::Due(grains) => {
                let grain = self.grain.nanos();
                let due = self.due.div_ceil(grain).saturating_mul(grain);
                let beyond = grains.unsigned_abs() * grain;
                if grains < 0 {
                    due.saturating_sub(beyond)
                } else {
                    due.saturating_add(beyond)
                }
            }
        };
        self.clock.hand.set(self.grain.floor(reading));
    }

    fn act(
        &mut self,
        act: &Act,
        snapshots: &mut Vec<Snapshot>,
        watcher: &mut impl Watcher,
    ) -> Check {
        match *act {
            Act::Acquire => {
                let held = self.acquire(watcher)?;
                self.held.extend(held);
            }
            Act::Leak => {
                if let Some(held) = self.acquire(watcher)? {
                    std::mem::forget(held.permit);
                }
            }
            Act::Settle(which, outcome) => {
                if let Some(held) = self.pick(which) {
                    self.settle(held, outcome, watcher)?;
                }
            }
            Act::Drop(which) => {
                if let Some(held) = self.pick(which) {
                    self.drop_permit(held, watcher)?;
                }
            }
            Act::Call(outcome, took) => {
                if let Some(held) = self.acquire(watcher)? {
                    self.set_clock(Move::On(took));
                    self.settle(held, outcome, watcher)?;
                }
            }
            Act::Calls(times, outcome, took) => {
                for _ in 0..times {
                    self.whole_call(outcome, took, watcher)?;
                }
            }
            Act::CallIf(granted, outcome) => self.call_if(granted, outcome, watcher)?,
            Act::Operate(operator) => self.operate(operator, watcher)?,
            Act::Reconfigure(ref overrides) => self.reconfigure(overrides, watcher)?,
            Act::Snapshot => {
                if snapshots.len() < 8 {
                    snapshots.push(self.circuit.snapshot(self.clock));
                }
            }
            Act::Restore(which) => {
                if !snapshots.is_empty() {
                    self.restore(snapshots[which % snapshots.len()], watcher)?;
                }
            }
            Act::RestoreThis(snapshot) => self.restore(snapshot, watcher)?,
            Act::Follow(snapshot, before) => self.follow(snapshot, before, watcher)?,
            Act::Count => {
                let counted = self.circuit.counted(self.clock);
                watcher.saw(self.clock.now(), &Seen::Counted(counted))?;
            }
        }
        Ok(())
    }

    fn pick(&mut self, which: usize) -> Option<Held<'a, P>> {
        (!self.held.is_empty()).then(|| self.held.remove(which % self.held.len()))
    }

    fn acquire(
        &mut self,
        watcher: &mut impl Watcher,
    ) -> Result<Option<Held<'a, P>>, TestCaseError> {
        match self.circuit.admit(self.clock) {
            Ok(permit) => {
                let call = self.admitted(permit.generation(), permit.change().copied(), watcher);
                let admitted = self.clock.now();
                match call {
                    Ok(call) => Ok(Some(Held {
                        call,
                        admitted,
                        permit,
                    })),
                    Err(error) => Err(error),
                }
            }
            Err(rejected) => self.refused(rejected, watcher).map(|()| None),
        }
    }

    fn settle(&mut self, held: Held<'a, P>, outcome: Outcome, watcher: &mut impl Watcher) -> Check {
        let took = Duration::from_nanos(self.clock.now().saturating_sub(held.admitted));
        let effect = Some(held.permit.settle(outcome));
        self.settled(held.call, outcome, took, effect, watcher)
    }

    fn drop_permit(&mut self, held: Held<'a, P>, watcher: &mut impl Watcher) -> Check {
        let took = Duration::from_nanos(self.clock.now().saturating_sub(held.admitted));
        drop(held.permit);
        self.settled(held.call, Outcome::Dropped, took, None, watcher)
    }

    fn whole_call(
        &mut self,
        outcome: Outcome,
        took: Duration,
        watcher: &mut impl Watcher,
    ) -> Check {
        match self.circuit.try_admit(self.clock) {
            Ok(admission) => {
                let generation = admission.generation;
                let call = self.admitted(generation, admission.change, watcher)?;
                let effect = self
                    .circuit
                    .settle_after(generation, outcome, took, self.clock);
                self.settled(call, outcome, took, Some(effect), watcher)
            }
            Err(rejected) => self.refused(rejected, watcher),
        }
    }

    fn call_if(&mut self, granted: bool, outcome: Outcome, watcher: &mut impl Watcher) -> Check {
        let mut for_grant = false;
        let asked = self.circuit.try_admit_if_granted(self.clock, || {
            for_grant = true;
            granted
        });
        let seen = Seen::Asked {
            for_grant,
            granted,
            refused: asked.err(),
        };
        watcher.saw(self.clock.now(), &seen)?;
        match asked {
            Ok(admission) => {
                let generation = admission.generation;
                let call = self.admitted(generation, admission.change, watcher)?;
                let effect = self.circuit.settle(generation, outcome, self.clock);
                self.settled(call, outcome, Duration::ZERO, Some(effect), watcher)
            }
            Err(_) if for_grant => Ok(()),
            Err(rejected) => self.refused(rejected, watcher),
        }
    }

    fn operate(&mut self, operator: Operator, watcher: &mut impl Watcher) -> Check {
        let (circuit, clock) = (self.circuit, self.clock);
        let change = match operator {
            Operator::Close => circuit.close(clock),
            Operator::Clear => circuit.clear(clock),
            Operator::ForceOpen => circuit.force_open(clock),
            Operator::Disable => circuit.disable(clock),
            Operator::Shadow => circuit.shadow(clock),
            Operator::OpenFor(wait) => circuit.open_for(wait, clock),
        };
        self.changed(&change);
        watcher.saw(clock.now(), &Seen::Operated(operator, change))
    }

    fn reconfigure(&self, overrides: &Overrides, watcher: &mut impl Watcher) -> Check {
        let stood = (self.circuit.config(), self.circuit.overrides());
        let mut taken = *overrides;
        if self.circuit.reconfigure(overrides).is_err() {
            let stands = (self.circuit.config(), self.circuit.overrides());
            prop_assert_eq!(stands, stood, "changed by what was refused");
            for (setting, _) in self.circuit.declared().mistakes(overrides) {
                taken = taken.without(setting);
            }
            let changed = self.circuit.reconfigure(&taken);
            prop_assert!(changed.is_ok(), "{changed:?} without any mistake");
        }
        prop_assert_eq!(self.circuit.overrides(), taken);
        watcher.saw(self.clock.now(), &Seen::Reconfigured(Box::new(taken)))
    }

    fn restore(&mut self, snapshot: Snapshot, watcher: &mut impl Watcher) -> Check {
        let restored = self.circuit.restore(&snapshot, self.clock);
        if let Ok(change) = &restored {
            self.changed(change);
        }
        watcher.saw(self.clock.now(), &Seen::Restored(snapshot, restored))
    }

    fn follow(
        &mut self,
        snapshot: Snapshot,
        before: Option<u32>,
        watcher: &mut impl Watcher,
    ) -> Check {
        let present = self.circuit.generation();
        // The one before the first is the last.
        let only_in = before
            .map(|before| Generation::from_number(present.get().wrapping_sub(before) % (1 << 26)));
        let followed = self.circuit.follow(&snapshot, only_in, self.clock);
        if let Ok(Some(change)) = &followed {
            self.changed(change);
        }
        let seen = Seen::Followed {
            snapshot,
            may_be: only_in.is_none_or(|generation| generation == present),
            followed,
        };
        watcher.saw(self.clock.now(), &seen)
    }

    fn admitted(
        &mut self,
        generation: Generation,
        change: Option<Change>,
        watcher: &mut impl Watcher,
    ) -> Result<Call, TestCaseError> {
        let call = self.calls;
        self.calls += 1;
        if self.circuit.state() == State::HalfOpen {
            let timeout = self.circuit.config().probe_timeout();
            self.due = self.after(timeout);
        }
        let seen = Seen::Admitted {
            call,
            generation,
            change,
        };
        watcher.saw(self.clock.now(), &seen).map(|()| call)
    }

    fn refused(&mut self, rejected: Rejected, watcher: &mut impl Watcher) -> Check {
        if let Some(wait) = rejected.retry_after {
            self.due = self.after(wait);
        }
        watcher.saw(self.clock.now(), &Seen::Refused(rejected))
    }

    fn settled(
        &mut self,
        call: Call,
        outcome: Outcome,
        took: Duration,
        effect: Option<Effect>,
        watcher: &mut impl Watcher,
    ) -> Check {
        if let Some(change) = effect.as_ref().and_then(Effect::change) {
            self.changed(change);
        }
        let seen = Seen::Settled {
            call,
            outcome,
            took,
            effect,
        };
        watcher.saw(self.clock.now(), &seen)
    }

    fn changed(&mut self, change: &Change) {
        if let Some(wait) = change.wait {
            self.due = self.after(wait);
        }
    }

    fn after(&self, wait: Duration) -> u64 {
        let wait = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX);
        self.clock.now().saturating_add(wait)
    }
}
