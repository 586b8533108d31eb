//! One instance by hand: what comes in between two of its steps, in which order threads are late.

use crate::node::CLOSED;
use crate::races::options;
use crate::world::{MS, SECOND};
use breaker_redis::instance::{
    Asked, Follow, Happened, Instance, Options, Settled, Step, Unanswered,
};
use breaker_redis::protocol::{
    Cause, Command, Counts, Limits, Reply, Share, Shared, Told, Verdict, Version, Who,
};
use breakerbox::{Generation, State};
use std::sync::Arc;
use std::time::Duration;

const OPEN: Shared = Shared {
    state: State::Open,
    wait: 2 * SECOND,
    imposed: false,
    reopenings: 0,
};

const TRIAL: Shared = Shared {
    state: State::HalfOpen,
    wait: 0,
    ..OPEN
};

const TRIPPED: Cause = Cause::Tripped { failures: 2 };

fn generation(number: u32) -> Generation {
    Generation::from_number(number)
}

fn happened(number: u32, state: Shared, cause: impl Into<Option<Cause>>) -> Happened {
    Happened {
        generation: generation(number),
        state,
        cause: cause.into(),
    }
}

fn with(options: Options) -> Instance {
    let mut instance = Instance::new(Arc::new(options), &happened(0, CLOSED, None), 0, 3);
    instance.found(0);
    instance
}

fn version(counter: u64) -> Version {
    Version { epoch: 7, counter }
}

fn told(counter: u64, shared: Shared, cause: Cause, by: &str) -> Told {
    Told {
        version: version(counter),
        shared,
        lease: None,
        cause,
        by: Who::new(by).expect("a name"),
        offered: None,
    }
}

fn done(told: Told) -> Reply {
    Reply {
        verdict: Verdict::Done,
        now: Some(told),
    }
}

fn refused(told: Told) -> Reply {
    Reply {
        verdict: Verdict::Refused,
        now: Some(told),
    }
}

/// The steps of one that goes by hand.
trait ByHand {
    fn asks(&mut self, now: u64) -> (Asked, Command);
    fn follows(&mut self, now: u64) -> Follow;
    fn waits(&mut self, now: u64) -> Option<u64>;
}

impl ByHand for Instance {
    fn asks(&mut self, now: u64) -> (Asked, Command) {
        match self.next(now) {
            Step::Ask(asked, command) => (asked, command),
            step => panic!("{step:?}"),
        }
    }

    fn follows(&mut self, now: u64) -> Follow {
        match self.next(now) {
            Step::Follow(follow) => follow,
            step => panic!("{step:?}"),
        }
    }

    fn waits(&mut self, now: u64) -> Option<u64> {
        match self.next(now) {
            Step::Wait(until) => until,
            step => panic!("{step:?}"),
        }
    }
}

/// One that has read how it stands.
fn at(shared: Shared) -> Instance {
    let mut instance = with(options(0));
    let (asked, command) = instance.asks(SECOND);
    assert_eq!(command, Command::Read { known: None });
    let reply = done(told(4, shared, Cause::Recovered, "other"));
    instance.replied(SECOND + MS, asked, Ok(&reply));
    if shared.state != State::Closed {
        instance.follows(SECOND + MS);
        instance.followed(SECOND + MS, Ok(generation(1)));
    }
    instance.waits(SECOND + MS);
    instance
}

#[test]
fn it_is_small() {
    let size = size_of::<Instance>();
    assert!(size <= 464, "{size} bytes of each circuit of a process");
}

#[test]
fn before_redis_is_found_it_asks_nothing_and_lets_through() {
    let begun = happened(3, OPEN, TRIPPED);
    let mut instance = Instance::new(Arc::new(options(0)), &begun, 0, 3);
    assert_eq!(instance.waits(10 * SECOND), None);
    assert_eq!(instance.probe_wanted(10 * SECOND), Ok(()));
    instance.found(10 * SECOND);
    let (_, command) = instance.asks(10 * SECOND);
    let Command::Change { to, cause, .. } = command else {
        panic!("{command:?}");
    };
    assert_eq!((to.state, to.wait, cause), (State::Open, 0, TRIPPED));
}

