//! Settings that an operator lays over the declared ones: when they hold, and which are taken.
#![cfg(not(loom))]

use breaker_core::{
    Circuit, Config, ConfigError, LiveConfig, MAX_MIN_CALLS, MAX_PROBES, MAX_PROBES_BY_RATE,
    MAX_THRESHOLD, ManualClock, OnCancel, Outcome, Overrides, Policy, RateConfig, Reason,
    ReconfigureError, Setting, Settings, Sliding, State, Trigger, Window,
};
use core::time::Duration;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn one<P: Policy>(circuit: &Circuit<P>, outcome: Outcome, clock: &ManualClock) {
    circuit.admit(clock).unwrap().settle(outcome);
}

fn many<P: Policy>(circuit: &Circuit<P>, times: u32, outcome: Outcome, clock: &ManualClock) {
    for _ in 0..times {
        one(circuit, outcome, clock);
    }
}

fn by_rate(window: Window) -> (Circuit<Sliding<10>>, ManualClock) {
    let settings = Settings::new()
        .failure_rate(0.9)
        .min_calls(4)
        .window(window);
    (
        Circuit::by_rate(settings.must_rate()).unwrap(),
        ManualClock::new(0),
    )
}

fn open(settings: Settings) -> (Circuit, ManualClock) {
    let circuit = Circuit::new(settings.threshold(1).jitter(0.0).must());
    let clock = ManualClock::new(0);
    one(&circuit, Outcome::Failure, &clock);
    (circuit, clock)
}

fn half_open(settings: Settings) -> (Circuit, ManualClock) {
    let (circuit, clock) = open(settings);
    clock.advance(circuit.config().reset());
    (circuit, clock)
}

fn left<P: Policy>(circuit: &Circuit<P>, clock: &ManualClock) -> Duration {
    circuit.admit(clock).unwrap_err().retry_after.unwrap()
}

#[test]
fn state_generation_and_counts_stay() {
    let (circuit, clock) = (Circuit::new(Config::DEFAULT), ManualClock::new(0));
    many(&circuit, 3, Outcome::Failure, &clock);
    let stood = (circuit.generation(), circuit.snapshot(&clock));
    for overrides in [
        Overrides::new().reset(secs(1)).probes(3),
        Overrides::new().threshold(20),
    ] {
        circuit.reconfigure(&overrides).unwrap();
        assert_eq!((circuit.generation(), circuit.snapshot(&clock)), stood);
    }
    many(&circuit, 16, Outcome::Failure, &clock);
    assert_eq!(circuit.state(), State::Closed);
    one(&circuit, Outcome::Failure, &clock);
    assert_eq!(circuit.state(), State::Open);
}

#[test]
fn overrides_are_replaced_as_a_whole() {
    let circuit = Circuit::new(Config::DEFAULT);
    circuit
        .reconfigure(&Overrides::new().threshold(20))
        .unwrap();
    let changed = circuit.reconfigure(&Overrides::new().probes(2)).unwrap();
    assert_eq!(changed.from.threshold(), 20);
    assert_eq!((changed.to.threshold(), changed.to.probes()), (5, 2));
    assert_eq!(circuit.config(), changed.to);
    assert_eq!(circuit.overrides(), Overrides::new().probes(2));

    let both = Overrides::new().threshold(7).over(circuit.overrides());
    let changed = circuit.reconfigure(&both).unwrap();
    assert_eq!((changed.to.threshold(), changed.to.probes()), (7, 2));
    let none = circuit.reconfigure(&Overrides::new()).unwrap();
    assert_eq!((none.from, none.to), (changed.to, Config::DEFAULT));
    assert_eq!(circuit.clear_overrides(), None);
}

#[test]
fn what_follows_from_another_setting_follows_again() {
    let circuit = Circuit::new(Config::DEFAULT);
    circuit
        .reconfigure(&Overrides::new().probes(3).reset(secs(120)))
        .unwrap();
    assert_eq!(circuit.config().close_after(), Some(3));
    assert_eq!(circuit.config().probe_timeout(), secs(120));

    let declared = Settings::new().close_after(2).probe_timeout(secs(7));
    let circuit = Circuit::new(declared.must());
    circuit
        .reconfigure(&Overrides::new().probes(3).reset(secs(120)))
        .unwrap();
    assert_eq!(circuit.config().close_after(), Some(2));
    assert_eq!(circuit.config().probe_timeout(), secs(7));
}

