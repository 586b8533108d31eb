//! Shadow: what is said of the trip that was not made.

use breaker_core::{
    Change, Circuit, Effect, ManualClock, Outcome, Policy, Settings, Sliding, State, Trigger,
    Window,
};
use std::time::Duration;

const RESET: Duration = Duration::from_secs(30);

/// The trip that each of the outcomes, one after the other, would have made.
fn would<P: Policy>(circuit: &Circuit<P>, outcomes: &[Outcome]) -> Vec<Change> {
    let clock = ManualClock::new(0);
    let shadow = circuit.shadow(&clock).generation;
    let mut changes = Vec::new();
    for outcome in outcomes {
        match circuit.admit(&clock).unwrap().settle(*outcome) {
            Effect::WouldTrip(change) => changes.push(change),
            Effect::Counted => {}
            effect => panic!("{effect:?}"),
        }
        assert_eq!(circuit.state(), State::Shadow);
        assert_eq!(circuit.generation(), shadow);
    }
    for change in &changes {
        assert_eq!((change.from, change.to), (State::Shadow, State::Open));
        assert_eq!(change.generation, shadow, "none was begun");
    }
    changes
}

fn only(changes: &[Change]) -> (Trigger, u32, Option<Duration>) {
    let [change] = changes else {
        panic!("not one: {changes:?}");
    };
    (change.trigger, change.failures, change.wait)
}

#[test]
fn failures_in_a_row_would_trip_for_the_configured_wait() {
    let circuit = Circuit::new(Settings::new().threshold(3).reset(RESET).must());
    let changes = would(&circuit, &[Outcome::Failure; 9]);
    assert_eq!(only(&changes), (Trigger::Failures, 3, Some(RESET)));
}

#[test]
fn an_overload_would_trip_for_as_long_as_it_asks() {
    let circuit = Circuit::new(Settings::new().threshold(9).reset(RESET).must());
    let asked = Duration::from_secs(7);
    let outcomes = [
        Outcome::Failure,
        Outcome::Failure,
        Outcome::Overloaded(asked),
        Outcome::Overloaded(asked),
    ];
    let changes = would(&circuit, &outcomes);
    assert_eq!(only(&changes), (Trigger::Overloaded, 3, Some(asked)));
}

#[test]
fn a_rate_would_trip_for_the_configured_wait() {
    let settings = Settings::new()
        .failure_rate(0.5)
        .window(Window::calls(10))
        .min_calls(4)
        .reset(RESET);
    let circuit = Circuit::<Sliding<1>>::by_rate(settings.must_rate()).unwrap();
    let outcomes = [
        Outcome::Success,
        Outcome::Failure,
        Outcome::Success,
        Outcome::Failure,
        Outcome::Failure,
    ];
    let changes = would(&circuit, &outcomes);
    assert_eq!(only(&changes), (Trigger::FailureRate, 2, Some(RESET)));

    let asked = Duration::from_secs(7);
    let changes = would(&circuit, &[Outcome::Overloaded(asked)]);
    assert_eq!(only(&changes).0, Trigger::Overloaded);
    assert_eq!(only(&changes).2, Some(asked));
}

#[test]
fn the_jitter_of_the_trip_is_part_of_its_wait() {
    let settings = Settings::new().threshold(1).reset(RESET).jitter(1.0);
    let wait = |seed| {
        let circuit = Circuit::new(settings.jitter_seed(seed).must());
        only(&would(&circuit, &[Outcome::Failure])).2.unwrap()
    };
    assert_ne!(wait(1), wait(2));
    assert!((RESET..RESET * 2).contains(&wait(1)));
}

#[test]
fn each_entry_into_shadow_reports_once() {
    let circuit = Circuit::new(Settings::new().threshold(2).must());
    for _ in 0..3 {
        assert_eq!(would(&circuit, &[Outcome::Failure; 9]).len(), 1);
    }
}
