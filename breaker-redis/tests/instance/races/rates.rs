//! Rates of the calls of all instances together.

use super::options;
use crate::network::Event;
use crate::world::{MS, Order, SECOND, World};
use breaker_core::{Outcome, Settings, Window};
use breaker_redis::instance::Options;
use breaker_redis::protocol::{CENSUS, CENSUS_SPREAD, Cause, Limits, Quorum, Share};
use breakerbox::State;
use std::time::Duration;

const RESET: Duration = Duration::from_secs(60);

fn settings() -> Settings {
    Settings::new()
        .failure_rate(0.5)
        .slow(Duration::from_millis(500))
        .slow_rate(0.5)
        .window(Window::calls(20))
        .min_calls(10)
        .reset(RESET)
        .jitter(0.0)
}

pub(super) fn by_rate(id: usize) -> Options {
    Options {
        counting: Some(Limits::Rate {
            failures: Share::new(0.5),
            slow: Share::new(0.5),
            min_calls: 10,
        }),
        reset: RESET,
        ..options(id)
    }
}

fn world_of(settings: Settings, instances: usize, options: impl Fn(usize) -> Options) -> World {
    let mut world = World::new(settings, 7);
    for _ in 0..instances {
        world.join(&options);
    }
    world.run(SECOND);
    world
}

/// Of ten instances, after so many calls that were well.
pub(super) fn ten(options: impl Fn(usize) -> Options) -> World {
    let mut world = world_of(settings(), 10, options);
    for _ in 0..20 {
        for id in 0..10 {
            world.call(id, Outcome::Success);
        }
        world.run(5 * MS);
    }
    world
}

impl World {
    pub(super) fn fail(&mut self, ids: impl IntoIterator<Item = usize>, calls: usize) {
        for id in ids {
            for _ in 0..calls {
                self.call(id, Outcome::Failure);
            }
        }
    }

    pub(super) fn are(&self, open: usize, closed: usize) {
        let expected = [vec![State::Open; open], vec![State::Closed; closed]].concat();
        assert_eq!(self.states(), expected);
    }
}

#[test]
fn one_that_fails_opens_its_own_circuit_alone() {
    let mut world = ten(by_rate);
    world.fail([0], 10);
    world.run(5 * SECOND);
    world.are(1, 9);
    assert_eq!(world.stands().shared.state, State::Closed);
    // Its probes are its own, and what comes of them is nobody else's.
    world.run(60 * SECOND);
    assert!(world.call(0, Outcome::Failure));
    world.run(SECOND);
    assert_eq!(world.nodes[&0].probes, 1);
    world.are(1, 9);
    world.run(61 * SECOND);
    assert!(world.call(0, Outcome::Success));
    world.run(SECOND);
    world.are(0, 10);
}

#[test]
fn six_that_fail_open_that_of_all_once_the_census_is_over() {
    let mut world = ten(by_rate);
    world.fail(0..6, 20);
    world.run(CENSUS - 5 * MS);
    world.are(6, 4);
    world.run(CENSUS_SPREAD + 25 * MS);
    world.are(10, 0);
    // Each tripped by 10 of 20, and from then on counts as if 20 of 20 had failed.
    assert_eq!(world.stands().cause, Cause::Counted { failures: 120 });
    assert!((59_900 * MS..=60_000 * MS).contains(&world.stands().shared.wait));
}

/// Each way takes as long as that: across continents, or on a busy machine.
#[test]
fn who_is_slow_to_say_that_it_is_well_is_heard() {
    for way in [50, 150, 200, 240] {
        let mut world = ten(by_rate);
        world.way = way * MS;
        world.run(20 * SECOND);
        world.fail([0, 1, 2], 20);
        world.run(30 * SECOND);
        world.are(3, 7);
        assert_eq!(world.stands().shared.state, State::Closed);
    }
}

#[test]
fn slow_calls_are_counted_likewise() {
    for (slow, open) in [(4, 4), (6, 10)] {
        let mut world = ten(by_rate);
        world.slow = (0..slow).collect();
        for _ in 0..10 {
            for id in 0..slow {
                world.call(id, Outcome::Success);
            }
        }
        world.run(SECOND);
        world.are(open, 10 - open);
    }
}

