//! What happened here, and what others did.

use super::{waiting, world};
use crate::world::{MS, Order, SECOND};
use breaker_core::{Outcome, Snapshot};
use breaker_redis::protocol::Cause;
use breakerbox::State;
use std::time::Duration;

#[test]
fn a_trip_opens_all_and_one_probe_closes_all() {
    let mut world = world(3);
    world.all_dead = true;
    world.trip(0);
    assert_eq!(world.states(), [State::Open; 3]);
    assert_eq!(world.published, 1);
    world.all_dead = false;
    world.calls_come(100 * MS);
    world.run(3 * SECOND);
    assert_eq!(world.states(), [State::Closed; 3]);
    assert_eq!((world.probes(), world.published), (1, 3));
}

#[test]
fn a_failed_probe_reopens_all_for_the_same_wait() {
    let mut world = waiting(3);
    world.lease(1);
    assert!(world.call(1, Outcome::Failure));
    world.run(10 * MS);
    assert_eq!(world.states(), [State::Open; 3]);
    let told = world.stands();
    assert_eq!(
        (told.shared.reopenings, told.cause),
        (1, Cause::Tripped { failures: 1 })
    );
    for id in 0..3 {
        let left = world.nodes[&id]
            .circuit
            .snapshot(&world.nodes[&id].moment(world.now))
            .time_left;
        assert!(
            left.abs_diff(Duration::from_millis(1_990)) < Duration::from_millis(30),
            "{left:?}"
        );
    }
}

#[test]
fn trips_that_cross_are_one() {
    let mut world = world(4);
    for id in 0..4 {
        for _ in 0..2 {
            world.call(id, Outcome::Failure);
        }
    }
    world.run(20 * MS);
    assert_eq!(world.states(), [State::Open; 4]);
    assert_eq!(world.published, 1);
}

#[test]
fn a_missed_message_is_made_good_by_the_next_poll() {
    let mut world = world(2);
    world.order(1, Order::Disable);
    world.run(MS / 100);
    world.mess.lost = 100;
    world.run(20 * MS);
    world.mess.lost = 0;
    world.run(6_500 * MS);
    assert_eq!(world.states(), [State::Disabled; 2]);
}

#[test]
fn what_was_restored_is_not_told_and_follows_the_fleet() {
    let mut world = world(2);
    world.order(0, Order::Close);
    world.run(10 * MS);
    let open = Snapshot {
        state: State::Open,
        time_left: Duration::from_secs(1),
        imposed: false,
        consecutive: 0,
        reopenings: 0,
    };
    world.restore(1, &open);
    world.run(10 * MS);
    assert_eq!(
        (world.states(), world.published),
        (vec![State::Closed; 2], 1)
    );
}

#[test]
fn what_was_restored_where_nothing_is_stored_recovers_by_itself() {
    let mut world = world(1);
    let open = Snapshot {
        state: State::Open,
        time_left: Duration::from_secs(1),
        imposed: false,
        consecutive: 0,
        reopenings: 0,
    };
    world.restore(0, &open);
    world.run(SECOND + 10 * MS);
    world.call(0, Outcome::Success);
    world.run(10 * MS);
    world.call(0, Outcome::Success);
    world.run(10 * MS);
    assert_eq!(world.states(), [State::Closed]);
}

#[test]
fn what_was_followed_is_not_told() {
    let mut world = world(5);
    world.trip(0);
    world.run(20 * MS);
    let asked: Vec<_> = world.nodes.values().map(|node| node.asks).collect();
    assert_eq!(asked, [2, 1, 1, 1, 1], "a read of each, and the trip");
}

#[test]
fn hosts_clocks_that_differ_by_hours_make_no_difference() {
    let mut world = world(2);
    let origins: Vec<_> = world.nodes.values().map(|node| node.clock.origin).collect();
    assert!(origins[0].abs_diff(origins[1]) > 3_600 * SECOND);
    world.trip(0);
    world.ahead -= 3_600 * SECOND;
    world.run(2 * SECOND);
    let left = world.retry_after(1);
    assert!(left <= Duration::from_secs(2), "{left:?}");
    world.calls_come(50 * MS);
    world.run(3 * SECOND);
    assert_eq!(world.states(), [State::Closed; 2]);
}