#[test]
fn what_happens_after_a_follow_is_told_although_the_follow_was_told_later() {
    let mut instance = at(CLOSED);
    instance.heard(2 * SECOND, &told(5, OPEN, TRIPPED, "other"));
    let follow = instance.follows(2 * SECOND);
    assert_eq!(
        (follow.only_in, follow.to.state),
        (generation(0), State::Open)
    );
    assert_eq!(follow.why.version, version(5));
    // It followed as 1, and was closed and tripped again before that was told.
    instance.changed(2 * SECOND, &happened(2, TRIAL, Cause::Leased));
    instance.changed(2 * SECOND, &happened(3, CLOSED, Cause::Recovered));
    instance.followed(2 * SECOND, Ok(generation(1)));
    let (_, command) = instance.asks(2 * SECOND);
    let expected = Command::Change {
        known: Some(version(5)),
        to: CLOSED,
        cause: Cause::Recovered,
        again: false,
    };
    assert_eq!(command, expected);
}

#[test]
fn what_happens_before_a_follow_counts_for_nothing() {
    let mut instance = at(OPEN);
    instance.heard(2 * SECOND, &told(5, CLOSED, Cause::Operator, "other"));
    instance.follows(2 * SECOND);
    instance.changed(2 * SECOND, &happened(2, OPEN, TRIPPED));
    instance.followed(2 * SECOND, Err(generation(2)));
    let follow = instance.follows(2 * SECOND);
    assert_eq!(
        (follow.only_in, follow.to.state),
        (generation(2), State::Closed)
    );
    instance.followed(2 * SECOND, Ok(generation(3)));
    instance.waits(2 * SECOND);
}

#[test]
fn what_it_could_not_follow_it_follows_once_it_is_told_why() {
    let mut instance = at(OPEN);
    instance.heard(2 * SECOND, &told(5, CLOSED, Cause::Recovered, "other"));
    instance.follows(2 * SECOND);
    instance.followed(2 * SECOND, Err(generation(2)));
    instance.waits(2 * SECOND);
    instance.changed(2 * SECOND, &happened(2, OPEN, TRIPPED));
    assert_eq!(instance.follows(2 * SECOND).only_in, generation(2));
}

#[test]
fn what_it_could_not_follow_and_is_never_told_why_it_follows_after_the_next_poll() {
    let mut instance = at(OPEN);
    instance.heard(2 * SECOND, &told(5, CLOSED, Cause::Recovered, "other"));
    instance.follows(2 * SECOND);
    instance.followed(2 * SECOND, Err(generation(2)));
    let poll = instance.waits(2 * SECOND).expect("a poll");
    let (asked, _) = instance.asks(poll);
    let reply = done(told(5, CLOSED, Cause::Recovered, "other"));
    instance.replied(poll + MS, asked, Ok(&reply));
    assert_eq!(instance.follows(poll + MS).only_in, generation(2));
}

#[test]
fn what_came_while_it_followed_is_followed_next() {
    let mut instance = at(CLOSED);
    instance.heard(2 * SECOND, &told(5, OPEN, TRIPPED, "other"));
    instance.follows(2 * SECOND);
    instance.heard(2 * SECOND, &told(6, CLOSED, Cause::Operator, "other"));
    instance.followed(2 * SECOND, Ok(generation(1)));
    let follow = instance.follows(2 * SECOND);
    assert_eq!(
        (follow.only_in, follow.to.state),
        (generation(1), State::Closed)
    );
}

