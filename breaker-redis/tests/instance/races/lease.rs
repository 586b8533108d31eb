//! One probe for all.

use super::{options, waiting, world_of};
use crate::world::{MS, Order, SECOND, World};
use breaker_core::{Outcome, Settings};
use breaker_redis::instance::Options;
use breaker_redis::protocol::Cause;
use breakerbox::State;
use std::time::Duration;

#[test]
fn the_lease_is_asked_for_once_and_only_by_a_call() {
    let mut world = waiting(2);
    let asks = world.asks();
    world.run(10 * MS);
    assert_eq!(world.asks(), asks);
    for _ in 0..10 {
        assert!(!world.call(0, Outcome::Success));
        world.run(MS / 50);
    }
    assert_eq!(world.asks(), asks + 1);
    world.run(5 * MS);
    assert!(world.has_lease(0));
    assert!(world.call(0, Outcome::Success));
    world.run(10 * MS);
    assert_eq!(world.states(), [State::Closed; 2]);
}

#[test]
fn while_another_has_the_lease_its_end_is_the_time_to_wait() {
    let mut world = waiting(2);
    world.lease(0);
    let asks = world.asks();
    let left = world.retry_after(1);
    assert!(
        left <= Duration::from_secs(1) && left > Duration::from_millis(980),
        "{left:?}"
    );
    world.run(500 * MS);
    assert_eq!(world.asks(), asks, "nothing is asked before that");
    let left = world.retry_after(1);
    assert!(left <= Duration::from_millis(500), "{left:?}");
}

#[test]
fn two_that_ask_at_once_get_one_lease() {
    let mut world = waiting(3);
    for id in 0..3 {
        assert!(!world.call(id, Outcome::Success));
    }
    world.run(10 * MS);
    let holders = (0..3).filter(|id| world.has_lease(*id)).count();
    assert_eq!(holders, 1);
    let admitted = (0..3)
        .filter(|id| world.call(*id, Outcome::Success))
        .count();
    assert_eq!(admitted, 1);
}

#[test]
fn what_a_holder_that_crashed_costs_is_its_lease() {
    let mut world = waiting(2);
    world.lease(0);
    assert!(world.call(0, Outcome::Success));
    world.crash(0);
    let crashed = world.now;
    while !world.call(1, Outcome::Success) {
        world.run(10 * MS);
    }
    let waited = world.now - crashed;
    assert!((950 * MS..1_050 * MS).contains(&waited), "{waited}");
    world.run(10 * MS);
    assert_eq!(world.states(), [State::Closed]);
}

#[test]
fn the_lease_is_renewed_while_the_probe_runs() {
    let mut world = waiting(2);
    world.lease(0);
    world.call_lasts = 4 * SECOND;
    assert!(world.call(0, Outcome::Success));
    for _ in 0..39 {
        world.run(100 * MS);
        assert!(world.has_lease(0));
        assert!(!world.call(1, Outcome::Success));
    }
    world.run(200 * MS);
    assert_eq!(world.states(), [State::Closed; 2]);
}

/// Of a service that hangs. They call more rarely than a call waits for a lease.
#[test]
fn beside_a_probe_that_takes_long_nobody_probes_who_calls_rarely() {
    let mut world = waiting(4);
    world.lease(0);
    world.call_lasts = 20 * SECOND;
    assert!(world.call(0, Outcome::Failure));
    for _ in 0..9 {
        world.run(2 * SECOND);
        for id in 1..4 {
            assert!(!world.call(id, Outcome::Failure), "{id} at {}", world.now);
        }
    }
    assert_eq!(world.probes(), 1);
    // Once its holder is gone, one of them does.
    world.crash(0);
    world.call_lasts = MS;
    world.run(3 * SECOND);
    assert!(world.call(1, Outcome::Success));
    world.run(20 * MS);
    assert_eq!(world.states(), [State::Closed; 3]);
}

