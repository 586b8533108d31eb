//! A Redis that lost what it held.

use super::world;
use crate::world::{MS, Order, SECOND};
use breaker_redis::protocol::Cause;
use breakerbox::State;

#[test]
fn a_redis_that_was_emptied_is_told_what_is_known() {
    let mut world = world(3);
    world.order(0, Order::OpenFor(60 * SECOND));
    world.run(10 * MS);
    let before = world.stands();
    world.empty();
    world.run(7 * SECOND);
    let told = world.stands();
    assert!(told.version.epoch > before.version.epoch);
    assert_eq!(
        (told.shared.state, told.cause),
        (State::Open, Cause::Operator)
    );
    assert!(
        (50 * SECOND..54 * SECOND).contains(&told.shared.wait),
        "{}",
        told.shared.wait
    );
    assert_eq!(world.published, 2, "by one of them");
    assert_eq!(world.states(), [State::Open; 3]);
}

#[test]
fn who_knows_nothing_and_is_closed_writes_nothing() {
    let mut world = world(3);
    world.calls_come(50 * MS);
    world.run(20 * SECOND);
    assert_eq!((world.told(), world.published), (None, 0));
}

#[test]
fn a_redis_that_was_restored_to_older_data_is_told_what_is_later() {
    let mut world = world(2);
    world.order(0, Order::Close);
    world.run(10 * MS);
    world.keep();
    world.order(1, Order::ForceOpen);
    world.run(10 * MS);
    world.roll_back(0);
    world.run(7 * SECOND);
    assert_eq!(world.stands().shared.state, State::ForcedOpen);
    assert_eq!(world.states(), [State::ForcedOpen; 2]);
}

#[test]
fn who_knew_what_was_later_is_believed_after_an_older_offer() {
    let mut world = world(3);
    world.order(0, Order::Close);
    world.run(10 * MS);
    world.unlink(2);
    world.order(1, Order::Disable);
    world.run(10 * MS);
    // Only the one that knows less is there.
    world.unlink(0);
    world.unlink(1);
    world.empty();
    world.link(2);
    world.run(7 * SECOND);
    assert_eq!(world.stands().shared.state, State::Closed);
    world.link(0);
    world.run(SECOND);
    assert_eq!(world.stands().shared.state, State::Disabled);
    world.link(1);
    world.run(SECOND);
    assert_eq!(world.states(), [State::Disabled; 3]);
}