#[test]
fn half_of_too_few_calls_is_nothing() {
    let few = Options {
        counting: Some(Limits::Rate {
            failures: Share::new(0.5),
            slow: None,
            min_calls: 100,
        }),
        ..by_rate(0)
    };
    let mut world = world_of(settings(), 10, |id| Options {
        me: options(id).me,
        ..few.clone()
    });
    world.fail(0..9, 9);
    world.run(SECOND);
    world.are(0, 10);
    // Nobody has tripped by itself: with nine each, 81 calls were made in all.
    for _ in 0..9 {
        world.call(9, Outcome::Success);
    }
    world.run(SECOND);
    world.are(0, 10);
    for _ in 0..10 {
        world.call(9, Outcome::Success);
    }
    world.fail([0], 1);
    world.run(SECOND);
    world.are(10, 0);
}

#[test]
fn a_quorum_of_those_that_fail_is_needed_too() {
    let seven = |id| Options {
        quorum: Quorum::Instances(7),
        ..by_rate(id)
    };
    let mut world = ten(seven);
    world.fail(0..6, 20);
    world.run(SECOND);
    world.are(6, 4);
    world.fail([6], 1);
    world.run(SECOND);
    world.are(10, 0);
}

#[test]
fn votes_open_nothing_while_the_rate_of_all_is_below() {
    let two = |id| Options {
        quorum: Quorum::Instances(2),
        ..by_rate(id)
    };
    let mut world = ten(two);
    world.fail(0..4, 20);
    world.run(10 * SECOND);
    world.are(4, 6);
}

#[test]
fn who_began_the_census_may_crash() {
    let mut world = ten(by_rate);
    // None of these trips by itself.
    world.fail(1..10, 9);
    world.run(30 * MS);
    assert_eq!(world.stands().census, None);
    world.fail([0], 20);
    world.run(3 * MS);
    assert!(world.stands().census.is_some());
    world.crash(0);
    world.run(CENSUS - 10 * MS);
    assert_eq!(world.states(), [State::Closed; 9]);
    world.run(CENSUS_SPREAD + 20 * MS);
    assert_eq!(world.states(), [State::Open; 9]);
}

#[test]
fn nobody_fails_any_more_after_the_first_count_and_the_census_still_decides() {
    // All trip at once by themselves: none has a call any more.
    let mut world = ten(by_rate);
    world.fail(0..10, 10);
    world.run(CENSUS + CENSUS_SPREAD + 20 * MS);
    world.are(10, 0);
    assert_eq!(world.stands().shared.state, State::Open);
}

#[test]
fn windows_that_were_told_are_told_again_as_they_change() {
    let mut world = ten(by_rate);
    world.fail([0], 10);
    world.run(SECOND);
    // All have been told of 20 calls that were well, which is no longer so.
    let asks = world.asks();
    world.fail(1..6, 9);
    world.run(SECOND);
    world.are(1, 9);
    let asked = world.asks() - asks;
    assert!(asked < 40, "{asked}");
    world.fail(1..6, 9);
    world.run(SECOND);
    world.are(10, 0);
}

#[test]
fn a_window_of_time_that_has_emptied_hides_no_failures_for_longer_than_a_poll() {
    let of_time = settings().window(Window::time(Duration::from_secs(2)).buckets(4));
    let mut world = world_of(of_time, 4, by_rate);
    for _ in 0..60 {
        for id in 1..4 {
            world.call(id, Outcome::Success);
        }
        world.fail([0], 1);
        world.run(20 * MS);
    }
    // One is open by itself; the others have said that they are well.
    world.are(1, 3);
    let begun = world.now;
    // They make no call any more. What that one saw is half of all, once that is known.
    while world.stands().shared.state == State::Closed {
        assert!(world.now < begun + 7_500 * MS, "{:?}", world.states());
        world.run(10 * MS);
    }
    assert!(world.now > begun + 200 * MS);
    world.run(10 * MS);
    world.are(4, 0);
}

