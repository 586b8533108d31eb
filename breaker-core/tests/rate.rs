//! Trips by rate, over both kinds of windows.

use breaker_core::{
    Circuit, ConfigError, Effect, ManualClock, Outcome, RateConfig, Setting, Settings, Sliding,
    State, Trigger, Window,
};
use std::time::Duration;

const MILLI: Duration = Duration::from_millis(1);

fn by_rate(settings: Settings) -> Circuit<Sliding<293>> {
    let settings = settings.reset(MILLI).jitter(0.0);
    Circuit::by_rate(settings.build_rate().unwrap()).unwrap()
}

/// One call at the clock's time that takes no time.
fn call(circuit: &Circuit<Sliding<293>>, clock: &ManualClock, outcome: Outcome) -> Effect {
    circuit.admit(clock).expect("admitted").settle(outcome)
}

fn tripped(effect: Effect) -> Option<(Trigger, u32)> {
    effect
        .change()
        .map(|change| (change.trigger, change.failures))
}

#[test]
fn a_window_of_calls_forgets_the_oldest() {
    for size in [1, 2, 13, 14, 15, 28, 100] {
        let settings = Settings::new()
            .failure_rate(1.0)
            .window(Window::calls(size));
        let circuit = by_rate(settings.min_calls(size));
        let clock = ManualClock::new(0);
        // However often: one success in the window keeps it closed.
        for turn in 0..5 {
            assert_eq!(
                call(&circuit, &clock, Outcome::Success),
                Effect::Counted,
                "{size} {turn}"
            );
            for _ in 1..size {
                assert_eq!(call(&circuit, &clock, Outcome::Failure), Effect::Counted);
            }
        }
        let last = tripped(call(&circuit, &clock, Outcome::Failure));
        assert_eq!(last, Some((Trigger::FailureRate, size)), "{size}");
    }
}

#[test]
fn a_window_is_empty_each_time_the_breaker_closes() {
    let windows = [
        Window::calls(40),
        Window::time(Duration::from_secs(10)).buckets(5),
    ];
    for window in windows {
        let circuit = by_rate(
            Settings::new()
                .failure_rate(0.5)
                .window(window)
                .min_calls(10),
        );
        let clock = ManualClock::new(0);
        for _ in 0..50 {
            for _ in 0..9 {
                assert_eq!(call(&circuit, &clock, Outcome::Failure), Effect::Counted);
            }
            circuit.close(&clock);
        }
        for _ in 0..9 {
            call(&circuit, &clock, Outcome::Failure);
        }
        assert!(tripped(call(&circuit, &clock, Outcome::Failure)).is_some());
    }
}

#[test]
fn samples_of_an_outcome_that_comes_late_do_not_enter_the_next_window() {
    for window in [Window::calls(4), Window::time(Duration::from_secs(10))] {
        let circuit = by_rate(
            Settings::new()
                .failure_rate(0.5)
                .window(window)
                .min_calls(2),
        );
        let clock = ManualClock::new(0);
        let late: Vec<_> = (0..10).map(|_| circuit.admit(&clock).unwrap()).collect();
        circuit.close(&clock);
        for permit in late {
            assert_eq!(permit.failure(), Effect::Late);
        }
        assert_eq!(
            call(&circuit, &clock, Outcome::Failure),
            Effect::Counted,
            "the first"
        );
    }
}

#[test]
fn a_window_of_time_slides_by_buckets() {
    let window = Window::time(Duration::from_secs(1)).buckets(10);
    let circuit = by_rate(
        Settings::new()
            .failure_rate(0.5)
            .window(window)
            .min_calls(3),
    );
    let clock = ManualClock::new(0);
    let at = |ms: u64| clock.set(ms * 1_000_000);
    for ms in [0, 99, 1_000, 1_099, 2_000, 2_199] {
        at(ms);
        assert_eq!(
            call(&circuit, &clock, Outcome::Failure),
            Effect::Counted,
            "{ms}"
        );
    }
    // Those of 2,000 and 2,199 are still in.
    at(2_999);
    assert!(tripped(call(&circuit, &clock, Outcome::Failure)).is_some());
}