#[test]
fn the_lease_of_a_probe_that_never_ends_is_not_renewed_for_ever() {
    let with = |id| Options {
        probe_timeout: Duration::from_secs(3),
        ..options(id)
    };
    let mut world = world_of(2, with);
    world.trip(0);
    world.run(2_100 * MS);
    world.lease(0);
    world.call_lasts = 1_000 * SECOND;
    assert!(world.call(0, Outcome::Success));
    world.run(2_500 * MS);
    assert!(world.has_lease(0));
    world.run(2_500 * MS);
    assert!(!world.has_lease(0));
    world.call_lasts = MS;
    assert!(world.call(1, Outcome::Success));
    world.run(10 * MS);
    assert_eq!(world.states(), [State::Closed; 2]);
}

#[test]
fn a_trial_that_decides_nothing_gives_its_lease_back() {
    let mut world = waiting(2);
    world.lease(0);
    assert!(world.call(0, Outcome::Ignored));
    world.run(10 * MS);
    assert!(!world.has_lease(0));
    assert_eq!(world.stands().cause, Cause::Released);
    world.lease(1);
    assert_eq!(world.stands().by, world.nodes[&1].options.me);
    assert!(world.call(1, Outcome::Success));
    world.run(10 * MS);
    assert_eq!(world.states(), [State::Closed; 2]);
}

/// As where each call is answered with what doesn't count, for long.
#[test]
fn trials_that_come_to_nothing_one_after_the_other_are_no_flood() {
    let mut world = waiting(3);
    world.neutral = 100;
    world.calls_come(10 * MS);
    let (published, asks) = (world.published, world.asks());
    world.run(10 * SECOND);
    // Each costs a message when it begins and one when it ends, and renewals.
    let messages = world.published - published;
    assert!(messages <= 50, "{messages} messages");
    let asked = world.asks() - asks;
    assert!(asked <= 200, "{asked} questions");
    assert!(world.probes() > 100, "{} probes", world.probes());
    world.neutral = 0;
    world.run(SECOND);
    assert_eq!(world.states(), [State::Closed; 3]);
}

#[test]
fn after_such_a_trial_its_holder_gives_the_lease_back_within_a_second() {
    let with = |id| Options {
        lease: Duration::from_secs(5),
        ..options(id)
    };
    let mut world = world_of(2, with);
    world.trip(0);
    world.run(2_100 * MS);
    for id in [0, 1] {
        world.lease(id);
        assert!(world.call(id, Outcome::Ignored));
        world.run(10 * MS);
        assert_eq!(world.has_lease(id), id == 1, "the second in a row");
    }
    // Meanwhile its own calls probe.
    assert!(world.call(1, Outcome::Ignored));
    world.run(900 * MS);
    assert!(world.has_lease(1));
    world.run(200 * MS);
    assert!(!world.has_lease(1));
    assert_eq!(world.stands().cause, Cause::Released);
    world.lease(0);
    assert!(world.call(0, Outcome::Success));
    world.run(10 * MS);
    assert_eq!(world.states(), [State::Closed; 2]);
}

#[test]
fn a_trial_of_several_successes_keeps_its_lease_between_them() {
    let config = Settings::new()
        .threshold(2)
        .close_after(3)
        .reset(Duration::from_secs(2))
        .jitter(0.0);
    let mut world = World::new(config, 7);
    (0..2).for_each(|_| _ = world.join(options));
    world.run(SECOND);
    world.trip(0);
    world.run(2_100 * MS);
    world.lease(0);
    for _ in 0..3 {
        assert!(world.has_lease(0));
        assert!(world.call(0, Outcome::Success));
        world.run(3 * SECOND);
    }
    assert_eq!(world.states(), [State::Closed; 2]);
}

