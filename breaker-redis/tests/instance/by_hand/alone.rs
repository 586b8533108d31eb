//! What one that is open by itself says of what it has counted.

use super::census::{WELL, began, by, plays, rate, stands};
use super::generation;
use crate::node::CLOSED;
use crate::world::{MS, SECOND};
use breaker_redis::instance::Happened;
use breaker_redis::protocol::{CENSUS, CENSUS_SPREAD, Cause, Counts, Shared};
use breakerbox::State;

/// What happens to one that is open by itself, of which that is the number.
fn alone(number: u32, state: State, window: Counts) -> Happened {
    let wait = if state == State::Open { 20 * SECOND } else { 0 };
    Happened {
        generation: generation(number),
        state: Shared {
            state,
            wait,
            ..CLOSED
        },
        cause: match state {
            State::Closed => Some(Cause::Recovered),
            State::HalfOpen => Some(Cause::Leased),
            _ => Some(Cause::Tripped { failures: 10 }),
        },
        window,
    }
}

const TRIPPED: Counts = Counts {
    calls: 20,
    failures: 10,
    slow: 3,
};

const ALL_FAILED: Option<Counts> = Some(Counts {
    failures: 20,
    ..TRIPPED
});

const A_PROBE: Option<Counts> = Some(Counts {
    calls: 1,
    failures: 1,
    slow: 0,
});

#[test]
fn one_that_is_open_by_itself_counts_as_failing_in_a_census_and_at_each_poll() {
    let mut instance = by(rate(), 1);
    let none = Counts::default();
    instance.changed(SECOND, &alone(1, State::Open, TRIPPED));
    let asks = plays(&mut instance, SECOND, SECOND + MS, WELL, |_| None);
    assert_eq!(asks, [(SECOND, ALL_FAILED)]);
    let now = 2 * SECOND;
    instance.heard(now, &stands(Some(0)));
    let asks = plays(&mut instance, now, now + SECOND, WELL, began(now));
    assert!(
        matches!(asks[..], [(at, it)] if at >= now + CENSUS && it == ALL_FAILED),
        "{asks:?}"
    );
    let polls = plays(&mut instance, 3 * SECOND, 20 * SECOND, WELL, |_| None);
    assert!((2..=5).contains(&polls.len()), "{polls:?}");
    assert!(polls.iter().all(|(_, it)| *it == ALL_FAILED), "{polls:?}");

    // A probe is on its way, and then has failed: the calls of before are old.
    assert_eq!(instance.probe_wanted(20 * SECOND), Ok(()));
    instance.changed(20 * SECOND, &alone(2, State::HalfOpen, none));
    assert!(plays(&mut instance, 20 * SECOND, 20 * SECOND, WELL, |_| None).is_empty());
    instance.changed(20 * SECOND, &alone(3, State::Open, none));
    let polls = plays(&mut instance, 20 * SECOND, 60 * SECOND, WELL, |_| None);
    assert!((6..=12).contains(&polls.len()), "{polls:?}");
    assert!(polls.iter().all(|(_, it)| *it == A_PROBE), "{polls:?}");

    // Once it is closed, it counts as any other.
    instance.changed(61 * SECOND, &alone(4, State::Closed, none));
    let asks = plays(&mut instance, 61 * SECOND, 61 * SECOND, none, |_| None);
    assert_eq!(asks, [(61 * SECOND, Some(none))]);
}

#[test]
fn one_that_could_probe_and_has_no_call_counts_as_one_call() {
    let mut instance = by(rate(), 1);
    instance.changed(SECOND, &alone(1, State::Open, TRIPPED));
    let asks = plays(&mut instance, SECOND, 60 * SECOND, WELL, |_| None);
    for (at, counts) in asks {
        let is_old = at >= 21 * SECOND;
        assert_eq!(counts, if is_old { A_PROBE } else { ALL_FAILED }, "{at}");
    }
}

#[test]
fn in_a_census_one_whose_wait_is_over_counts_as_one_call_also_before_its_next_poll() {
    for seed in 0..20 {
        let mut instance = by(rate(), seed);
        instance.changed(SECOND, &alone(1, State::Open, TRIPPED));
        plays(&mut instance, SECOND, 21 * SECOND - MS, WELL, |_| None);
        let now = 21 * SECOND;
        instance.heard(now, &stands(Some(0)));
        let asks = plays(&mut instance, now, now + SECOND, WELL, began(now));
        let (first, counts) = asks[0];
        assert!(first <= now + CENSUS_SPREAD, "{asks:?}");
        assert_eq!(counts, A_PROBE);
        assert!(asks.iter().all(|(_, counts)| *counts == A_PROBE));
    }
}

#[test]
fn a_trip_that_is_over_when_a_thread_tells_it_counts_for_nothing() {
    let mut instance = by(rate(), 1);
    instance.changed(SECOND, &alone(3, State::Closed, Counts::default()));
    instance.changed(SECOND, &alone(1, State::Open, TRIPPED));
    let asks = plays(&mut instance, SECOND, 2 * SECOND, WELL, |_| None);
    assert_eq!(asks, []);
}