#[test]
fn samples_do_not_come_back_after_any_gap() {
    let window = Window::time(Duration::from_millis(10)).buckets(10);
    let clock = ManualClock::new(0);
    let circuit = by_rate(
        Settings::new()
            .failure_rate(0.5)
            .window(window)
            .min_calls(2),
    );
    let mut now = 0;
    // Every power of two and what is around it: also where numbers wrap.
    for gap in (4..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]) {
        let gap = gap.max(11).saturating_mul(1_000_000);
        let Some(next) = u64::checked_add(now, gap) else {
            continue;
        };
        now = next;
        clock.set(now);
        assert_eq!(
            call(&circuit, &clock, Outcome::Failure),
            Effect::Counted,
            "gap {gap}"
        );
    }
    // Sparse calls of any period, for long: no bucket that nobody cleared.
    for period in [10_u64, 11, 13, 20, 30, 1_024, 10_240] {
        for _ in 0..20_000 {
            now = now.wrapping_add(period * 1_000_000);
            clock.set(now);
            assert_eq!(
                call(&circuit, &clock, Outcome::Failure),
                Effect::Counted,
                "{period}"
            );
        }
    }
}

#[test]
fn a_bucket_that_nobody_fills_again_does_not_come_back_by_its_turn() {
    let window = Window::time(Duration::from_millis(10)).buckets(10);
    let circuit = by_rate(
        Settings::new()
            .failure_rate(1.0)
            .window(window)
            .min_calls(5),
    );
    let clock = ManualClock::new(0);
    // Every bucket holds a failure; the success keeps it closed.
    assert_eq!(call(&circuit, &clock, Outcome::Success), Effect::Counted);
    for ms in 0..10 {
        clock.set(ms * 1_000_000);
        assert_eq!(call(&circuit, &clock, Outcome::Failure), Effect::Counted);
    }
    // From now on all calls fall into the place of the first bucket, whose
    // success is out with the next turn.
    clock.set(10_000_000);
    assert_eq!(call(&circuit, &clock, Outcome::Success), Effect::Counted);
    for turn in 2..5_000 {
        clock.set(turn * 10_000_000);
        assert_eq!(
            call(&circuit, &clock, Outcome::Failure),
            Effect::Counted,
            "turn {turn}"
        );
    }
}

#[test]
fn a_clock_that_swings_between_its_ends_neither_loses_nor_keeps_samples_for_ever() {
    let window = Window::time(Duration::from_millis(10)).buckets(10);
    let circuit = by_rate(
        Settings::new()
            .failure_rate(1.0)
            .window(window)
            .min_calls(3),
    );
    let clock = ManualClock::new(0);
    for _ in 0..100 {
        // Set back: the samples stay; far ahead: they are gone.
        clock.set(u64::MAX);
        assert_eq!(call(&circuit, &clock, Outcome::Failure), Effect::Counted);
        clock.set(0);
        assert_eq!(call(&circuit, &clock, Outcome::Failure), Effect::Counted);
        assert_eq!(call(&circuit, &clock, Outcome::Ignored), Effect::Neutral);
    }
    clock.set(1);
    assert!(tripped(call(&circuit, &clock, Outcome::Failure)).is_some());
}

#[test]
fn a_full_bucket_keeps_its_ratio() {
    let window = Window::time(Duration::from_secs(10)).buckets(1);
    let circuit = by_rate(
        Settings::new()
            .failure_rate(0.5)
            .window(window)
            .min_calls(131_071),
    );
    let clock = ManualClock::new(0);
    // Two of five fail, for far longer than a bucket can count.
    for turn in 0..200_000 {
        for outcome in 0..5 {
            let failed = outcome % 2 == 1;
            let outcome = if failed {
                Outcome::Failure
            } else {
                Outcome::Success
            };
            assert_eq!(call(&circuit, &clock, outcome), Effect::Counted, "{turn}");
        }
    }
    let until = (0..).find(|_| tripped(call(&circuit, &clock, Outcome::Failure)).is_some());
    // x / (n + x) = 1/2 - 2/5 ... : a quarter of what the bucket held.
    assert!((20_000..100_000).contains(&until.unwrap()));
}

