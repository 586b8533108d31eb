//! Random configurations and random histories: the breaker against a plain
//! model of the contract, and rules that hold whatever happens.
//!
//! `BREAKER_HISTORIES=1000000 cargo test --release -p breaker-core --test properties`
//! plays so many histories of each property (fewer of those that are long);
//! without it some thousands.
//! A history that failed is tried first from then on: its seed is kept in
//! `properties.regressions`.
#![cfg(not(loom))]

#[path = "properties/compare.rs"]
mod compare;
#[path = "properties/history.rs"]
mod history;
#[path = "properties/limits.rs"]
mod limits;
#[path = "properties/model.rs"]
mod model;
#[path = "properties/overrides.rs"]
mod overrides;
#[path = "properties/recovery.rs"]
mod recovery;
#[path = "properties/rules.rs"]
mod rules;
#[path = "properties/untrusted.rs"]
mod untrusted;
#[path = "properties/world.rs"]
mod world;

use breaker_core::{
    Circuit, ConfigError, Effect, LiveConfig, Outcome, Policy, ReconfigureError, Settings, Sliding,
    Snapshot, State,
};
use compare::Compare;
use history::{Act, Grain, Life, Move, Step, calls, lives, reconfigured, steps};
use limits::{OpenTimes, Trials, Unwatched};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{FileFailurePersistence, RngAlgorithm};
use recovery::{Healthy, recovers};
use rules::{
    Built, MICRO, MILLI, Rate, Rules, SECOND, Share, Span, Trip, Widest, by_rate, in_a_row,
    jittered, plain, windows,
};
use std::time::Duration;
use world::{Check, TestClock, Watcher, World};

/// What most properties play where `BREAKER_HISTORIES` says nothing.
const NORMALLY: u32 = 5_000;

/// So many histories of a property, or more in proportion.
fn histories(normally: u32) -> ProptestConfig {
    let most = match std::env::var("BREAKER_HISTORIES") {
        Err(_) => NORMALLY,
        Ok(number) => number.parse().expect("BREAKER_HISTORIES is a number"),
    };
    let cases = u64::from(most) * u64::from(normally) / u64::from(NORMALLY);
    let cases = u32::try_from(cases.max(1)).unwrap_or(u32::MAX);
    const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/properties.regressions");
    ProptestConfig {
        cases,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(KEPT))),
        max_shrink_iters: 20_000,
        // ChaCha, not optimised, would take most of the time.
        rng_algorithm: RngAlgorithm::XorShift,
        ..ProptestConfig::default()
    }
}

/// Does something with a breaker, by whichever policy.
macro_rules! with {
    ($built:expr, $circuit:ident => $body:expr) => {
        match $built {
            Built::InARow($circuit) => {
                let $circuit: &Circuit = $circuit;
                $body
            }
            Built::Rate($circuit) => {
                let $circuit: &Circuit<Widest> = $circuit;
                $body
            }
        }
    };
}

/// Plays lives one after the other, each with a watcher of its own.
fn watch<W: Watcher>(
    lives: &[Life],
    clock: &TestClock,
    grain: Grain,
    watcher: impl Fn(&Rules) -> W,
) -> Check {
    let mut snapshots = Vec::new();
    for life in lives {
        let mut watcher = watcher(&life.rules);
        with!(&life.rules.build(), circuit => {
            let mut world = World::new(circuit, clock, grain);
            let played = world.play(&life.steps, &mut snapshots, &mut watcher);
            world.forget_calls();
            played
        })?;
    }
    Ok(())
}

fn compare(lives: &[Life], clock: &TestClock, grain: Grain) -> Check {
    watch(lives, clock, grain, |rules| {
        Compare::new(rules.clone(), clock.resolution)
    })
}

/// Clocks that are coarse, or that have entropy for the jitter.
fn clocks() -> impl Strategy<Value = (u64, Option<u64>)> {
    let resolution = prop_oneof![
        4 => Just(0),
        2 => select(vec![1, MICRO, 4 * MILLI, SECOND, u64::MAX]),
    ];
    (resolution, any::<Option<u64>>())
}

