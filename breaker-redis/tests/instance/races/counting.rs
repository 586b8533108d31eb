//! Failures of all instances together.

use super::options;
use crate::by_hand::{ByHand, done, generation, refused, told, with};
use crate::node::CLOSED;
use crate::world::{MS, SECOND, World};
use breaker_core::{Outcome, Settings};
use breaker_redis::instance::{Options, Settled};
use breaker_redis::protocol::{Cause, Command, Counts, Limits, Quorum, Stored, Told, Version};
use breakerbox::State;
use std::time::Duration;

fn counting(id: usize) -> Options {
    Options {
        counting: Some(Limits::Consecutive { threshold: 5 }),
        reset: Duration::from_secs(2),
        ..options(id)
    }
}

fn counting_world(instances: usize, options: impl Fn(usize) -> Options) -> World {
    let config = Settings::new()
        .threshold(5)
        .reset(Duration::from_secs(2))
        .jitter(0.0);
    let mut world = World::new(config, 7);
    for _ in 0..instances {
        world.join(&options);
    }
    world.run(SECOND);
    world
}

#[test]
fn five_failures_of_five_instances_open_all() {
    let mut world = counting_world(10, counting);
    for id in 0..5 {
        assert_eq!(world.states(), [State::Closed; 10]);
        world.call(id, Outcome::Failure);
        world.run(30 * MS);
    }
    assert_eq!(world.states(), [State::Open; 10]);
    assert_eq!(world.stands().cause, Cause::Counted { failures: 5 });
    assert!((1_900 * MS..2_000 * MS).contains(&world.stands().shared.wait));
}

#[test]
fn counts_are_told_in_batches_and_a_success_takes_them_back() {
    let mut world = counting_world(2, counting);
    world.call(0, Outcome::Failure);
    world.run(30 * MS);
    let asks = world.asks();
    for _ in 0..3 {
        world.call(0, Outcome::Failure);
        world.run(3 * MS);
    }
    assert_eq!(world.asks(), asks + 1);
    world.run(30 * MS);
    assert_eq!(world.asks(), asks + 2);
    world.call(0, Outcome::Success);
    world.run(30 * MS);
    world.call(1, Outcome::Failure);
    world.run(30 * MS);
    assert_eq!(
        world.states(),
        [State::Closed; 2],
        "one in a row, since the other had a success"
    );
    assert_eq!(world.asks(), asks + 4);
    world.run(300 * MS);
    assert_eq!(world.asks(), asks + 4, "nothing has changed");
}

#[test]
fn failures_that_one_instance_alone_has_seen_open_nobody_else() {
    let with = |id| Options {
        quorum: Quorum::Instances(2),
        ..counting(id)
    };
    let mut world = counting_world(3, with);
    for _ in 0..5 {
        world.call(0, Outcome::Failure);
    }
    world.run(50 * MS);
    assert_eq!(world.states(), [State::Open, State::Closed, State::Closed]);
    world.call(1, Outcome::Failure);
    world.run(50 * MS);
    assert_eq!(
        world.states(),
        [State::Open; 3],
        "those of the first count with it"
    );
}

/// A message says how it stands now, before the answer does.
#[test]
fn a_count_that_was_answered_of_an_earlier_version_is_told_again() {
    let is_later = |version: Version| Version {
        epoch: version.epoch + 1,
        counter: 1,
    };
    for is_done in [false, true] {
        let mut instance = with(counting(0));
        let founded = told(4, CLOSED, Cause::Founded, "other");
        instance.heard(SECOND, &founded);
        let counts = Counts {
            failures: 2,
            ..Counts::default()
        };
        let settled = Settled {
            generation: generation(0),
            counted: true,
            counts,
        };
        instance.settled(SECOND, &settled);
        let is_count = |command: &Command, of: Version| {
            let Command::Count { known, counts, .. } = command else {
                return false;
            };
            (*known, counts.failures) == (Some(of), 2)
        };
        let (asked, command) = instance.asks(SECOND);
        assert!(is_count(&command, founded.version), "{command:?}");
        // Redis was emptied meanwhile, and another has offered what it knew.
        let now = Told {
            version: is_later(founded.version),
            offered: Some(founded.version),
            ..founded.clone()
        };
        instance.heard(SECOND + MS, &now);
        let reply = match is_done {
            true => done(founded.clone()),
            false => refused(now.clone()),
        };
        instance.replied(SECOND + MS, asked, Ok(&reply));
        let (_, command) = instance.asks(2 * SECOND);
        assert!(is_count(&command, now.version), "{is_done}: {command:?}");
    }
}

/// Sent before a network was down, it is delivered once that tries again: on a connection that has ended.
#[test]
fn counts_that_come_late_count_for_no_longer_than_a_poll() {
    let mut world = counting_world(2, counting);
    let ends = |world: &mut World, outcome| {
        world.call(0, outcome);
        world.run(30 * MS);
    };
    (0..3).for_each(|_| ends(&mut world, Outcome::Failure));
    let late = world.stored.clone();
    ends(&mut world, Outcome::Success);
    world.run(10 * SECOND);
    // What it had said, as if it said it now.
    let version = |stored: &Stored| stored.record.as_ref().map(|record| record.version);
    assert_eq!(version(&late), version(&world.stored));
    world.stored.members = late.members;
    world.run(7 * SECOND);
    for _ in 0..3 {
        world.call(1, Outcome::Failure);
        world.run(30 * MS);
    }
    assert_eq!(world.states(), [State::Closed; 2]);
    let asks = world.asks();
    world.run(60 * SECOND);
    assert!(world.asks() - asks < 50, "as often as without counting");
}

/// By its clock nobody was heard of for long.
#[test]
fn counts_count_also_after_redis_clock_was_set_forward() {
    let mut world = counting_world(2, counting);
    for _ in 0..3 {
        world.call(0, Outcome::Failure);
    }
    world.run(30 * MS);
    world.ahead += 3_600 * SECOND;
    world.run(7 * SECOND);
    for _ in 0..2 {
        assert_eq!(world.states(), [State::Closed; 2]);
        world.call(1, Outcome::Failure);
        world.run(30 * MS);
    }
    assert_eq!(world.states(), [State::Open; 2]);
}

#[test]
fn counts_are_told_again_to_a_redis_that_was_emptied() {
    let mut world = counting_world(2, counting);
    for _ in 0..3 {
        world.call(0, Outcome::Failure);
    }
    world.run(30 * MS);
    world.empty();
    world.run(7 * SECOND);
    world.call(1, Outcome::Failure);
    world.run(30 * MS);
    assert_eq!(world.states(), [State::Closed; 2]);
    world.call(1, Outcome::Failure);
    world.run(30 * MS);
    assert_eq!(world.states(), [State::Open; 2]);
}