#[test]
fn what_is_left_of_an_opening_is_measured_by_the_new_wait() {
    let (circuit, clock) = open(Settings::new());
    clock.advance(secs(10));
    assert_eq!(left(&circuit, &clock), secs(20));
    circuit
        .reconfigure(&Overrides::new().reset(secs(60)))
        .unwrap();
    assert_eq!(left(&circuit, &clock), secs(50));
    assert_eq!(circuit.snapshot(&clock).time_left, secs(50));
    circuit
        .reconfigure(&Overrides::new().reset(secs(10)))
        .unwrap();
    assert!(circuit.admit(&clock).is_ok());
    assert_eq!(circuit.state(), State::HalfOpen);
}

#[test]
fn backoff_and_its_cap_too() {
    let (circuit, clock) = open(Settings::new());
    clock.advance(secs(30));
    one(&circuit, Outcome::Failure, &clock);
    assert_eq!(left(&circuit, &clock), secs(30));
    circuit
        .reconfigure(&Overrides::new().backoff(10.0))
        .unwrap();
    assert_eq!(left(&circuit, &clock), secs(300));
    let capped = Overrides::new().backoff(10.0).max_reset(secs(45));
    circuit.reconfigure(&capped).unwrap();
    assert_eq!(left(&circuit, &clock), secs(45));
}

#[test]
fn a_wait_of_its_own_stays_as_it_is() {
    for opens in [Outcome::Overloaded(secs(100)), Outcome::Ignored] {
        let (circuit, clock) = (Circuit::new(Config::DEFAULT), ManualClock::new(0));
        one(&circuit, opens, &clock);
        if circuit.state() == State::Closed {
            circuit.open_for(secs(100), &clock);
        }
        circuit
            .reconfigure(&Overrides::new().reset(secs(1)).max_reset(secs(1)))
            .unwrap();
        assert_eq!(left(&circuit, &clock), secs(100));
    }
}

#[test]
fn a_lowered_rate_trips_at_the_next_outcome_also_at_a_success() {
    for window in [Window::calls(10), Window::time(secs(10))] {
        let (circuit, clock) = by_rate(window);
        many(&circuit, 3, Outcome::Failure, &clock);
        many(&circuit, 5, Outcome::Success, &clock);
        // The window was judged at this moment, and a further success can't trip by what was
        // declared.
        circuit
            .reconfigure(&Overrides::new().failure_rate(0.3))
            .unwrap();
        assert_eq!(circuit.state(), State::Closed);
        one(&circuit, Outcome::Success, &clock);
        assert_eq!(circuit.state(), State::Open, "{window:?}");
    }
}

#[test]
fn what_was_judged_by_a_laxer_rate_is_judged_again_when_it_is_gone() {
    for window in [Window::calls(10), Window::time(secs(10))] {
        let settings = Settings::new()
            .failure_rate(0.3)
            .min_calls(4)
            .window(window);
        let circuit = Circuit::<Sliding<10>>::by_rate(settings.must_rate()).unwrap();
        let clock = ManualClock::new(0);
        many(&circuit, 6, Outcome::Success, &clock);
        circuit
            .reconfigure(&Overrides::new().failure_rate(0.9))
            .unwrap();
        many(&circuit, 3, Outcome::Failure, &clock);
        assert_eq!(circuit.state(), State::Closed);
        circuit.clear_overrides().unwrap();
        // 3 of 10, at the declared 0.3.
        one(&circuit, Outcome::Success, &clock);
        assert_eq!(circuit.state(), State::Open, "{window:?}");
    }
}