#[test]
fn slow_calls_trip_alone_and_exactly_as_slow_is_not_slow() {
    let settings = Settings::new()
        .failure_rate(1.0)
        .window(Window::calls(4))
        .min_calls(2);
    let circuit = by_rate(settings.slow(100 * MILLI).slow_rate(0.5));
    let clock = ManualClock::new(0);
    let take = |time| {
        let permit = circuit.admit(&clock).unwrap();
        clock.advance(time);
        permit.success()
    };
    assert_eq!(take(100 * MILLI), Effect::Counted);
    assert_eq!(take(100 * MILLI), Effect::Counted);
    let slow = take(100 * MILLI + Duration::from_nanos(1));
    assert_eq!(slow, Effect::Counted, "one of three");
    assert_eq!(tripped(take(101 * MILLI)), Some((Trigger::SlowRate, 0)));
}

#[test]
fn senseless_rates_are_refused_by_their_name() {
    let rate = || Settings::new().failure_rate(0.5);
    let time = |length, buckets| Window::time(length).buckets(buckets);
    let sec = Duration::from_secs(1);
    let too_long = Duration::new(u64::MAX, 0);
    let cases: Vec<(Settings, ConfigError)> = vec![
        (Settings::new(), ConfigError::NoFailureRate),
        (rate().threshold(5), ConfigError::ThresholdWithFailureRate),
        (
            Settings::new().threshold(5).slow(sec).slow_rate(0.5),
            ConfigError::NoFailureRate,
        ),
        (rate().min_calls(0), ConfigError::ZeroMinCalls),
        (rate().window(Window::calls(0)), ConfigError::ZeroWindow),
        (
            rate().window(Window::time(Duration::ZERO)),
            ConfigError::ZeroWindow,
        ),
        (rate().window(time(sec, 0)), ConfigError::ZeroBuckets),
        (
            rate().window(time(sec, 129)),
            ConfigError::TooLarge(Setting::Buckets),
        ),
        (
            rate().window(time(9 * MILLI, 10)),
            ConfigError::BucketTooShort,
        ),
        (
            rate().window(Window::time(too_long)),
            ConfigError::Overflow(Setting::Window),
        ),
        (
            rate().window(Window::calls(4_096)),
            ConfigError::TooLarge(Setting::Window),
        ),
        (
            rate().window(Window::calls(9)).min_calls(10),
            ConfigError::MinCallsAboveWindow,
        ),
        (
            rate().window(Window::time(sec)).min_calls(131_072),
            ConfigError::TooLarge(Setting::MinCalls),
        ),
        (rate().slow(sec), ConfigError::SlowWithoutSlowRate),
        (rate().slow_rate(0.5), ConfigError::SlowRateWithoutSlow),
        (
            rate().slow(too_long).slow_rate(0.5),
            ConfigError::Overflow(Setting::Slow),
        ),
        (
            rate().slow(sec).slow_rate(0.0),
            ConfigError::Ratio(Setting::SlowRate),
        ),
        (
            rate().slow(sec).slow_rate(f64::NAN),
            ConfigError::Ratio(Setting::SlowRate),
        ),
        (
            Settings::new().failure_rate(1.1),
            ConfigError::Ratio(Setting::FailureRate),
        ),
        (
            Settings::new().failure_rate(f64::NAN),
            ConfigError::Ratio(Setting::FailureRate),
        ),
        (rate().reset(Duration::ZERO), ConfigError::ZeroReset),
    ];
    for (settings, error) in cases {
        assert_eq!(settings.build_rate().map(drop), Err(error), "{settings:?}");
    }
    assert_eq!(rate().build(), Err(ConfigError::RateNotWanted));
    let hundred: RateConfig = rate().must_rate();
    assert_eq!(
        Circuit::<Sliding<7>>::by_rate(hundred).map(drop),
        Err(ConfigError::TooFewSlots)
    );
    assert!(Circuit::<Sliding<8>>::by_rate(hundred).is_ok());
}