fn clock((resolution, entropy): (u64, Option<u64>)) -> TestClock {
    TestClock {
        resolution,
        entropy,
        ..TestClock::default()
    }
}

fn either() -> BoxedStrategy<Trip> {
    prop_oneof![in_a_row(), by_rate()].boxed()
}

fn healthy() -> impl Strategy<Value = Healthy> {
    let took = prop_oneof![Just(0), 1..=100 * MILLI, Just(u64::MAX)];
    (took, any::<bool>()).prop_map(|(took, at_once)| Healthy { took, at_once })
}

proptest! {
    #![proptest_config(histories(NORMALLY))]

    #[test]
    fn failures_in_a_row_are_as_the_model_says(lives in lives(plain(in_a_row()), 40)) {
        compare(&lives, &TestClock::default(), Grain::TenMicros)?;
    }

    #[test]
    fn a_policy_chosen_at_run_time_is_as_the_model_says(
        rules in plain(either()),
        steps in steps(40),
    ) {
        let clock = TestClock::default();
        let circuit = rules.choose();
        for circuit in [&circuit.fresh(), &circuit] {
            let mut watcher = Compare::new(rules.clone(), clock.resolution);
            let mut world = World::new(circuit, &clock, Grain::TenMicros);
            let played = world.play(&steps, &mut Vec::new(), &mut watcher);
            world.forget_calls();
            played?;
        }
    }

    #[test]
    fn rates_are_as_the_model_says(lives in lives(plain(by_rate()), 40)) {
        compare(&lives, &TestClock::default(), Grain::TenMicros)?;
    }

    #[test]
    fn windows_slide_as_the_model_says(rules in windows(), steps in calls(40)) {
        compare(&[Life { rules, steps }], &TestClock::default(), Grain::Nano)?;
    }

    // Any nanosecond, any resolution, with jitter: no call is admitted before
    // the wait is over, or refused by more than the documented rounding after.
    #[test]
    fn at_any_nanosecond_no_wait_ends_early_or_much_too_late(
        lives in lives(jittered(either()), 25),
        by in clocks(),
    ) {
        compare(&lives, &clock(by), Grain::Nano)?;
    }

    #[test]
    fn a_trial_never_has_more_probes_than_it_may(
        lives in lives(plain(either()), 40),
        by in clocks(),
    ) {
        watch(&lives, &clock(by), Grain::Nano, |rules| Trials::new(rules.clone()))?;
    }

    #[test]
    fn nobody_is_admitted_before_an_opening_is_over(
        lives in lives(jittered(either()), 40),
        by in clocks(),
    ) {
        watch(&lives, &clock(by), Grain::Nano, OpenTimes::new)?;
    }

    #[test]
    fn reconfigured_it_goes_on_as_the_model_says(
        rules in plain(either()),
        steps in reconfigured(40),
    ) {
        compare(&[Life { rules, steps }], &TestClock::default(), Grain::TenMicros)?;
    }

    #[test]
    fn it_always_recovers(
        rules in jittered(either()),
        steps in steps(25),
        by in clocks(),
        calls_are_forgotten in any::<bool>(),
        healthy in healthy(),
    ) {
        with!(&rules.build(), circuit => {
            survives(circuit, &steps, &clock(by), calls_are_forgotten, healthy)
        })?;
    }

    #[test]
    fn reconfigured_it_always_recovers(
        rules in jittered(either()),
        steps in reconfigured(30),
        by in clocks(),
        calls_are_forgotten in any::<bool>(),
        healthy in healthy(),
    ) {
        with!(&rules.build(), circuit => {
            survives(circuit, &steps, &clock(by), calls_are_forgotten, healthy)
        })?;
    }
}