#[test]
fn min_calls_count_those_that_were_before() {
    let (circuit, clock) = by_rate(Window::calls(10));
    many(&circuit, 3, Outcome::Failure, &clock);
    circuit.reconfigure(&Overrides::new().min_calls(2)).unwrap();
    one(&circuit, Outcome::Failure, &clock);
    assert_eq!(circuit.state(), State::Open);

    let (circuit, clock) = by_rate(Window::time(secs(10)));
    circuit.reconfigure(&Overrides::new().min_calls(8)).unwrap();
    many(&circuit, 7, Outcome::Failure, &clock);
    assert_eq!(circuit.state(), State::Closed);
    one(&circuit, Outcome::Failure, &clock);
    assert_eq!(circuit.state(), State::Open);
}

#[test]
fn a_call_is_slow_by_what_holds_when_it_ends() {
    for window in [Window::calls(10), Window::time(secs(10))] {
        let settings = Settings::new()
            .failure_rate(1.0)
            .min_calls(2)
            .window(window);
        let settings = settings.slow(secs(5)).slow_rate(0.5);
        let circuit = Circuit::<Sliding<10>>::by_rate(settings.must_rate()).unwrap();
        let clock = ManualClock::new(0);
        let slow = |circuit: &Circuit<Sliding<10>>| {
            let admitted = circuit.try_admit(&clock).unwrap();
            circuit.settle_after(admitted.generation, Outcome::Success, secs(1), &clock)
        };
        for _ in 0..3 {
            slow(&circuit);
        }
        circuit
            .reconfigure(&Overrides::new().slow(ms(999)))
            .unwrap();
        for _ in 0..2 {
            slow(&circuit);
        }
        assert_eq!(circuit.state(), State::Closed);
        let effect = slow(&circuit);
        assert_eq!(
            effect.change().map(|change| change.trigger),
            Some(Trigger::SlowRate)
        );
    }
}

#[test]
fn on_cancel_holds_for_the_calls_in_flight() {
    let circuit = Circuit::new(Settings::new().threshold(1).must());
    let clock = ManualClock::new(0);
    let (ignored, counted) = (
        circuit.admit(&clock).unwrap(),
        circuit.admit(&clock).unwrap(),
    );
    drop(ignored);
    assert_eq!(circuit.state(), State::Closed);
    circuit
        .reconfigure(&Overrides::new().on_cancel(OnCancel::Failure))
        .unwrap();
    drop(counted);
    assert_eq!(circuit.state(), State::Open);
}

#[test]
fn a_trial_goes_on_with_fewer_probes_than_are_in_flight() {
    let (circuit, clock) = half_open(Settings::new().probes(4).close_after(6));
    let mut probes = Vec::from_iter((0..4).map(|_| circuit.admit(&clock).unwrap()));
    circuit
        .reconfigure(&Overrides::new().probes(1).close_after(2))
        .unwrap();
    assert_eq!(
        circuit.admit(&clock).unwrap_err().reason,
        Reason::HalfOpenFull
    );
    probes.pop().unwrap().settle(Outcome::Success);
    assert_eq!(circuit.state(), State::HalfOpen);
    probes.pop().unwrap().settle(Outcome::Success);
    assert_eq!(circuit.state(), State::Closed);
}

#[test]
fn a_trial_that_has_all_its_successes_already_takes_one_more() {
    let (circuit, clock) = half_open(Settings::new().close_after(5));
    many(&circuit, 3, Outcome::Success, &clock);
    assert_eq!(circuit.state(), State::HalfOpen);
    circuit
        .reconfigure(&Overrides::new().close_after(2))
        .unwrap();
    assert_eq!(
        circuit.state(),
        State::HalfOpen,
        "a configuration closes nothing"
    );
    one(&circuit, Outcome::Success, &clock);
    assert_eq!(circuit.state(), State::Closed);
}

#[test]
fn a_trial_by_rate_is_decided_by_all_its_results() {
    // 2 of 4 failed: less than was asked of 3, had these been the first.
    for (results, closes) in [("ffss", false), ("fsss", true)] {
        let (circuit, clock) = half_open(Settings::new().probes(10).close_rate(0.5));
        let (before, last) = results.split_at(3);
        let outcome = |result| match result {
            'f' => Outcome::Failure,
            _ => Outcome::Success,
        };
        for result in before.chars() {
            one(&circuit, outcome(result), &clock);
        }
        circuit.reconfigure(&Overrides::new().probes(2)).unwrap();
        let permit = circuit.admit(&clock).unwrap();
        assert!(circuit.admit(&clock).is_err());
        permit.settle(outcome(last.chars().next().unwrap()));
        let state = if closes { State::Closed } else { State::Open };
        assert_eq!(circuit.state(), state, "{results}");
    }
}