#[test]
fn a_snapshot_by_rate_has_no_failures_in_a_row() {
    let circuit = by_rate(Settings::new().failure_rate(0.5));
    let clock = ManualClock::new(0);
    call(&circuit, &clock, Outcome::Failure);
    let mut snapshot = circuit.snapshot(&clock);
    assert_eq!((snapshot.state, snapshot.consecutive), (State::Closed, 0));
    // From a breaker that counts in a row: it means nothing here.
    snapshot.consecutive = 1_000_000;
    circuit.restore(&snapshot, &clock).unwrap();
    assert_eq!(circuit.snapshot(&clock).consecutive, 0);
}

/// Plain threads, many calls: the counts stay the sum of what the window holds.
#[test]
fn threads_that_count_at_once_leave_a_window_that_adds_up() {
    for window in [
        Window::calls(7),
        Window::calls(64),
        Window::time(Duration::from_secs(3_600)),
    ] {
        // Never reached by the threads: one of ten calls fails.
        let settings = Settings::new()
            .failure_rate(1.0)
            .window(window)
            .min_calls(5);
        let circuit = by_rate(settings);
        let clock = ManualClock::new(0);
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for turn in 0..50_000 {
                        let failed = turn % 10 == 0;
                        let outcome = if failed {
                            Outcome::Failure
                        } else {
                            Outcome::Success
                        };
                        call(&circuit, &clock, outcome);
                    }
                });
            }
        });
        if window == Window::calls(7) || window == Window::calls(64) {
            // A window full of failures trips at the last of them, not before.
            let size = if window == Window::calls(7) { 7 } else { 64 };
            for _ in 0..size {
                call(&circuit, &clock, Outcome::Success);
            }
            for _ in 1..size {
                assert_eq!(call(&circuit, &clock, Outcome::Failure), Effect::Counted);
            }
            let last = tripped(call(&circuit, &clock, Outcome::Failure));
            assert_eq!(last, Some((Trigger::FailureRate, size)));
        }
    }
}

#[test]
fn a_trip_says_what_its_window_held() {
    let windows = [
        Window::calls(40),
        Window::time(Duration::from_secs(10)).buckets(5),
    ];
    for window in windows {
        let settings = Settings::new()
            .failure_rate(0.5)
            .window(window)
            .min_calls(4);
        let settings = settings.slow(MILLI).slow_rate(0.75);
        let held = |effect: Effect| {
            let change = *effect.change().expect("a change");
            (change.failures, change.calls, change.slow)
        };
        let slow = |circuit: &Circuit<Sliding<293>>, clock: &ManualClock, outcome| {
            let permit = circuit.admit(clock).expect("admitted");
            clock.advance(2 * MILLI);
            permit.settle(outcome)
        };
        let clock = ManualClock::new(0);
        let by_failures = by_rate(settings);
        slow(&by_failures, &clock, Outcome::Failure);
        call(&by_failures, &clock, Outcome::Success);
        call(&by_failures, &clock, Outcome::Success);
        let tripped = call(&by_failures, &clock, Outcome::Failure);
        assert_eq!(held(tripped), (2, 4, 1));
        // A trial has no window.
        clock.advance(Duration::from_secs(1));
        let reopened = call(&by_failures, &clock, Outcome::Failure);
        assert_eq!(held(reopened), (1, 0, 0));

        let by_slow = by_rate(settings);
        call(&by_slow, &clock, Outcome::Failure);
        for _ in 0..2 {
            slow(&by_slow, &clock, Outcome::Success);
        }
        let tripped = slow(&by_slow, &clock, Outcome::Success);
        assert_eq!(held(tripped), (1, 4, 3));
    }
    let in_a_row: Circuit = Circuit::new(Settings::new().threshold(1).must());
    let clock = ManualClock::new(0);
    let effect = in_a_row.admit(&clock).expect("admitted").failure();
    let change = effect.change().expect("a trip");
    assert_eq!((change.failures, change.calls, change.slow), (1, 0, 0));
}