#[test]
fn an_older_message_and_the_same_one_again_change_nothing() {
    let mut instance = at(OPEN);
    for counter in [3, 4] {
        instance.heard(2 * SECOND, &told(counter, CLOSED, Cause::Operator, "other"));
        instance.waits(2 * SECOND);
        assert_eq!(instance.known(), Some(version(4)));
    }
}

#[test]
fn another_state_of_the_same_number_is_followed_where_redis_says_so() {
    let mut instance = at(OPEN);
    let poll = instance.waits(2 * SECOND).expect("a poll");
    let (asked, _) = instance.asks(poll);
    let reply = done(told(4, CLOSED, Cause::Operator, "other"));
    instance.replied(poll, asked, Ok(&reply));
    assert_eq!(instance.follows(poll).to.state, State::Closed);
}

#[test]
fn a_trip_that_a_thread_tells_late_is_told() {
    let mut instance = at(CLOSED);
    instance.changed(2 * SECOND, &happened(2, TRIAL, Cause::Leased));
    instance.waits(2 * SECOND);
    instance.changed(2 * SECOND, &happened(1, OPEN, TRIPPED));
    let (_, command) = instance.asks(2 * SECOND);
    let Command::Change { to, cause, .. } = command else {
        panic!("{command:?}");
    };
    assert_eq!((to.state, to.wait, cause), (State::Open, 0, TRIPPED));
}

#[test]
fn what_a_thread_tells_late_and_was_followed_over_is_not_told() {
    let mut instance = at(OPEN);
    instance.changed(2 * SECOND, &happened(0, OPEN, TRIPPED));
    instance.waits(2 * SECOND);
}

#[test]
fn of_two_orders_that_are_told_in_the_wrong_order_the_later_stands() {
    let mut instance = at(CLOSED);
    let set = |state| Shared { state, ..CLOSED };
    instance.changed(
        2 * SECOND,
        &happened(2, set(State::Disabled), Cause::Operator),
    );
    instance.changed(
        2 * SECOND,
        &happened(1, set(State::ForcedOpen), Cause::Operator),
    );
    let (_, command) = instance.asks(2 * SECOND);
    let Command::Change { to, cause, .. } = command else {
        panic!("{command:?}");
    };
    assert_eq!((to.state, cause), (State::Disabled, Cause::Operator));
}

#[test]
fn an_order_that_comes_late_over_a_later_one_is_set_right() {
    let mut instance = at(CLOSED);
    let set = |state| Shared { state, ..CLOSED };
    instance.changed(
        2 * SECOND,
        &happened(1, set(State::Disabled), Cause::Operator),
    );
    let (asked, _) = instance.asks(2 * SECOND);
    let disabled = told(5, set(State::Disabled), Cause::Operator, "node-0");
    instance.replied(2 * SECOND, asked, Ok(&done(disabled)));
    instance.waits(2 * SECOND);
    // One that was given up before arrives.
    instance.heard(
        3 * SECOND,
        &told(6, set(State::ForcedOpen), Cause::Operator, "node-0"),
    );
    let (asked, command) = instance.asks(3 * SECOND);
    let expected = Command::Change {
        known: Some(version(6)),
        to: set(State::Disabled),
        cause: Cause::Operator,
        again: false,
    };
    assert_eq!(command, expected);
    let disabled = told(7, set(State::Disabled), Cause::Operator, "node-0");
    instance.replied(3 * SECOND, asked, Ok(&done(disabled)));
    instance.waits(3 * SECOND);
}

