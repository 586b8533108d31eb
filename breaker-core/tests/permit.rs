//! Permits: settled once, also by being dropped, and at which time.

use breaker_core::{Circuit, Effect, ManualClock, OnCancel, Outcome, Settings, State, Trigger};
use std::time::Duration;

const RESET: Duration = Duration::from_secs(30);
const SECOND: u64 = 1_000_000_000;

fn circuit(settings: Settings) -> Circuit {
    Circuit::new(settings.reset(RESET).must())
}

/// Open, its wait over.
fn ready_to_probe(settings: Settings, clock: &ManualClock) -> Circuit {
    let circuit = circuit(settings.threshold(1));
    circuit.admit(clock).unwrap().failure();
    clock.advance(RESET);
    circuit
}

fn retry_after(circuit: &Circuit, now: u64) -> Duration {
    let refused = circuit.admit_at(now).expect_err("admitted");
    refused.retry_after.unwrap()
}

#[test]
fn a_dropped_probe_gives_its_slot_back() {
    let clock = ManualClock::new(0);
    let circuit = ready_to_probe(Settings::new(), &clock);
    for _ in 0..3 {
        let probe = circuit.admit(&clock).unwrap();
        assert!(circuit.admit(&clock).is_err(), "one probe at a time");
        drop(probe);
        assert_eq!(circuit.state(), State::HalfOpen);
    }
    let probe = circuit.admit(&clock).unwrap();
    assert!(matches!(probe.success(), Effect::Closed(_)));
}

#[test]
fn a_dropped_permit_is_neutral_unless_cancelling_is_a_failure() {
    let clock = ManualClock::new(0);
    for (on_cancel, counted) in [(OnCancel::Ignore, 0), (OnCancel::Failure, 1)] {
        let circuit = circuit(Settings::new().threshold(2).on_cancel(on_cancel));
        drop(circuit.admit(&clock).unwrap());
        assert_eq!(circuit.snapshot(&clock).consecutive, counted);
    }
}

#[test]
fn a_dropped_probe_reopens_where_cancelling_is_a_failure() {
    let clock = ManualClock::new(0);
    let circuit = ready_to_probe(Settings::new().on_cancel(OnCancel::Failure), &clock);
    drop(circuit.admit(&clock).unwrap());
    assert_eq!(circuit.state(), State::Open);
    assert_eq!(circuit.snapshot(&clock).reopenings, 1);
}

#[test]
fn a_settled_permit_does_not_count_again_when_it_is_dropped() {
    let settings = Settings::new().threshold(3).on_cancel(OnCancel::Failure);
    let circuit = circuit(settings);
    let clock = ManualClock::new(0);
    assert_eq!(circuit.admit(&clock).unwrap().failure(), Effect::Counted);
    let permit = circuit.admit_at(0).unwrap();
    assert_eq!(permit.settle_at(Outcome::Failure, 0), Effect::Counted);
    assert_eq!(circuit.snapshot(&clock).consecutive, 2);
}

#[test]
fn each_method_settles_as_what_it_is_called() {
    let clock = ManualClock::new(0);
    let circuit = circuit(Settings::new().threshold(2));
    let permit = || circuit.admit(&clock).unwrap();
    assert_eq!(permit().failure(), Effect::Counted);
    assert_eq!(permit().ignore(), Effect::Neutral);
    assert_eq!(circuit.snapshot(&clock).consecutive, 1);
    assert_eq!(permit().success(), Effect::Counted);
    assert_eq!(circuit.snapshot(&clock).consecutive, 0);
    assert_eq!(permit().settle(Outcome::Panicked), Effect::Counted);
    let wait = Duration::from_secs(7);
    let effect = permit().overloaded(wait);
    let change = effect.change().unwrap();
    assert_eq!(
        (change.trigger, change.wait),
        (Trigger::Overloaded, Some(wait))
    );
}

#[test]
fn an_explicit_time_of_settling_is_when_it_opens() {
    let circuit = circuit(Settings::new().threshold(1));
    let permit = circuit.admit_at(5 * SECOND).unwrap();
    permit.settle_at(Outcome::Failure, 9 * SECOND);
    assert_eq!(retry_after(&circuit, 10 * SECOND), Duration::from_secs(29));
}

#[test]
fn without_a_time_of_settling_it_is_that_of_the_admission() {
    let settled = circuit(Settings::new().threshold(1));
    settled.admit_at(5 * SECOND).unwrap().failure();
    assert_eq!(retry_after(&settled, 10 * SECOND), Duration::from_secs(25));

    let dropped = circuit(Settings::new().threshold(1).on_cancel(OnCancel::Failure));
    drop(dropped.admit_at(5 * SECOND).unwrap());
    assert_eq!(retry_after(&dropped, 10 * SECOND), Duration::from_secs(25));
}

#[test]
fn a_permit_of_a_clock_settles_at_the_clocks_time() {
    let clock = ManualClock::new(5 * SECOND);
    let circuit = circuit(Settings::new().threshold(1));
    let permit = circuit.admit(&clock).unwrap();
    clock.advance(Duration::from_secs(4));
    permit.failure();
    assert_eq!(retry_after(&circuit, 10 * SECOND), Duration::from_secs(29));
}

#[test]
fn the_first_permit_of_a_trial_knows_the_change_it_made() {
    let clock = ManualClock::new(0);
    let circuit = ready_to_probe(Settings::new().probes(2), &clock);
    let first = circuit.admit(&clock).unwrap();
    let change = first.change().unwrap();
    assert_eq!((change.from, change.to), (State::Open, State::HalfOpen));
    assert_eq!(change.trigger, Trigger::WaitOver);
    assert_eq!(change.generation, first.generation());
    let second = circuit.admit(&clock).unwrap();
    assert_eq!(second.change(), None);
    assert_eq!(second.generation(), first.generation());
}

#[test]
fn an_old_permit_is_late_however_often_the_state_has_changed() {
    let clock = ManualClock::new(0);
    let circuit = circuit(Settings::new().threshold(1));
    let (success, failure) = (
        circuit.admit(&clock).unwrap(),
        circuit.admit(&clock).unwrap(),
    );
    // The time beside the state knows only the low 13 bits of a generation.
    for _ in 0..1 << 13 {
        circuit.close(&clock);
    }
    assert_eq!(success.success(), Effect::Late);
    assert_eq!(failure.failure(), Effect::Late);
    assert_eq!(circuit.state(), State::Closed);
}