#[test]
fn a_lease_that_an_order_overtook_is_lost() {
    let mut world = waiting(2);
    world.lease(0);
    world.call_lasts = 100 * MS;
    assert!(world.call(0, Outcome::Failure));
    world.order(1, Order::Close);
    world.run(10 * MS);
    assert!(!world.has_lease(0));
    assert_eq!(world.states(), [State::Closed; 2]);
    world.run(200 * MS);
    assert_eq!(
        world.states(),
        [State::Closed; 2],
        "its probe came too late"
    );
}

#[test]
fn a_lease_that_comes_after_an_order_is_of_no_use() {
    let mut world = waiting(2);
    world.call(0, Outcome::Success);
    world.run(MS / 100);
    world.order(0, Order::ForceOpen);
    world.run(20 * MS);
    assert!(!world.has_lease(0));
    assert_eq!(world.states(), [State::ForcedOpen; 2]);
}

#[test]
fn a_lease_that_is_not_answered_lets_the_breaker_decide_by_itself() {
    let mut world = waiting(2);
    world.mess.lost = 100;
    assert!(!world.call(0, Outcome::Success));
    world.run(990 * MS);
    assert!(!world.call(0, Outcome::Success), "it may still come");
    world.run(20 * MS);
    assert!(world.call(0, Outcome::Success));
    world.run(10 * MS);
    assert_eq!(world.states(), [State::Closed, State::Open]);
    world.mess.lost = 0;
    world.run(6 * SECOND);
    assert_eq!(world.states(), [State::Closed; 2]);
}

#[test]
fn the_answer_with_the_lease_was_lost_and_it_is_asked_for_again() {
    let mut world = waiting(2);
    world.call(0, Outcome::Success);
    world.run(0);
    world.unlink(0);
    world.run(2 * MS);
    world.link(0);
    world.run(2 * MS);
    assert_eq!(world.stands().cause, Cause::Leased);
    assert!(!world.has_lease(0));
    let version = world.stands().version;
    world.lease(0);
    assert_eq!(world.stands().version, version, "it is the same one");
}

#[test]
fn a_fleet_whose_calls_are_rarer_than_a_lease_loses_one_call_at_most() {
    let mut world = waiting(3);
    assert!(!world.call(0, Outcome::Success), "its next may come soon");
    world.run(4 * SECOND);
    assert_eq!(
        world.states(),
        [State::Open; 3],
        "it had no use for the lease"
    );
    assert!(world.call(1, Outcome::Success));
    world.run(20 * MS);
    assert_eq!(world.states(), [State::Closed; 3]);
    assert_eq!(world.probes(), 1);
}

#[test]
fn where_nobody_called_since_the_wait_was_over_the_first_call_probes_and_no_other() {
    let mut world = waiting(3);
    world.run(3 * SECOND);
    assert!(world.call(0, Outcome::Failure));
    assert!(!world.call(0, Outcome::Success));
    world.run(20 * MS);
    for id in 0..3 {
        assert!(!world.call(id, Outcome::Success), "it has failed");
    }
    assert_eq!(world.states(), [State::Open; 3]);
    assert_eq!(world.probes(), 1);
    world.run(9 * SECOND);
    assert!(world.call(2, Outcome::Success));
    world.run(20 * MS);
    assert_eq!(world.states(), [State::Closed; 3]);
    assert_eq!(world.probes(), 2);
}

/// A process for each call, as of a timer or a function at the edge: none of them calls twice.
#[test]
fn processes_that_make_one_call_each_probe_with_it() {
    let mut world = waiting(1);
    world.crash(0);
    for (outcome, expected) in [
        (Outcome::Failure, State::Open),
        (Outcome::Success, State::Closed),
    ] {
        world.run(20 * SECOND);
        let id = world.join(options);
        world.run(SECOND);
        assert_eq!(world.nodes[&id].state(), State::Open, "as it has read");
        assert!(world.call(id, outcome), "nobody has called for a while");
        world.run(20 * MS);
        assert_eq!(world.stands().shared.state, expected);
        world.crash(id);
    }
}
