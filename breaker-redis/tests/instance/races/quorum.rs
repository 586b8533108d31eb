//! What one instance sees is not enough.

use super::{options, world_of};
use crate::world::{MS, Order, SECOND};
use breaker_core::Outcome;
use breaker_redis::instance::Options;
use breaker_redis::protocol::{Cause, Limits, Quorum, Share};
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

/// As a network delivers it that was down, on a connection that has ended.
#[test]
fn a_vote_that_comes_late_counts_for_no_longer_than_a_poll() {
    let mut world = world_of(3, two_are_needed);
    world.trip(0);
    world.run(2 * SECOND);
    let late = world.stored.clone();
    assert!(world.call(0, Outcome::Success));
    world.run(10 * SECOND);
    world.stored.members = late.members;
    world.run(7 * SECOND);
    world.trip(1);
    assert_eq!(world.states(), [State::Closed, State::Open, State::Closed]);
}

/// What it counts is told as well, by another poll.
#[test]
fn who_votes_and_counts_says_both_again_after_redis_clock_was_set_forward() {
    let with = |id| Options {
        counting: Some(Limits::Consecutive { threshold: 3 }),
        ..two_are_needed(id)
    };
    let mut world = world_of(3, with);
    world.trip(0);
    world.ahead += 3_600 * SECOND;
    world.run(12 * SECOND);
    world.call(1, Outcome::Failure);
    world.run(50 * MS);
    assert_eq!(world.states(), [State::Open; 3]);
    assert_eq!(world.stands().cause, Cause::Counted { failures: 3 });
}

/// By its clock nobody was heard of for long.
#[test]
fn a_vote_counts_also_after_redis_clock_was_set_forward() {
    let mut world = world_of(3, two_are_needed);
    world.trip(0);
    world.ahead += 3_600 * SECOND;
    world.run(7 * SECOND);
    world.trip(1);
    assert_eq!(world.states(), [State::Open; 3]);
    assert_eq!(world.stands().cause, Cause::Voted { instances: 2 });
}

/// Just after Redis was emptied a share is of nobody, and some time later it may be of fewer.
#[test]
fn votes_that_were_not_enough_count_once_they_are() {
    let half_of = |crashes: usize, votes: usize| {
        let half = |id| Options {
            quorum: Quorum::Share(Share::new(0.5).expect("a share")),
            ..options(id)
        };
        let mut world = world_of(4 + crashes, half);
        for id in 0..votes {
            world.trip(id);
        }
        world.run(8 * SECOND);
        for id in 4..4 + crashes {
            assert_eq!(world.nodes[&id].state(), State::Closed);
            world.crash(id);
        }
        world.run(20 * SECOND);
        (world.states(), world.stands().cause)
    };
    let instances = 2;
    assert_eq!(
        half_of(0, 2),
        (vec![State::Open; 4], Cause::Voted { instances })
    );
    assert_eq!(
        half_of(4, 2),
        (vec![State::Open; 4], Cause::Voted { instances })
    );
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