#[test]
fn the_most_probes_there_can_be_never_run_over() {
    let (circuit, clock) = half_open(Settings::new().probes(511));
    let probes = Vec::from_iter((0..511).map(|_| circuit.admit(&clock).unwrap()));
    circuit.reconfigure(&Overrides::new().probes(1)).unwrap();
    assert!(circuit.admit(&clock).is_err());
    circuit
        .reconfigure(&Overrides::new().probes(511).close_after(511))
        .unwrap();
    assert!(circuit.admit(&clock).is_err());
    for probe in probes {
        assert_eq!(circuit.state(), State::HalfOpen);
        probe.settle(Outcome::Success);
    }
    assert_eq!(circuit.state(), State::Closed);
}

#[test]
fn a_trial_whose_probes_never_end_is_given_up_by_the_new_timeout() {
    let (circuit, clock) = half_open(Settings::new());
    std::mem::forget(circuit.admit(&clock).unwrap());
    clock.advance(secs(10));
    assert_eq!(left(&circuit, &clock), secs(50));
    circuit
        .reconfigure(&Overrides::new().probe_timeout(secs(10)))
        .unwrap();
    assert_eq!(
        circuit.admit(&clock).unwrap().change().unwrap().trigger,
        Trigger::ProbeTimedOut
    );
}

#[test]
fn its_own_snapshot_can_be_restored_whatever_the_threshold_has_become() {
    let (circuit, clock) = (Circuit::new(Config::DEFAULT), ManualClock::new(0));
    many(&circuit, 4, Outcome::Failure, &clock);
    circuit.reconfigure(&Overrides::new().threshold(2)).unwrap();
    let snapshot = circuit.snapshot(&clock);
    assert_eq!(snapshot.consecutive, 1);
    circuit.restore(&snapshot, &clock).unwrap();
    one(&circuit, Outcome::Failure, &clock);
    assert_eq!(circuit.state(), State::Open);
}

#[test]
fn clear_forgets_it_and_the_other_orders_keep_it() {
    let (circuit, clock) = (Circuit::new(Config::DEFAULT), ManualClock::new(0));
    let overrides = Overrides::new().threshold(1);
    circuit.reconfigure(&overrides).unwrap();
    circuit.close(&clock);
    circuit.force_open(&clock);
    circuit.disable(&clock);
    circuit.shadow(&clock);
    circuit.open_for(secs(1), &clock);
    circuit.restore(&circuit.snapshot(&clock), &clock).unwrap();
    assert_eq!(circuit.overrides(), overrides);
    assert_eq!(circuit.fresh().overrides(), Overrides::new());
    circuit.clear(&clock);
    assert_eq!(
        (circuit.overrides(), circuit.config()),
        (Overrides::new(), Config::DEFAULT)
    );
}

#[test]
fn jitter_that_was_set_at_run_time_was_set() {
    // Under a clock without entropy the default jitter is off.
    let circuit = Circuit::new(Settings::new().threshold(1).jitter_seed(7).must());
    let clock = ManualClock::new(0);
    one(&circuit, Outcome::Failure, &clock);
    assert_eq!(left(&circuit, &clock), secs(30));
    circuit.reconfigure(&Overrides::new().jitter(1.0)).unwrap();
    circuit.close(&clock);
    one(&circuit, Outcome::Failure, &clock);
    let drawn = left(&circuit, &clock);
    assert!(drawn > secs(30) && drawn < secs(60), "{drawn:?}");
}

fn of_calls() -> RateConfig {
    Settings::new()
        .failure_rate(0.5)
        .window(Window::calls(50))
        .must_rate()
}