#[test]
fn an_answer_that_comes_twice_or_too_late_gives_no_lease() {
    let mut instance = at(Shared { wait: 0, ..OPEN });
    assert!(instance.probe_wanted(2 * SECOND).is_err());
    let (asked, command) = instance.asks(2 * SECOND);
    let known = Some(version(4));
    assert_eq!(
        command,
        Command::Lease {
            known,
            lasts: SECOND
        }
    );
    let mut granted = told(5, TRIAL, Cause::Leased, "node-0");
    granted.lease = Some((Who::new("node-0").expect("a name"), SECOND));
    let reply = done(granted);
    instance.replied(2 * SECOND, asked, Ok(&reply));
    assert!(instance.has_lease(2 * SECOND + 874 * MS));
    assert!(!instance.has_lease(2 * SECOND + 876 * MS), "less an eighth");
    instance.changed(2 * SECOND, &happened(2, TRIAL, Cause::Leased));
    let settled = Settled {
        generation: generation(2),
        counted: false,
        counts: Counts::default(),
    };
    instance.settled(2 * SECOND, &settled);
    let (_, command) = instance.asks(2 * SECOND);
    assert_eq!(
        command,
        Command::Release {
            known: Some(version(5))
        }
    );
    instance.replied(2 * SECOND, asked, Ok(&reply));
    assert!(!instance.has_lease(2 * SECOND));
}

#[test]
fn the_lease_is_measured_from_when_it_was_asked_for() {
    let mut instance = at(Shared { wait: 0, ..OPEN });
    let _ = instance.probe_wanted(2 * SECOND);
    let (asked, _) = instance.asks(2 * SECOND);
    let mut granted = told(5, TRIAL, Cause::Leased, "node-0");
    granted.lease = Some((Who::new("node-0").expect("a name"), SECOND));
    instance.replied(2 * SECOND + 800 * MS, asked, Ok(&done(granted)));
    assert!(instance.has_lease(2 * SECOND + 874 * MS));
    assert!(!instance.has_lease(2 * SECOND + 876 * MS));
}

#[test]
fn a_lease_that_is_refused_is_not_asked_for_again_at_once() {
    let mut instance = at(Shared { wait: 0, ..OPEN });
    let mut asks = 0;
    for round in 0..1_000 {
        let now = 2 * SECOND + round * MS / 10;
        assert!(instance.probe_wanted(now).is_err());
        if let Step::Ask(asked, _) = instance.next(now) {
            asks += 1;
            // Nothing is left to wait for, and still it is refused.
            let reply = refused(told(
                4,
                Shared { wait: 0, ..OPEN },
                Cause::Recovered,
                "other",
            ));
            instance.replied(now + MS, asked, Ok(&reply));
        }
    }
    assert!((1..=60).contains(&asks), "{asks} in 100 ms, of 1 ms each");
}

#[test]
fn what_was_not_sent_was_not_told_before() {
    let mut instance = at(CLOSED);
    let ask = |instance: &mut Instance, now| match instance.asks(now) {
        (asked, Command::Change { again, .. }) => (asked, again),
        other => panic!("{other:?}"),
    };
    instance.changed(2 * SECOND, &happened(1, OPEN, Cause::Operator));
    for (why, was_again) in [
        (Unanswered::NotSent, false),
        (Unanswered::Unknown, false),
        (Unanswered::NotSent, true),
    ] {
        let now = instance.due(2 * SECOND).expect("it is to be told");
        let (asked, again) = ask(&mut instance, now);
        assert_eq!(again, was_again);
        instance.replied(now, asked, Err(why));
    }
}

#[test]
fn a_redis_that_does_not_answer_is_asked_less_and_less() {
    let mut instance = with(Options {
        poll: Duration::from_secs(30),
        alive: Duration::from_secs(120),
        ..options(0)
    });
    let (mut now, mut times) = (SECOND, Vec::new());
    while now < 120 * SECOND {
        match instance.next(now) {
            Step::Ask(..) => times.push(now / SECOND),
            Step::Wait(until) => now = until.expect("it asks again"),
            step => panic!("{step:?}"),
        }
    }
    assert!((6..=9).contains(&times.len()), "{times:?}");
    assert_eq!(instance.probe_wanted(now), Ok(()));
}

