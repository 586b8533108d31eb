//! What one instance sees is not enough.

use super::{options, world_of};
use crate::world::{MS, Order, SECOND};
use breaker_core::Outcome;
use breaker_redis::instance::Options;
use breaker_redis::protocol::{Cause, Quorum};
use breakerbox::State;

fn two_are_needed(id: usize) -> Options {
    Options {
        quorum: Quorum::Instances(2),
        ..options(id)
    }
}

#[test]
fn one_host_with_a_broken_network_opens_its_own_circuit_alone() {
    let mut world = world_of(4, two_are_needed);
    world.dead = vec![0];
    world.calls_come(50 * MS);
    world.run(20 * SECOND);
    let states = world.states();
    assert!(
        states[0] != State::Closed && states[1..] == [State::Closed; 3],
        "{states:?}"
    );
    assert!(world.nodes[&0].probes > 5, "it probes by itself");
    world.dead.clear();
    world.run(4 * SECOND);
    assert_eq!(world.states(), [State::Closed; 4]);
}

#[test]
fn a_second_vote_opens_all_and_the_lease_then_is_the_fleets() {
    let mut world = world_of(4, two_are_needed);
    world.trip(0);
    world.run(100 * MS);
    assert_eq!(world.states()[1..], [State::Closed; 3]);
    world.trip(1);
    assert_eq!(world.states(), [State::Open; 4]);
    assert_eq!(world.stands().cause, Cause::Voted { instances: 2 });
    world.run(2_100 * MS);
    world.lease(3);
    assert!(!world.call(0, Outcome::Success) && !world.call(1, Outcome::Success));
}

#[test]
fn a_vote_ends_with_the_recovery_of_who_gave_it() {
    let mut world = world_of(3, two_are_needed);
    world.trip(0);
    world.run(2 * SECOND);
    assert!(world.call(0, Outcome::Success));
    world.run(10 * MS);
    world.trip(1);
    assert_eq!(world.states(), [State::Closed, State::Open, State::Closed]);
}

#[test]
fn a_vote_is_told_again_to_a_redis_that_forgot_it() {
    let mut world = world_of(3, two_are_needed);
    world.trip(0);
    world.empty();
    world.order(2, Order::OpenFor(MS));
    world.run(7 * SECOND);
    world.calls_come(50 * MS);
    world.run(SECOND);
    world.calls_stop();
    assert_eq!(world.states(), [State::Closed; 3]);
    world.trip(0);
    world.run(10 * MS);
    world.unlink(0);
    world.run(20 * SECOND);
    world.link(0);
    world.run(SECOND);
    world.trip(1);
    assert_eq!(world.states(), [State::Open; 3]);
}
