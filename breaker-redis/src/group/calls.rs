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

#[cfg(test)]
mod tests {
    use crate::hub::Hub;
    use crate::instance::Step;
    use crate::protocol::{Cause, Prefix, Shared, Told, Version, Who};
    use crate::share::sealed::{Joins, To};
    use crate::{Fleet, FleetBreaker, Sharing};
    use breakerbox::{AnyBreaker, Breaker, Settings, State, link};
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    fn name(of: &str) -> Who {
        Who::new(of).expect("a name")
    }

    /// Who asks how long a call would be refused is told it; and that call probes by itself.
    #[test]
    fn of_a_circuit_that_is_neglected_nobody_is_told_to_wait_for_others() {
        // It is neglected as soon as it waits.
        let fleet = Fleet::builder("redis://127.0.0.1:1").answer(Duration::ZERO);
        let hub = Arc::new(Hub::new(name("me"), Prefix::default(), &fleet));
        let breaker = Arc::new(Breaker::new("neglected", Settings::new().must()));
        let breaker = Arc::new(FleetBreaker::of(breaker, Sharing::new()));
        (&breaker).join(To(&hub)).expect("to be shared");
        let circuit = Arc::clone(&hub.groups()[0].circuits()[0]);
        hub.take_queue(&mut Vec::new());
        let now = hub.now();
        let mut instance = circuit.instance();
        instance.found(now);
        instance.heard(
            now,
            &Told {
                version: Version {
                    epoch: 7,
                    counter: 4,
                },
                shared: Shared {
                    state: State::HalfOpen,
                    wait: 0,
                    imposed: false,
                    reopenings: 0,
                },
                lease: Some((name("other"), 60_000_000)),
                cause: Cause::Leased,
                by: name("other"),
                offered: None,
                census: None,
                operated: None,
                declared: None,
            },
        );
        let Step::Follow(follow) = instance.next(now) else {
            panic!("it is closed");
        };
        drop(instance);
        let follow = link::Follow {
            to: follow.to,
            only_in: Some(follow.only_in),
        };
        let change = breaker.follow(&follow).expect("a sensible one");
        let generation = change.expect("to be followed").generation;
        circuit.instance().followed(now, Ok(generation));
        let left = breaker.time_left().expect("another probes");
        assert!(left > Duration::from_secs(1), "{left:?}");
        for waits in [false, true] {
            match waits {
                true => circuit.waits_since.store(0, Ordering::Relaxed),
                false => hub.enqueue(&circuit),
            }
            while hub.now() <= circuit.queued_at.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            let left = breaker.time_left().unwrap_or_default();
            assert_eq!(left, Duration::ZERO, "{waits}");
            hub.take_queue(&mut Vec::new());
        }
    }
}