#[test]
fn polls_are_spread_and_in_time_for_being_alive() {
    let mut polls = Vec::new();
    for seed in 0..200 {
        let begun = happened(0, CLOSED, None);
        let fast = Options {
            poll: Duration::from_secs(60),
            ..options(0)
        };
        let mut instance = Instance::new(Arc::new(fast), &begun, 0, seed);
        instance.found(0);
        let first = instance.waits(0).expect("a poll");
        assert!(first < 500 * MS, "all ask soon");
        let (asked, _) = instance.asks(first);
        let nothing = Reply {
            verdict: Verdict::Missing,
            now: None,
        };
        instance.replied(first, asked, Ok(&nothing));
        polls.push((first, instance.waits(first).expect("a poll") - first));
    }
    let spread = |of: fn(&(u64, u64)) -> u64| {
        let all = polls.iter().map(of);
        (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
    };
    let (first, last) = spread(|poll| poll.0);
    assert!(first < 50 * MS && last > 450 * MS, "{first} {last}");
    // A quarter of 15 s, and a quarter of that more or less.
    let (shortest, longest) = spread(|poll| poll.1);
    assert!(
        shortest < 2_900 * MS && longest > 4_600 * MS,
        "{shortest} {longest}"
    );
    assert!(
        shortest >= 2_812 * MS && longest <= 4_688 * MS,
        "{shortest} {longest}"
    );
}

#[test]
fn a_window_is_looked_at_again_as_it_forgets_by_itself() {
    let mut instance = with(Options {
        counting: Some(Limits::Rate {
            failures: Share::new(0.5),
            slow: None,
            min_calls: 10,
        }),
        ..options(0)
    });
    let counts = Counts {
        calls: 4,
        failures: 1,
        slow: 0,
    };
    let settled = Settled {
        generation: generation(0),
        counted: true,
        counts,
    };
    instance.settled(0, &settled);
    let (asked, command) = instance.asks(0);
    assert!(
        matches!(command, Command::Count { counts: it, .. } if it == counts),
        "{command:?}"
    );
    instance.replied(
        0,
        asked,
        Ok(&done(told(1, CLOSED, Cause::Founded, "node-0"))),
    );
    let poll = instance.waits(0).expect("a poll");
    let (asked, _) = instance.asks(poll);
    assert_eq!(instance.next(poll), Step::Look);
    instance.counted(poll, Counts::default());
    instance.replied(
        poll,
        asked,
        Ok(&done(told(1, CLOSED, Cause::Founded, "node-0"))),
    );
    let (asked, command) = instance.asks(poll);
    assert!(
        matches!(command, Command::Count { counts, .. } if counts == Counts::default()),
        "{command:?}"
    );
    instance.replied(
        poll,
        asked,
        Ok(&done(told(1, CLOSED, Cause::Founded, "node-0"))),
    );
    let poll = instance.waits(poll).expect("a poll");
    instance.asks(poll);
    assert!(
        matches!(instance.next(poll), Step::Wait(_)),
        "there is nothing to forget"
    );
}

#[test]
fn counts_of_another_generation_are_nothing() {
    let mut instance = with(Options {
        counting: Some(Limits::Consecutive { threshold: 5 }),
        ..options(0)
    });
    let settled = Settled {
        generation: generation(5),
        counted: true,
        counts: Counts {
            failures: 3,
            ..Counts::default()
        },
    };
    instance.settled(0, &settled);
    assert!(instance.waits(0).is_some());
}

#[test]
fn a_clock_that_is_set_back_stands_still() {
    let mut instance = at(Shared { wait: 0, ..OPEN });
    let _ = instance.probe_wanted(10 * SECOND);
    let (asked, _) = instance.asks(SECOND);
    let mut granted = told(5, TRIAL, Cause::Leased, "node-0");
    granted.lease = Some((Who::new("node-0").expect("a name"), SECOND));
    instance.replied(SECOND, asked, Ok(&done(granted)));
    assert!(instance.has_lease(10 * SECOND + 800 * MS));
}
