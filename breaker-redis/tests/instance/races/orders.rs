//! What operators do.

use super::world;
use crate::world::{MS, Order, SECOND};
use breaker_core::Outcome;
use breaker_redis::protocol::Cause;
use breakerbox::State;

#[test]
fn each_order_reaches_all() {
    for order in [
        Order::ForceOpen,
        Order::Disable,
        Order::Shadow,
        Order::OpenFor(SECOND),
        Order::Close,
    ] {
        let mut world = world(3);
        world.order(1, order);
        world.run(10 * MS);
        assert_eq!(world.states(), [order.state(); 3]);
        assert_eq!(world.stands().cause, Cause::Operator);
        assert_eq!(world.published, 1, "it is told once");
    }
}

#[test]
fn a_trip_that_crosses_an_order_counts_for_nothing() {
    let mut world = world(2);
    world.order(0, Order::Disable);
    for _ in 0..2 {
        world.call(1, Outcome::Failure);
    }
    world.run(20 * MS);
    assert_eq!(world.states(), [State::Disabled; 2]);
}

#[test]
fn an_order_that_crosses_a_trip_stands() {
    let mut world = world(2);
    for _ in 0..2 {
        world.call(1, Outcome::Failure);
    }
    world.run(2 * MS);
    world.order(0, Order::Close);
    world.run(20 * MS);
    assert_eq!(world.states(), [State::Closed; 2]);
    assert_eq!(world.stands().cause, Cause::Operator);
}

#[test]
fn an_order_that_was_not_told_stands_whatever_others_did() {
    let mut world = world(2);
    world.unlink(0);
    world.order(0, Order::Disable);
    world.trip(1);
    world.run(SECOND);
    assert_eq!(world.states(), [State::Disabled, State::Open]);
    world.link(0);
    world.run(20 * MS);
    assert_eq!(world.states(), [State::Disabled; 2]);
}

#[test]
fn calls_since_an_order_are_told_after_it() {
    let mut world = world(2);
    world.unlink(0);
    world.order(0, Order::Close);
    world.trip(0);
    world.link(0);
    world.run(20 * MS);
    assert_eq!(world.states(), [State::Open; 2]);
    assert_eq!(world.stands().cause, Cause::Tripped { failures: 2 });
    assert_eq!(world.published, 2);
}

#[test]
fn an_order_that_is_told_again_does_not_undo_one_since() {
    let mut world = world(3);
    world.run(10 * SECOND);
    world.order(2, Order::Close);
    world.run(10 * MS);
    // It arrives, and the answer doesn't.
    world.order(0, Order::Disable);
    world.run(0);
    world.unlink(0);
    world.run(20 * MS);
    assert_eq!(world.states(), [State::Disabled; 3]);
    world.order(1, Order::ForceOpen);
    world.run(20 * MS);
    world.link(0);
    world.run(20 * MS);
    assert_eq!(world.states(), [State::ForcedOpen; 3]);
}

#[test]
fn a_second_order_is_done_although_the_first_was_not_answered() {
    let mut world = world(2);
    world.order(0, Order::Disable);
    world.run(0);
    world.order(0, Order::ForceOpen);
    world.unlink(0);
    world.run(20 * MS);
    assert_eq!(world.states(), [State::ForcedOpen, State::Disabled]);
    world.mess.lost = 100;
    world.link(0);
    world.run(10 * MS);
    world.mess.lost = 0;
    world.run(5 * SECOND);
    assert_eq!(world.states(), [State::ForcedOpen; 2]);
}

#[test]
fn an_order_sets_the_wait_of_those_that_are_open() {
    let mut world = world(2);
    world.trip(0);
    world.order(1, Order::OpenFor(60 * SECOND));
    world.run(10 * MS);
    for node in world.nodes.values() {
        let left = node.circuit.snapshot(&node.moment(world.now)).time_left;
        assert!(left.as_secs() >= 58, "{left:?}");
    }
}