proptest! {
    #![proptest_config(histories(2_500))]

    #[test]
    fn no_snapshot_does_harm(
        rules in jittered(either()),
        steps in steps(6),
        snapshot in untrusted::snapshots(),
        by in clocks(),
        healthy in healthy(),
    ) {
        let clock = clock(by);
        with!(&rules.build(), circuit => {
            let mut watcher = Compare::new(rules.clone(), clock.resolution);
            let mut world = World::new(circuit, &clock, Grain::Nano);
            let restore = Act::RestoreThis(snapshot).at_once();
            let steps = [&steps[..], &[restore]].concat();
            let played = world.play(&steps, &mut Vec::new(), &mut watcher);
            world.forget_calls();
            played?;
            recovers(circuit, &clock, healthy)?;
            is_not_wedged(circuit, &clock, healthy)
        })?;
    }

    #[test]
    fn no_settings_do_harm(
        raw in untrusted::settings(),
        steps in steps(10),
        by in clocks(),
        healthy in healthy(),
    ) {
        let clock = clock(by);
        let settings = raw.settings();
        match settings.build() {
            Err(error) => prop_assert!(raw.broken().contains(&error), "{error:?}"),
            Ok(config) => {
                prop_assert_eq!(raw.broken(), []);
                survives(&Circuit::new(config), &steps, &clock, true, healthy)?;
            }
        }
        match settings.build_rate() {
            Err(error) => prop_assert!(raw.broken_by_rate().contains(&error), "{error:?}"),
            Ok(config) => {
                prop_assert_eq!(raw.broken_by_rate(), []);
                let small = Circuit::<Sliding<3>>::by_rate(config);
                let expected = (config.slots() > 3).then_some(ConfigError::TooFewSlots);
                prop_assert_eq!(small.err(), expected);
                let circuit = Circuit::<Widest>::by_rate(config);
                survives(&circuit.expect("wide enough"), &steps, &clock, true, healthy)?;
            }
        }
    }
}

proptest! {
    #![proptest_config(histories(40_000))]

    // Also as it is read from the words in which it is kept.
    #[test]
    fn what_is_overridden_is_as_if_it_had_been_declared(
        declared in untrusted::settings(),
        over in untrusted::settings(),
    ) {
        let (settings, merged) = (declared.settings(), declared.with_declared(&over).settings());
        let by_rate = |settings: Settings| settings.build_rate().map(|rate| *rate.config());
        for (config, merged) in [
            (settings.build(), merged.build()),
            (by_rate(settings), by_rate(merged)),
        ] {
            let Ok(config) = config else { continue };
            let (live, overrides) = (LiveConfig::new(config), over.overrides());
            match live.reconfigure(&overrides) {
                Ok(changed) => {
                    prop_assert_eq!(Ok(changed.to), merged);
                    prop_assert_eq!(changed.from, config);
                    prop_assert_eq!((live.config(), live.overrides()), (changed.to, overrides));
                    let cleared = live.clear_overrides();
                    prop_assert_eq!(cleared.is_some(), !overrides.is_empty());
                }
                Err(ReconfigureError::Config(error)) => prop_assert_eq!(Err(error), merged),
                // Declared so, it would be another kind of breaker.
                Err(error) => {
                    let [setting] = error.settings() else { panic!("{error:?}") };
                    prop_assert!(overrides.get(*setting).is_some(), "{error:?}");
                }
            }
            prop_assert_eq!(live.config(), config);
            for (setting, error) in config.mistakes(&overrides) {
                prop_assert!(error.settings().contains(&setting), "{setting}: {error:?}");
            }
            let mistaken = config.mistakes(&overrides);
            let taken = mistaken.fold(overrides, |left, (setting, _)| left.without(setting));
            prop_assert!(config.overridden(&taken).is_ok(), "{taken:?}");
        }
    }
}

/// A history, then health, then an operator: it works on.
fn survives<P: Policy>(
    circuit: &Circuit<P>,
    steps: &[Step],
    clock: &TestClock,
    calls_are_forgotten: bool,
    healthy: Healthy,
) -> Check {
    let mut world = World::new(circuit, clock, Grain::Nano);
    let played = world.play(steps, &mut Vec::new(), &mut Unwatched);
    if calls_are_forgotten {
        world.forget_calls();
    } else {
        world.drop_calls();
    }
    played?;
    recovers(circuit, clock, healthy)?;
    is_not_wedged(circuit, clock, healthy)
}

