//! A dependency that says itself that it is overloaded, where rates are counted.

use super::rates::{by_rate, ten};
use crate::world::{MS, SECOND};
use breaker_core::Outcome;
use breaker_redis::instance::Options;
use breaker_redis::protocol::{Cause, Quorum};
use breakerbox::State;
use std::time::Duration;

fn by_rate_of_two(id: usize) -> Options {
    Options {
        quorum: Quorum::Instances(2),
        ..by_rate(id)
    }
}

#[test]
fn an_overload_is_said_to_all() {
    let overloaded = Outcome::Overloaded(Duration::from_secs(20));
    let mut world = ten(by_rate);
    world.call(3, overloaded);
    world.run(10 * MS);
    world.are(10, 0);
    assert_eq!(world.stands().cause, Cause::Overloaded);
    // Also by one that is open by itself, of its probe.
    let mut world = ten(by_rate);
    world.fail([0], 10);
    world.run(61 * SECOND);
    world.are(1, 9);
    assert!(world.call(0, overloaded));
    world.run(10 * MS);
    world.are(10, 0);
    assert_eq!(world.stands().cause, Cause::Overloaded);

    let mut world = ten(by_rate_of_two);
    world.call(0, overloaded);
    world.run(10 * MS);
    world.are(1, 9);
    // A trip by its own rate is no second vote.
    world.fail([1], 10);
    world.run(SECOND);
    world.are(2, 8);
    world.call(2, overloaded);
    world.run(10 * MS);
    world.are(10, 0);
}

#[test]
fn an_overload_of_one_that_is_open_by_its_own_rate_is_a_vote_as_that_of_others() {
    let overloaded = Outcome::Overloaded(Duration::from_secs(20));
    let mut world = ten(by_rate_of_two);
    world.fail([0], 10);
    world.run(61 * SECOND);
    assert!(world.call(0, overloaded));
    world.run(10 * MS);
    world.are(1, 9);
    world.call(1, overloaded);
    world.run(10 * MS);
    world.are(10, 0);
    assert_eq!(world.stands().cause, Cause::Voted { instances: 2 });
}

#[test]
fn a_vote_for_an_overload_is_taken_back_also_by_one_that_has_tripped_by_its_rate_since() {
    let overloaded = Outcome::Overloaded(Duration::from_secs(2));
    let mut world = ten(by_rate_of_two);
    world.call(0, overloaded);
    world.run(3 * SECOND);
    world.unlink(0);
    assert!(world.call(0, Outcome::Success));
    world.run(10 * MS);
    world.fail([0], 10);
    world.run(10 * MS);
    world.are(1, 9);
    world.link(0);
    world.run(SECOND);
    world.call(1, overloaded);
    world.run(10 * MS);
    world.are(2, 8);
}

#[test]
fn a_vote_for_an_overload_is_taken_back() {
    let overloaded = Outcome::Overloaded(Duration::from_secs(2));
    let mut world = ten(by_rate_of_two);
    world.call(0, overloaded);
    world.run(3 * SECOND);
    assert!(world.call(0, Outcome::Success));
    world.run(10 * MS);
    world.are(0, 10);
    world.call(1, overloaded);
    world.run(10 * MS);
    assert_eq!(world.states()[1], State::Open);
    assert_eq!(world.states()[2..], [State::Closed; 8]);
}
