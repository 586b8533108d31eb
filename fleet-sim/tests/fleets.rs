//! What fleets do, in figures that can be found without the simulation.

use fleet_sim::clock::{MILLISECOND, SECOND};
use fleet_sim::figures::{Figures, TICK, Tick};
use fleet_sim::fleet::Fleet;
use fleet_sim::redis::Costs;
use fleet_sim::scenario::{Comeback, Conditions, Scenario, Together};

const HERD: Scenario = Scenario::Alone { jitter: 0.0 };

fn play(instances: u32, scenario: Scenario, conditions: Conditions) -> Figures {
    Fleet::new(instances, scenario, conditions, 42).play(|_| {})
}

fn warm() -> Conditions {
    Conditions::of(Comeback::Warm)
}

#[test]
fn every_call_has_one_fate() {
    for comeback in Comeback::ALL {
        for scenario in Scenario::ALL {
            for instances in [1, 10, 100] {
                let figures = play(instances, scenario, Conditions::of(comeback));
                let (calls, fates, redis) = (figures.calls, figures.fates, figures.redis);
                let what = format!("{instances}, {}, {comeback:?}", scenario.name());
                let sum = |of: fn(&Tick) -> u32| -> u64 {
                    figures.ticks.iter().map(|tick| u64::from(of(tick))).sum()
                };
                assert_eq!(fates.sum(), calls, "{what}");
                assert_eq!(sum(|tick| tick.requests), calls - fates.refused, "{what}");
                assert_eq!(sum(|tick| tick.answered), fates.answered, "{what}");
                assert_eq!(sum(|tick| tick.commands), redis.commands, "{what}");
                assert_eq!(sum(|tick| tick.messages), redis.messages, "{what}");
                assert_eq!(
                    redis.messages,
                    redis.published * u64::from(instances),
                    "{what}"
                );
                let is_alone = matches!(scenario, Scenario::Alone { .. });
                assert_eq!(redis.commands == 0, is_alone, "{what}");
            }
        }
    }
}

#[test]
fn calls_come_as_often_as_they_should_and_are_the_same_in_all_scenarios() {
    let conditions = Conditions {
        fails: 1_000 * SECOND, // when all is over
        comes_back: 10 * SECOND,
        patience: 0,
        ..warm()
    };
    let figures = Scenario::ALL.map(|scenario| play(1_000, scenario, conditions));
    for of_scenario in &figures {
        assert_eq!(of_scenario.calls, figures[0].calls);
        assert_eq!(of_scenario.fates.answered, of_scenario.calls);
    }
    // 1,000 instances, 5 a second, for 10 s: within four standard deviations.
    let calls = figures[0].calls;
    assert!(calls.abs_diff(50_000) < 900, "{calls}");
}

#[test]
fn an_instance_alone_opens_after_five_requests_and_probes_once_in_each_wait() {
    let figures = play(1, HERD, warm());
    assert_eq!(figures.dead_until_open, 5);
    // Dead for 25 s, open for 10 s at a time: two probes fail, the third closes.
    assert_eq!(figures.dead_later, 2);
    assert_eq!(figures.first_probes, 1);
    assert!(
        figures
            .all_closed_after
            .is_some_and(|after| after < 15 * SECOND)
    );
    assert_eq!((figures.fates.failed, figures.fates.timed_out), (7, 0));
    assert_eq!(figures.knocked_over, 0);
}

#[test]
fn each_instance_alone_needs_failures_and_probes_of_its_own() {
    let figures = play(200, HERD, warm());
    // What was under way when a circuit opened may be its sixth, and comes later where it is the last.
    assert!((990..=1_050).contains(&figures.dead_until_open));
    assert!((400..=402).contains(&figures.dead_later));
    assert_eq!(figures.first_probes, 200);
}

#[test]
fn a_shared_circuit_sends_one_probe_for_all() {
    for together in [
        Together::AnyTrip,
        Together::Counting,
        Together::Quorum,
        Together::SlowStart,
    ] {
        for instances in [10, 500] {
            let figures = play(instances, Scenario::Shared(together), warm());
            let what = format!("{together:?} of {instances}");
            assert_eq!(figures.first_probes, 1, "{what}");
            assert!(figures.dead_later < 10, "{what}: {}", figures.dead_later);
            assert!(figures.all_closed_after.is_some(), "{what}");
        }
    }
}