/// Each with what was declared, what is refused, why, and the setting that is wrong.
#[test]
fn what_a_breaker_does_not_have_is_refused_and_named() {
    use ReconfigureError as E;
    let o = Overrides::new;
    let timed = Settings::new()
        .failure_rate(0.5)
        .slow(secs(1))
        .slow_rate(0.5);
    let (plain, rate) = (Config::DEFAULT, *of_calls().config());
    let timed = *timed.must_rate().config();
    let by_close_rate = Settings::new().probes(4).close_rate(0.5).must();
    let with_timeout = Settings::new().timeout(secs(20)).must();
    let capped = Settings::new().max_reset(secs(60)).must();
    let config = ReconfigureError::Config;
    let cases = [
        (
            plain,
            o().failure_rate(0.5),
            E::CountsInARow(Setting::FailureRate),
            Setting::FailureRate,
        ),
        (
            plain,
            o().min_calls(5),
            E::CountsInARow(Setting::MinCalls),
            Setting::MinCalls,
        ),
        (
            plain,
            o().slow(secs(1)),
            E::CountsInARow(Setting::Slow),
            Setting::Slow,
        ),
        (
            plain,
            o().slow_rate(0.5),
            E::CountsInARow(Setting::SlowRate),
            Setting::SlowRate,
        ),
        (rate, o().threshold(3), E::TripsByRate, Setting::Threshold),
        (
            rate,
            o().slow(secs(1)),
            E::NotTimed(Setting::Slow),
            Setting::Slow,
        ),
        (
            rate,
            o().slow_rate(0.5),
            E::NotTimed(Setting::SlowRate),
            Setting::SlowRate,
        ),
        (
            plain,
            o().close_rate(0.5),
            E::ClosesAfter,
            Setting::CloseRate,
        ),
        (
            by_close_rate,
            o().close_after(2),
            E::ClosesByRate,
            Setting::CloseAfter,
        ),
        (
            rate,
            o().min_calls(51),
            config(ConfigError::MinCallsAboveWindow),
            Setting::MinCalls,
        ),
        (
            rate,
            o().failure_rate(1.5),
            config(ConfigError::Ratio(Setting::FailureRate)),
            Setting::FailureRate,
        ),
        (
            timed,
            o().slow_rate(f64::NAN),
            config(ConfigError::Ratio(Setting::SlowRate)),
            Setting::SlowRate,
        ),
        (
            timed,
            o().slow(Duration::MAX),
            config(ConfigError::Overflow(Setting::Slow)),
            Setting::Slow,
        ),
        (
            by_close_rate,
            o().probes(256),
            config(ConfigError::TooLarge(Setting::ProbesByRate)),
            Setting::Probes,
        ),
        (
            by_close_rate,
            o().close_rate(0.0),
            config(ConfigError::Ratio(Setting::CloseRate)),
            Setting::CloseRate,
        ),
        (
            with_timeout,
            o().probe_timeout(secs(19)),
            config(ConfigError::TimeoutAboveProbeTimeout),
            Setting::ProbeTimeout,
        ),
        (
            capped,
            o().reset(secs(61)),
            config(ConfigError::MaxResetBelowReset),
            Setting::Reset,
        ),
        (
            capped,
            o().max_reset(secs(29)),
            config(ConfigError::MaxResetBelowReset),
            Setting::MaxReset,
        ),
        (
            plain,
            o().max_reset(Duration::MAX),
            config(ConfigError::Overflow(Setting::MaxReset)),
            Setting::MaxReset,
        ),
        (
            plain,
            o().threshold(0),
            config(ConfigError::ZeroThreshold),
            Setting::Threshold,
        ),
        (
            plain,
            o().threshold(u32::MAX),
            config(ConfigError::TooLarge(Setting::Threshold)),
            Setting::Threshold,
        ),
        (
            plain,
            o().probes(0),
            config(ConfigError::ZeroProbes),
            Setting::Probes,
        ),
        (
            plain,
            o().probes(512),
            config(ConfigError::TooLarge(Setting::Probes)),
            Setting::Probes,
        ),
        (
            plain,
            o().close_after(0),
            config(ConfigError::ZeroCloseAfter),
            Setting::CloseAfter,
        ),
        (
            plain,
            o().close_after(512),
            config(ConfigError::TooLarge(Setting::CloseAfter)),
            Setting::CloseAfter,
        ),
        (
            plain,
            o().reset(Duration::ZERO),
            config(ConfigError::ZeroReset),
            Setting::Reset,
        ),
        (
            plain,
            o().reset(Duration::MAX),
            config(ConfigError::Overflow(Setting::Reset)),
            Setting::Reset,
        ),
        (
            plain,
            o().probe_timeout(Duration::ZERO),
            config(ConfigError::ZeroProbeTimeout),
            Setting::ProbeTimeout,
        ),
        (
            plain,
            o().probe_timeout(Duration::MAX),
            config(ConfigError::Overflow(Setting::ProbeTimeout)),
            Setting::ProbeTimeout,
        ),
        (
            plain,
            o().backoff(0.5),
            config(ConfigError::Backoff),
            Setting::Backoff,
        ),
        (
            plain,
            o().jitter(1.5),
            config(ConfigError::Jitter),
            Setting::Jitter,
        ),
        (
            rate,
            o().min_calls(0),
            config(ConfigError::ZeroMinCalls),
            Setting::MinCalls,
        ),
    ];
    for (declared, overrides, error, setting) in cases {
        assert_eq!(declared.overridden(&overrides), Err(error), "{overrides:?}");
        // Beside one that is right, only the wrong one is a mistake.
        let beside = overrides.on_cancel(OnCancel::Failure);
        let mistakes = Vec::from_iter(declared.mistakes(&beside));
        assert_eq!(mistakes, [(setting, error)]);
        let message = error.to_string();
        assert!(message.contains(&format!("`{setting}`")), "{message}");
    }
}