/// An operator closes it and it works; it opens and it recovers.
fn is_not_wedged<P: Policy>(circuit: &Circuit<P>, clock: &TestClock, healthy: Healthy) -> Check {
    circuit.close(clock);
    prop_assert_eq!(circuit.state(), State::Closed);
    let nothing = Snapshot {
        state: State::Closed,
        time_left: Duration::ZERO,
        imposed: false,
        consecutive: 0,
        reopenings: 0,
    };
    prop_assert_eq!(circuit.snapshot(clock), nothing);
    let permit = circuit.admit(clock);
    prop_assert!(permit.is_ok(), "{permit:?}");
    let opens = Outcome::Overloaded(Duration::from_millis(1));
    let effect = permit.map(|permit| permit.settle(opens));
    prop_assert_eq!(circuit.state(), State::Open, "{:?}", effect);
    recovers(circuit, clock, healthy)
}

proptest! {
    // Long ones: each of these takes as long as a thousand of the others.
    #![proptest_config(histories(12))]

    // One bucket is left with failures; it is passed over, again and again.
    #[test]
    fn nothing_comes_back_to_a_window_of_time_however_often_it_turns(
        buckets in 2..=6_u32,
        failures in 1..=11_u32,
        step in 1..=6_u64,
        steps in 1_500..=2_500_usize,
    ) {
        let rate = Rate {
            failures: Share(5_000),
            span: Span::Time { bucket: MILLI, buckets },
            min_calls: failures + 1,
            slow: None,
        };
        let rules = Rules::of_a_second(Trip::Rate(rate));
        let after = |millis: u64, act| Step { time: Move::On(millis * MILLI), act };
        let success = after(step.min(buckets.into()), Act::calls(1, Outcome::Success));
        let mut played = vec![
            Act::calls(failures, Outcome::Failure).at_once(),
            after(1, Act::calls(50, Outcome::Success)),
        ];
        played.extend(vec![success; steps]);
        compare(&[Life { rules, steps: played }], &TestClock::default(), Grain::TenMicros)?;
    }

    #[test]
    fn the_largest_windows_of_calls_forget_too(
        share in select(vec![2_500, 5_000, 5_001]).prop_map(Share),
        size in select(vec![4_076, 4_077, 4_094, 4_095]),
        first in 1..=4_200_u32,
        then in 1..=4_200_u32,
    ) {
        let rate = Rate {
            failures: share,
            span: Span::Calls(size),
            min_calls: size,
            slow: None,
        };
        let rules = Rules::of_a_second(Trip::Rate(rate));
        let steps = vec![
            Act::calls(first, Outcome::Success),
            Act::calls(first.min(then) / 3, Outcome::Failure),
            Act::calls(then, Outcome::Success),
            Act::calls(size, Outcome::Failure),
        ];
        let steps = steps.into_iter().map(Act::at_once).collect();
        compare(&[Life { rules, steps }], &TestClock::default(), Grain::TenMicros)?;
    }
}

#[test]
fn a_window_of_calls_holds_nothing_of_an_earlier_generation() {
    holds_nothing_of_an_earlier_generation(Span::Calls(100));
}

#[test]
fn a_window_of_time_holds_nothing_of_an_earlier_generation() {
    holds_nothing_of_an_earlier_generation(Span::Time {
        bucket: MILLI,
        buckets: 10,
    });
}

/// Generations are numbered by 26 bits, and nothing may tell them apart by
/// fewer: neither a window nor a permit.
fn holds_nothing_of_an_earlier_generation(span: Span) {
    let rate = Rate {
        failures: Share(10_000),
        span,
        min_calls: 10,
        slow: None,
    };
    let Built::Rate(circuit) = Rules::of_a_second(Trip::Rate(rate)).build() else {
        unreachable!("it is by rate");
    };
    let clock = TestClock::default();
    for bits in 0..=19 {
        let early = circuit.admit(&clock).expect("closed");
        for _ in 0..9 {
            let permit = circuit.admit(&clock).expect("closed");
            let effect = permit.settle(Outcome::Failure);
            assert_eq!(effect, Effect::Counted, "before 2^{bits} generations");
        }
        for _ in 0..1 << bits {
            circuit.close(&clock);
        }
        let effect = early.settle(Outcome::Failure);
        assert_eq!(effect, Effect::Late, "after 2^{bits} generations");
    }
}