#[test]
fn counting_together_opens_after_the_failures_of_one_and_what_was_under_way() {
    let figures = play(100, Scenario::Shared(Together::Counting), warm());
    // From the fifth failure on, of 500 requests a second: a batch, and three ways of messages, which
    // take half a millisecond, and some of a hundred five times as long.
    let under_way = 500 * 30 / 1_000;
    let dead = figures.dead_until_open + figures.dead_later;
    assert!((5..=5 + under_way).contains(&dead), "{dead}");
    assert!(
        figures
            .all_open_after
            .is_some_and(|after| after < 200 * MILLISECOND)
    );
}

#[test]
fn a_slow_start_brings_the_load_back_step_by_step() {
    let conditions = Conditions::of(Comeback::Cold);
    let at_once = play(1_000, Scenario::Shared(Together::Quorum), conditions);
    assert!(at_once.knocked_over > 0);
    let slowly = play(1_000, Scenario::Shared(Together::SlowStart), conditions);
    assert_eq!(slowly.knocked_over, 0);
    // The wait of 10 s, a tenth more, after up to 10 s; and 10 s from the first to the last.
    let after = slowly.all_closed_after.unwrap_or(u64::MAX);
    assert!((9 * SECOND..22 * SECOND).contains(&after), "{after}");
}

#[test]
fn jitter_spreads_probes_evenly() {
    // Each makes 50 calls a second, so all circuits open at once. Their waits are evenly spread over 10
    // to 20 s: in each second of these, a tenth probes.
    let instances = 500;
    let conditions = Conditions {
        calls_a_second: 50.0,
        fails: SECOND / 2,
        comes_back: SECOND,
        patience: 21 * SECOND,
        ..warm()
    };
    let figures = play(instances, Scenario::Alone { jitter: 1.0 }, conditions);
    let probes = |second: u64| -> f64 {
        let first = (conditions.fails + (10 + second) * SECOND) / TICK;
        let ticks = figures.ticks.iter().skip(first as usize).take(10);
        ticks.map(|tick| f64::from(tick.probes)).sum()
    };
    let each = f64::from(instances) / 10.0;
    for second in 1..9 {
        let probes = probes(second);
        // Four standard deviations of that many draws.
        assert!(
            (probes - each).abs() < 4.0 * each.sqrt(),
            "second {second}: {probes}"
        );
    }
    let all: f64 = (0..11).map(probes).sum();
    assert!((all - f64::from(instances)).abs() <= 2.0, "{all}");
}

#[test]
fn a_herd_knocks_a_cold_service_over_and_jitter_does_not() {
    let cold = Conditions::of(Comeback::Cold);
    let herd = play(300, HERD, cold);
    let spread = play(300, Scenario::Alone { jitter: 1.0 }, cold);
    assert!(herd.knocked_over > 0);
    assert_eq!((spread.knocked_over, spread.fates.timed_out), (0, 0));
    assert!(
        spread
            .all_closed_after
            .is_some_and(|after| after < 25 * SECOND)
    );
}

#[test]
fn a_redis_that_can_do_nothing_delays_nothing_and_each_is_one_by_itself() {
    let mut conditions = warm();
    let slow = 2 * SECOND;
    conditions.redis = Costs {
        poll_of_nothing: slow,
        poll: slow,
        presence: slow,
        change: slow,
        count: slow,
        ..conditions.redis
    };
    let busy = play(50, Scenario::Shared(Together::AnyTrip), conditions);
    let alone = play(50, Scenario::Alone { jitter: 0.1 }, warm());
    assert!(busy.redis.longest_wait > 10 * SECOND);
    assert_eq!(busy.fates.sum(), busy.calls);
    assert!(busy.dead_until_open <= alone.dead_until_open + 5);
    assert!(busy.first_probes <= alone.first_probes + 5);
    assert!(busy.all_closed_after.is_some());
}