#[test]
fn one_that_is_open_alone_for_long_is_not_what_all_are_when_calls_become_rare() {
    let reset = Duration::from_secs(2);
    let of_time = settings()
        .window(Window::time(Duration::from_secs(2)).buckets(4))
        .reset(reset);
    let mut world = world_of(of_time, 10, |id| Options {
        reset,
        ..by_rate(id)
    });
    world.calls_come(20 * MS);
    world.dead = vec![0];
    world.run(10 * SECOND);
    // Windows of a hundred calls become windows of one or two, and of none.
    for every in [2 * SECOND, 60 * SECOND] {
        world.calls_stop();
        world.calls_come(every);
        for _ in 0..60 {
            world.run(SECOND);
            assert_eq!(world.states()[1..], [State::Closed; 9]);
        }
    }
    assert_ne!(world.states()[0], State::Closed);
}

#[test]
fn a_healthy_fleet_asks_no_more_than_without_counting() {
    let alone = |id| Options {
        counting: None,
        ..by_rate(id)
    };
    let counts = |options: &dyn Fn(usize) -> Options| {
        let mut world = ten(options);
        world.calls_come(10 * MS);
        world.run(20 * SECOND);
        (world.asks(), world.published)
    };
    assert_eq!(counts(&by_rate), counts(&alone));
}

#[test]
fn after_a_census_a_poll_is_one_command_as_before() {
    let mut world = ten(by_rate);
    world.fail([0], 10);
    world.run(2 * SECOND);
    let (asks, published) = (world.asks(), world.published);
    // Calls that are well, and windows that are full of them: there is nothing to say.
    world.calls_come(50 * MS);
    world.dead = vec![0];
    world.run(50 * SECOND);
    let asked = (world.asks() - asks) / 10;
    assert!((8..=14).contains(&asked), "{asked} of each");
    assert_eq!(world.published, published, "no census, and no change");
}

#[test]
fn those_that_trip_by_a_dead_service_more_than_a_wait_apart_open_that_of_all() {
    let mut world = world_of(settings(), 5, by_rate);
    for _ in 0..20 {
        for id in 0..5 {
            world.call(id, Outcome::Success);
        }
    }
    for id in 0..3 {
        world.fail([id], 10);
        world.run(70 * SECOND);
        world.are(id + 1, 4 - id);
        assert_eq!(world.stands().shared.state, State::Closed);
    }
    // Three with one failed call each, this one with 20, and one with 20 that were well.
    world.fail([3], 10);
    world.run(SECOND);
    world.are(5, 0);
    assert_eq!(world.stands().cause, Cause::Counted { failures: 23 });
}

#[test]
fn those_that_tripped_while_redis_was_away_count_with_one_call_each() {
    for (instances, opens) in [(10, true), (9, false)] {
        let mut world = world_of(settings(), instances, by_rate);
        for id in 0..instances {
            world.unlink(id);
        }
        world.fail(0..instances, 20);
        world.run(70 * SECOND);
        for id in 0..instances {
            world.link(id);
        }
        world.run(20 * SECOND);
        world.are(instances, 0);
        let state = world.told().map(|told| told.shared.state);
        assert_eq!(state == Some(State::Open), opens, "{instances}: {state:?}");
    }
}

#[test]
fn a_redis_that_was_emptied_in_a_census_is_told_again() {
    let mut world = ten(by_rate);
    world.fail(0..6, 20);
    world.run(50 * MS);
    world.empty();
    world.run(10 * SECOND);
    world.are(10, 0);
}

#[test]
fn an_operators_word_ends_a_census() {
    let mut world = ten(by_rate);
    world.fail(0..6, 20);
    world.run(100 * MS);
    world.order(9, Order::Close);
    world.run(2 * SECOND);
    world.are(0, 10);
}

#[test]
fn a_message_that_is_told_a_hundred_times_is_one_census() {
    let mut world = ten(by_rate);
    world.fail([0], 10);
    world.run(3 * MS);
    let told = world.stands();
    assert!(told.census.is_some());
    let asks = world.nodes[&5].asks;
    for _ in 0..100 {
        world.push(5, 0, Event::Message(told.clone()));
        world.run(2 * MS);
    }
    world.run(SECOND);
    let asked = world.nodes[&5].asks - asks;
    assert!(
        asked <= 2,
        "{asked}: what its window holds, and perhaps a poll"
    );
    // Nor does it say the same again to somebody who makes up new ones.
    for _ in 0..100 {
        world.push(5, 0, Event::Message(told.clone()));
        world.run(100 * MS);
    }
    let asked = world.nodes[&5].asks - asks;
    assert!(asked <= 2 + 3, "{asked}: polls of 10 s");
    world.are(1, 9);
}