#[test]
fn every_mistake_is_named_once() {
    let wrong = Overrides::new()
        .threshold(0)
        .failure_rate(2.0)
        .slow(secs(1))
        .reset(Duration::ZERO)
        .jitter(-1.0)
        .probes(3)
        .close_rate(7.0);
    let mistakes = Config::DEFAULT.mistakes(&wrong).map(|(setting, _)| setting);
    let mut mistakes = Vec::from_iter(mistakes);
    mistakes.sort();
    let mut expected = [
        Setting::Threshold,
        Setting::FailureRate,
        Setting::Slow,
        Setting::Reset,
        Setting::Jitter,
        Setting::CloseRate,
    ];
    expected.sort();
    assert_eq!(mistakes, expected);
}

#[test]
fn the_largest_values_are_kept_whole() {
    let longest = Duration::from_nanos(u64::MAX);
    let all = Overrides::new()
        .reset(longest)
        .max_reset(longest)
        .probe_timeout(longest)
        .backoff(f64::MAX)
        .jitter(1.0)
        .on_cancel(OnCancel::Failure);
    let in_a_row = all
        .threshold(MAX_THRESHOLD)
        .probes(MAX_PROBES)
        .close_after(MAX_PROBES);
    let by_rate = all
        .failure_rate(1.0)
        .min_calls(MAX_MIN_CALLS)
        .slow(longest)
        .slow_rate(1.0);
    let share = all.threshold(1).probes(MAX_PROBES_BY_RATE).close_rate(1.0);
    let timed = Settings::new()
        .failure_rate(0.5)
        .window(Window::time(secs(10)))
        .slow(secs(1))
        .slow_rate(0.5);
    for (declared, overrides) in [
        (Config::DEFAULT, in_a_row),
        (*timed.must_rate().config(), by_rate),
        (Settings::new().close_rate(0.5).must(), share),
    ] {
        let live = LiveConfig::new(declared);
        let told = live.reconfigure(&overrides).unwrap();
        assert_eq!(live.config(), told.to);
        assert_eq!(live.overrides(), overrides);
        for (setting, value) in overrides.iter() {
            // The longest is none.
            let kept = (setting != Setting::MaxReset).then_some(value);
            assert_eq!(live.config().get(setting), kept, "{setting}");
        }
    }
}
