//! A process that has no Redis.

use super::{options, waiting, world, world_of};
use crate::world::{MS, Order, SECOND};
use breaker_core::Outcome;
use breaker_redis::instance::Options;
use breakerbox::State;
use std::time::Duration;

#[test]
fn a_trip_while_cut_off_is_offered_and_done_if_nobody_did_anything() {
    let mut world = world(2);
    world.unlink(0);
    world.trip(0);
    world.run(SECOND);
    assert_eq!(world.states(), [State::Open, State::Closed]);
    world.link(0);
    world.run(10 * MS);
    assert_eq!(world.states(), [State::Open; 2]);
}

#[test]
fn a_trip_while_cut_off_gives_way_to_what_others_did() {
    let mut world = world(2);
    world.order(1, Order::Close);
    world.run(10 * MS);
    world.unlink(0);
    world.trip(0);
    world.order(1, Order::Shadow);
    world.run(10 * MS);
    world.order(1, Order::Close);
    world.run(10 * MS);
    world.link(0);
    world.run(10 * MS);
    assert_eq!(world.states(), [State::Closed; 2]);
}

#[test]
fn while_cut_off_it_probes_and_closes_by_itself() {
    let mut world = waiting(2);
    world.unlink(0);
    assert!(world.call(0, Outcome::Success));
    world.run(10 * MS);
    assert_eq!(world.states(), [State::Closed, State::Open]);
    world.link(0);
    world.run(10 * MS);
    assert_eq!(world.states(), [State::Closed; 2]);
}

/// The service is gone, and Redis as well: as each breaker alone, they probe at times of their own.
#[test]
fn those_that_were_opened_together_do_not_probe_at_once_without_redis() {
    let second = Duration::from_secs(1);
    for jitter in [Duration::ZERO, second] {
        let with = |id| Options {
            jitter,
            ..options(id)
        };
        let mut world = world_of(40, with);
        world.trip(0);
        world.all_dead = true;
        for id in world.ids() {
            world.unlink(id);
        }
        world.calls_come(10 * MS);
        world.run(1_900 * MS);
        assert_eq!(world.probes(), 0);
        world.run(200 * MS);
        let at_once = world.probes();
        world.run(SECOND);
        let all = world.nodes.values().map(|node| node.probes);
        assert!(
            all.clone().all(|probes| probes == 1),
            "{jitter:?}: {:?}",
            all.collect::<Vec<_>>()
        );
        assert_eq!(at_once > 20, jitter.is_zero(), "{at_once} probes at once");
    }
}

#[test]
fn an_opening_that_nobody_heard_of_and_that_is_over_is_not_told() {
    let mut world = world(2);
    world.unlink(0);
    world.trip(0);
    world.run(2 * SECOND);
    assert!(world.call(0, Outcome::Success));
    world.run(10 * MS);
    world.link(0);
    world.run(10 * SECOND);
    assert_eq!(
        (world.states(), world.published),
        (vec![State::Closed; 2], 0)
    );
}

#[test]
fn what_was_missed_while_cut_off_is_read() {
    let mut world = world(2);
    world.unlink(0);
    world.trip(1);
    world.link(0);
    world.run(550 * MS);
    assert_eq!(world.states(), [State::Open; 2]);
}
