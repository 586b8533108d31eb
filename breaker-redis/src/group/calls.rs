//! What breakers and their keys tell from within calls, and ask: nothing here waits.

use super::Group;
use crate::circuit::{Circuit, happened};
use crate::instance::{Settled, micros};
use breakerbox::link::Linked;
use breakerbox::observe::CircuitId;
use breakerbox::{Change, Effect, Generation};
use std::sync::Arc;
use std::time::Duration;

impl Group {
    pub(crate) fn changed(&self, linked: &Linked<'_>, change: &Change) {
        let Some(circuit) = self.of(linked) else {
            return;
        };
        if let Some(happened) = happened(linked.breaker(), change) {
            let now = self.hub.now();
            let mut instance = circuit.instance();
            instance.changed(now, &happened);
            let due = instance.due(now);
            drop(instance);
            self.wake(&circuit, due);
        }
    }

    pub(crate) fn settled(&self, linked: &Linked<'_>, generation: Generation, effect: &Effect) {
        let Some(circuit) = self.of(linked) else {
            return;
        };
        let settled = Settled {
            generation,
            counted: !matches!(effect, Effect::Late | Effect::Neutral),
            counts: linked.breaker().counted().into(),
        };
        let now = self.hub.now();
        let mut instance = circuit.instance();
        instance.settled(now, &settled);
        let due = instance.due(now);
        drop(instance);
        self.wake(&circuit, due);
    }

    pub(crate) fn may_probe(&self, linked: &Linked<'_>) -> Result<(), Duration> {
        let Some(circuit) = self.of(linked) else {
            return Ok(());
        };
        let now = self.hub.now();
        let mut instance = circuit.instance();
        let mut may = instance.probe_wanted(now);
        // Nobody waits for a background that is held up: then each is on its own.
        if may.is_err() && circuit.is_neglected(now, micros(self.hub.times().answer)) {
            instance.probe_alone(now);
            may = Ok(());
        }
        let due = instance.due(now);
        drop(instance);
        self.wake(&circuit, due);
        may
    }

    /// What [`may_probe`](Self::may_probe) would say to wait.
    pub(crate) fn time_left(&self, linked: &Linked<'_>) -> Duration {
        let known = self.read().find(linked.breaker().circuit_id());
        let now = self.hub.now();
        match known {
            Some(circuit) if !circuit.is_neglected(now, micros(self.hub.times().answer)) => {
                circuit.instance().time_left(now)
            }
            _ => Duration::ZERO,
        }
    }

    pub(crate) fn probe_withdrawn(&self, linked: &Linked<'_>) {
        let Some(circuit) = self.of(linked) else {
            return;
        };
        let now = self.hub.now();
        let mut instance = circuit.instance();
        instance.probe_withdrawn(now);
        let due = instance.due(now);
        drop(instance);
        self.wake(&circuit, due);
    }

    pub(crate) fn key_added(&self, linked: &Linked<'_>) {
        self.forget_namesake(linked.breaker().circuit_id());
        // Where a key was given up another may stand, at its place in memory.
        if let Some(known) = self.of(linked)
            && known.reach.get().is_none()
        {
            self.part_with(&known);
            self.of(linked);
        }
    }

    pub(crate) fn key_given_up(&self, linked: &Linked<'_>) {
        let id = linked.breaker().circuit_id();
        let known = self.read().find(id);
        if let Some(known) = known {
            self.part_with(&known);
        }
        self.forget_namesake(id);
    }

    fn forget_namesake(&self, id: CircuitId) {
        let is_namesake = self.read().is_namesake(id);
        if is_namesake {
            self.write().forget_namesake(id);
        }
    }

    /// Keys that are on their own, as another one has their label.
    pub(crate) fn namesakes(&self) -> usize {
        self.read().namesakes()
    }

    /// Its key was given up: the background tells what it has not told yet.
    pub(super) fn part_with(&self, circuit: &Arc<Circuit>) {
        circuit.end();
        self.forget(circuit);
        self.hub.enqueue(circuit);
    }

    fn wake(&self, circuit: &Arc<Circuit>, due: Option<u64>) {
        if circuit.is_worth_waking(due) {
            self.hub.enqueue(circuit);
        }
    }
}
