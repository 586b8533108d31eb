//! Operators' orders that hold for what they saw, and for nothing else.
#![cfg(not(loom))]

use breaker_core::{Circuit, Clock, Generation, ManualClock, Order, Settings, State, Trigger};
use std::cell::Cell;
use std::time::Duration;

const WAIT: Duration = Duration::from_secs(90);

const ORDERS: [(Order, State); 5] = [
    (Order::Close, State::Closed),
    (Order::ForceOpen, State::ForcedOpen),
    (Order::Disable, State::Disabled),
    (Order::Shadow, State::Shadow),
    (Order::OpenFor(WAIT), State::Open),
];

fn circuit() -> Circuit {
    Circuit::new(Settings::new().threshold(2).must())
}

fn fail(circuit: &Circuit) {
    let clock = ManualClock::new(0);
    circuit.admit(&clock).expect("admitted").failure();
}

/// A clock that is read between the look at a circuit and its change: something happens then, once.
struct Meanwhile<'a> {
    circuit: &'a Circuit,
    happens: Cell<Option<fn(&Circuit)>>,
}

impl Clock for Meanwhile<'_> {
    fn now(&self) -> u64 {
        if let Some(happens) = self.happens.take() {
            happens(self.circuit);
        }
        0
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

fn operate(circuit: &Circuit, order: Order, happens: fn(&Circuit)) -> bool {
    let clock = Meanwhile {
        circuit,
        happens: Cell::new(Some(happens)),
    };
    let seen = circuit.generation();
    let change = circuit.by_ref().operate_in(seen, order, &clock);
    assert!(clock.happens.take().is_none(), "the clock was not read");
    if let Some(change) = change {
        assert_eq!(change.trigger, Trigger::Operator);
        assert_eq!(change.generation, circuit.generation());
        assert_eq!(change.to, circuit.state());
    }
    change.is_some()
}

#[test]
fn what_was_seen_is_operated() {
    for (order, state) in ORDERS {
        let circuit = circuit();
        assert!(operate(&circuit, order, |_| {}), "{order:?}");
        assert_eq!(circuit.state(), state);
        // In the same state, too, it is another generation.
        let before = circuit.generation();
        assert!(operate(&circuit, order, |_| {}), "{order:?}");
        assert_ne!(circuit.generation(), before);
    }
}

#[test]
fn an_older_generation_is_operated_by_nobody() {
    let clock = ManualClock::new(0);
    for (order, _) in ORDERS {
        let circuit = circuit();
        let seen = circuit.generation();
        circuit.disable(&clock);
        let now = circuit.generation();
        for other in [seen, Generation::from_number(now.get().wrapping_add(1))] {
            assert_eq!(circuit.by_ref().operate_in(other, order, &clock), None);
        }
        assert_eq!(
            (circuit.state(), circuit.generation()),
            (State::Disabled, now)
        );
    }
}

#[test]
fn a_change_between_the_look_and_the_order_is_noticed() {
    for (order, _) in ORDERS {
        let tripped = circuit();
        fail(&tripped);
        assert!(!operate(&tripped, order, fail), "{order:?}");
        assert_eq!(tripped.state(), State::Open);

        // To a state that looks the same, too.
        let closed = circuit();
        let close = |circuit: &Circuit| {
            circuit.close(&ManualClock::new(0));
        };
        assert!(!operate(&closed, order, close), "{order:?}");
        assert_eq!(closed.state(), State::Closed);
    }
}

#[test]
fn a_failure_that_is_counted_meanwhile_is_no_change() {
    for (order, state) in ORDERS {
        let circuit = circuit();
        assert!(operate(&circuit, order, fail), "{order:?}");
        assert_eq!(circuit.state(), state);
    }
}
