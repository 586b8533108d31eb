//! Successes that need only one look or one swap, and refusals that need only
//! one look: where there is more to do, it is done.
#![cfg(not(loom))]

use breaker_core::{
    Circuit, Clock, Effect, ManualClock, Outcome, Reason, Settings, Sliding, State, Trigger, Window,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;
const RESET: Duration = Duration::from_secs(30);
/// Generations that look the same in a slot of a window of calls.
const SAME_IN_A_SLOT: u32 = 1 << 20;

fn by_rate(settings: Settings) -> Circuit<Sliding<2>> {
    Circuit::by_rate(settings.must_rate()).unwrap()
}

/// Trips when `rate` of at least `min_calls` fail.
fn of_calls(size: u32, rate: f64, min_calls: u32) -> Circuit<Sliding<2>> {
    let settings = Settings::new().failure_rate(rate).min_calls(min_calls);
    by_rate(settings.window(Window::calls(size)))
}

/// The same of two buckets of a second.
fn of_time(rate: f64, min_calls: u32) -> Circuit<Sliding<2>> {
    let window = Window::time(Duration::from_secs(2)).buckets(2);
    let settings = Settings::new().failure_rate(rate).min_calls(min_calls);
    by_rate(settings.window(window))
}

/// Calls that leave the breaker closed.
fn count(circuit: &Circuit<Sliding<2>>, clock: &ManualClock, times: u32, outcome: Outcome) {
    for time in 0..times {
        let effect = circuit.admit(clock).expect("admitted").settle(outcome);
        assert_eq!(effect, Effect::Counted, "{outcome:?} {time}");
    }
}

fn succeed(circuit: &Circuit<Sliding<2>>, clock: &ManualClock, times: u32) {
    count(circuit, clock, times, Outcome::Success);
}

fn fail(circuit: &Circuit<Sliding<2>>, clock: &ManualClock, times: u32) {
    count(circuit, clock, times, Outcome::Failure);
}

/// A call that trips.
fn assert_trips<C: Clock>(circuit: &Circuit<Sliding<2>>, clock: &C, outcome: Outcome) {
    let effect = circuit.admit(clock).expect("admitted").settle(outcome);
    assert!(matches!(effect, Effect::Tripped(_)), "{effect:?}");
}

#[test]
fn of_a_window_of_calls_each_turn_ends() {
    let clock = ManualClock::new(0);
    for size in 1..=28 {
        let circuit = of_calls(size, 1.0, size);
        // Far beyond what a position could hold.
        for times in [1, size, size + 1, 10_000] {
            succeed(&circuit, &clock, times);
            fail(&circuit, &clock, size - 1);
            succeed(&circuit, &clock, size);
        }
        fail(&circuit, &clock, size - 1);
        assert_trips(&circuit, &clock, Outcome::Failure);
    }
}

#[test]
fn a_success_that_took_a_failures_place_is_put_there_before_the_next_is_counted() {
    let clock = ManualClock::new(0);
    for size in 2..=28 {
        for place in 0..size {
            let circuit = of_calls(size, 1.0, size);
            succeed(&circuit, &clock, place);
            fail(&circuit, &clock, 1);
            // The window is all successes again; none of them is still a failure
            // where it lies.
            succeed(&circuit, &clock, 2 * size);
            fail(&circuit, &clock, size - 1);
            assert_trips(&circuit, &clock, Outcome::Failure);
        }
    }
}

/// A slot knows the low 20 bits of its generation.
#[test]
fn failures_of_a_generation_long_ago_are_in_no_place_of_a_window() {
    for failures in 1..=2 {
        let clock = ManualClock::new(0);
        let circuit = of_calls(3, 1.0, 3);
        fail(&circuit, &clock, failures);
        for _ in 0..SAME_IN_A_SLOT {
            circuit.close(&clock);
        }
        succeed(&circuit, &clock, 3);
        fail(&circuit, &clock, 2);
        assert_trips(&circuit, &clock, Outcome::Failure);
    }
}

/// A head knows the low 12 or 18 bits of its generation.
#[test]
fn a_success_of_a_generation_long_ago_is_late() {
    for circuit in [of_calls(3, 0.5, 3), of_time(0.5, 3)] {
        let clock = ManualClock::new(0);
        let early = circuit.admit(&clock).unwrap();
        for _ in 0..SAME_IN_A_SLOT {
            circuit.close(&clock);
        }
        // So that another success is counted at once.
        succeed(&circuit, &clock, 5);
        assert_eq!(early.success(), Effect::Late);
    }
}

#[test]
fn the_last_of_min_calls_trips_also_where_it_is_a_success() {
    let clock = ManualClock::new(0);
    for circuit in [of_calls(9, 0.5, 3), of_time(0.5, 3)] {
        fail(&circuit, &clock, 2);
        assert_trips(&circuit, &clock, Outcome::Success);
    }
    for circuit in [of_calls(9, 0.3, 3), of_time(0.3, 3)] {
        succeed(&circuit, &clock, 1);
        fail(&circuit, &clock, 1);
        assert_trips(&circuit, &clock, Outcome::Success);
    }
}

#[test]
fn a_success_trips_where_others_have_fallen_out_of_the_window() {
    let clock = ManualClock::new(0);
    let circuit = of_time(0.5, 2);
    succeed(&circuit, &clock, 3);
    clock.set(SECOND);
    fail(&circuit, &clock, 2);
    clock.set(2 * SECOND);
    assert_trips(&circuit, &clock, Outcome::Success);
}

#[test]
fn a_success_is_counted_in_the_bucket_of_its_time() {
    let clock = ManualClock::new(0);
    let circuit = of_time(1.0, 1);
    succeed(&circuit, &clock, 3);
    clock.set(SECOND);
    succeed(&circuit, &clock, 1);
    clock.set(2 * SECOND);
    // The success of a second ago is still in.
    fail(&circuit, &clock, 3);
    clock.set(3 * SECOND);
    assert_trips(&circuit, &clock, Outcome::Failure);
}

#[test]
fn a_success_more_than_a_bucket_holds_empties_it_not() {
    let clock = ManualClock::new(0);
    let circuit = of_time(0.5, 1);
    succeed(&circuit, &clock, (1 << 18) + 1);
    fail(&circuit, &clock, 1_000);
}

#[test]
fn slow_successes_count_as_slow_however_many_fast_ones_were_before() {
    let slow = Duration::from_millis(100);
    let of = |window| {
        let settings = Settings::new().failure_rate(1.0).min_calls(4);
        by_rate(settings.window(window).slow(slow).slow_rate(0.5))
    };
    for window in [
        Window::calls(4),
        Window::time(Duration::from_secs(10)).buckets(1),
    ] {
        let circuit = of(window);
        let clock = ManualClock::new(0);
        let take = |time| {
            let admitted = circuit.try_admit(&clock).unwrap().generation;
            circuit.settle_after(admitted, Outcome::Success, time, &clock)
        };
        for _ in 0..4 {
            assert_eq!(take(slow), Effect::Counted, "as long is not slow");
        }
        let first = (0..4).find_map(|_| take(slow + Duration::from_nanos(1)).change().copied());
        let change = first.expect("tripped");
        assert_eq!((change.trigger, change.failures), (Trigger::SlowRate, 0));
    }
}

/// A clock of which one reading panics.
struct Breaks {
    clock: ManualClock,
    /// Readings until then; 0: never.
    after: AtomicU32,
}

impl Clock for Breaks {
    fn now(&self) -> u64 {
        let left = self.after.load(Ordering::Relaxed);
        self.after.store(left.saturating_sub(1), Ordering::Relaxed);
        assert_ne!(left, 1, "no time");
        self.clock.now()
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

/// The window has judged, and the clock panics before the breaker opens.
#[test]
fn where_a_trip_failed_the_next_success_trips() {
    for well in 0..=2 {
        let clock = Breaks {
            clock: ManualClock::new(0),
            after: AtomicU32::new(0),
        };
        let circuit = of_time(0.5, 2);
        let call = |outcome| circuit.admit(&clock).unwrap().settle(outcome);
        for outcome in [Outcome::Success, Outcome::Failure].repeat(well) {
            assert_eq!(call(Outcome::Success), Effect::Counted);
            assert_eq!(call(outcome), Effect::Counted);
        }
        let breaks_off = || {
            let generation = circuit.try_admit(&clock).unwrap().generation;
            // One reading is for the bucket, the other for the opening.
            clock.after.store(2, Ordering::Relaxed);
            let settle = || circuit.settle(generation, Outcome::Failure, &clock);
            let panicked = catch_unwind(AssertUnwindSafe(settle)).is_err();
            clock.after.store(0, Ordering::Relaxed);
            assert_eq!(circuit.state(), State::Closed);
            panicked
        };
        assert!(
            (0..9).filter(|_| breaks_off()).count() > 1,
            "no trip was tried"
        );
        assert_trips(&circuit, &clock, Outcome::Success);
    }
}

#[test]
fn only_an_open_breaker_refuses_for_the_rest_of_a_wait() {
    let clock = ManualClock::new(0);
    let circuit = Circuit::new(Settings::new().threshold(1).reset(RESET).must());
    circuit.force_open(&clock);
    let refused = circuit.try_admit(&clock).unwrap_err();
    assert_eq!(
        (refused.reason, refused.retry_after),
        (Reason::ForcedOpen, None)
    );
    circuit.disable(&clock);
    assert!(circuit.try_admit(&clock).is_ok());
    circuit.shadow(&clock);
    assert!(circuit.try_admit(&clock).is_ok());
    circuit.open_for(Duration::ZERO, &clock);
    assert!(circuit.try_admit(&clock).is_ok(), "the probe");
    let refused = circuit.try_admit(&clock).unwrap_err();
    assert_eq!(refused.reason, Reason::HalfOpenFull);
}

#[test]
fn a_clock_that_was_set_back_holds_no_breaker_open_for_what_it_lost() {
    let clock = ManualClock::new(1_000 * SECOND);
    let circuit = Circuit::new(Settings::new().threshold(1).reset(RESET).must());
    circuit.admit(&clock).unwrap().failure();
    clock.set(0);
    let refused = circuit.try_admit(&clock).unwrap_err();
    assert_eq!(refused.retry_after, Some(RESET));
    clock.advance(RESET);
    assert!(circuit.try_admit(&clock).is_ok());
}

#[test]
fn a_success_counts_at_once_only_in_the_closed_generation_that_admitted_it() {
    let clock = ManualClock::new(0);
    let circuit = Circuit::new(Settings::new().threshold(1).reset(RESET).must());
    let early = circuit.admit(&clock).unwrap();
    circuit.close(&clock);
    assert_eq!(early.success(), Effect::Late);
    circuit.disable(&clock);
    assert_eq!(circuit.admit(&clock).unwrap().success(), Effect::Neutral);
    circuit.open_for(Duration::ZERO, &clock);
    let probe = circuit.admit(&clock).unwrap();
    assert!(matches!(probe.success(), Effect::Closed(_)));
}
