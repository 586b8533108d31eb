//! A process that has no Redis.

use super::{waiting, world};
use crate::world::{MS, Order, SECOND};
use breaker_core::Outcome;
use breakerbox::State;

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
