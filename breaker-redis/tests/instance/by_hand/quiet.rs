//! Circuits of which nothing is at stake are asked for rarely, and no others are.

use super::{ByHand, OPEN, TRIPPED, done, generation, happened, told, with};
use crate::node::CLOSED;
use crate::races::options;
use crate::world::{MS, SECOND};
use breaker_redis::instance::{Instance, Options, Settled, Unanswered};
use breaker_redis::protocol::{
    Cause, Counts, Limits, Quorum, Reply, Share, Shared, Verdict, Version,
};
use breakerbox::State;
use std::time::Duration;

const QUIET: u64 = 1_000 * SECOND;

/// 5 s, and a quarter: 3.75 s where that is in time for being alive.
const POLL: u64 = 6_250 * MS;

fn quiet() -> Options {
    Options {
        quiet: Duration::from_micros(QUIET),
        ..options(0)
    }
}

fn nothing() -> Reply {
    Reply {
        verdict: Verdict::Missing,
        now: None,
        listeners: None,
    }
}

/// How long it waits after it has read that.
fn waits_after(options: Options, reply: &Reply) -> u64 {
    let mut instance = with(options);
    let now = instance.waits(0).expect("a poll");
    let (asked, _) = instance.asks(now);
    instance.replied(now, asked, Ok(reply));
    instance.waits(now).expect("a poll") - now
}

/// One that waits for its next poll for long, and when that is.
fn waiting(options: Options) -> (Instance, u64) {
    let mut instance = with(options);
    let now = instance.waits(0).expect("a poll");
    let (asked, _) = instance.asks(now);
    instance.replied(now, asked, Ok(&nothing()));
    let until = instance.waits(now).expect("a poll");
    assert!(until >= now + QUIET * 3 / 4, "{until}");
    (instance, until)
}

#[test]
fn a_closed_circuit_is_polled_rarely_whether_redis_knows_it_or_not() {
    let closed = done(told(4, CLOSED, Cause::Recovered, "other"));
    for reply in [nothing(), closed] {
        let waits = waits_after(quiet(), &reply);
        let around = QUIET * 3 / 4..=QUIET * 5 / 4;
        assert!(around.contains(&waits), "{waits}");
    }
}

#[test]
fn not_rarer_than_others_where_a_share_of_those_alive_is_a_quorum() {
    let share = Options {
        quorum: Quorum::Share(Share::new(0.2).expect("a share")),
        ..quiet()
    };
    assert!(waits_after(share, &nothing()) <= POLL);
}

#[test]
fn what_is_open_for_the_fleet_is_polled_in_time() {
    let states = [State::ForcedOpen, State::Disabled, State::Shadow];
    let set = states.map(|state| Shared { state, ..CLOSED });
    for state in [OPEN].into_iter().chain(set) {
        let (mut instance, _) = waiting(quiet());
        let now = 20 * SECOND;
        instance.heard(now, &told(4, state, Cause::Operator, "other"));
        instance.follows(now);
        instance.followed(now, Ok(generation(1)));
        let poll = instance.waits(now).expect("a poll");
        assert!(poll <= now + POLL, "{state:?}: {poll}");
        let (asked, _) = instance.asks(poll);
        let reply = done(told(4, state, Cause::Operator, "other"));
        instance.replied(poll, asked, Ok(&reply));
        assert!(instance.waits(poll).expect("a poll") <= poll + POLL);

        // And rarely again, once it is closed.
        let closed = told(5, CLOSED, Cause::Recovered, "other");
        instance.heard(poll + MS, &closed);
        instance.follows(poll + MS);
        instance.followed(poll + MS, Ok(generation(2)));
        let next = instance.waits(poll + MS).expect("a poll");
        let (asked, _) = instance.asks(next);
        instance.replied(next, asked, Ok(&done(closed)));
        let until = instance.waits(next).expect("a poll");
        assert!(until >= next + QUIET * 3 / 4, "{state:?}: {until}");
    }
}

#[test]
fn what_it_has_counted_is_kept_alive_by_its_polls() {
    let counting = Options {
        counting: Some(Limits::Consecutive { threshold: 5 }),
        ..quiet()
    };
    let (mut instance, _) = waiting(counting);
    let now = 20 * SECOND;
    let count = |failures| Settled {
        generation: generation(0),
        counted: true,
        counts: Counts {
            failures,
            ..Counts::default()
        },
    };
    let founded = Version {
        epoch: 7,
        counter: 4,
    };
    let reply = done(told(founded.counter, CLOSED, Cause::Founded, "other"));
    let ask = |instance: &mut Instance, now| {
        let (asked, _) = instance.asks(now);
        instance.replied(now, asked, Ok(&reply));
        instance.waits(now).expect("a poll")
    };
    instance.settled(now, &count(1));
    let next = ask(&mut instance, now);
    assert!(next <= now + POLL, "{next}");
    // That it is none any more is said for a while, and then nothing is at stake.
    let mut now = now + 10 * SECOND;
    instance.settled(now, &count(0));
    for poll in 0..=6 {
        let next = ask(&mut instance, now);
        assert_eq!(next <= now + POLL, poll < 6, "{poll}: {next}");
        now = next;
    }
}

#[test]
fn a_vote_is_kept_alive_by_its_polls() {
    let careful = Options {
        quorum: Quorum::Instances(3),
        ..quiet()
    };
    let (mut instance, _) = waiting(careful);
    let now = 20 * SECOND;
    instance.changed(now, &happened(1, OPEN, TRIPPED));
    let (asked, _) = instance.asks(now);
    let reply = done(told(4, CLOSED, Cause::Founded, "other"));
    instance.replied(now, asked, Ok(&reply));
    assert!(instance.waits(now).expect("a poll") <= now + POLL);
}

#[test]
fn what_is_new_asks_at_once_and_what_only_asks_can_wait() {
    let mut instance = with(quiet());
    assert!(instance.can_wait(0), "for its first poll");
    instance.hasten(10);
    assert_eq!(instance.due(10), Some(10));
    assert!(instance.can_wait(10), "but it is no news");
    let (asked, _) = instance.asks(10);
    instance.replied(20, asked, Ok(&nothing()));
    assert!(instance.can_wait(20));

    instance.changed(30, &happened(1, OPEN, TRIPPED));
    assert!(!instance.can_wait(30), "others have to hear that");
    let (asked, _) = instance.asks(30);
    let opened = told(4, OPEN, TRIPPED, options(0).me.as_str());
    instance.replied(40, asked, Ok(&done(opened)));
    assert!(instance.can_wait(40));
    let over = 3 * SECOND;
    assert!(instance.probe_wanted(over).is_err());
    assert!(!instance.can_wait(over), "a call waits for the lease");
}

#[test]
fn who_could_not_follow_is_closed_here_and_polls_in_time() {
    let (mut instance, _) = waiting(quiet());
    let now = 20 * SECOND;
    instance.heard(now, &told(4, OPEN, TRIPPED, "other"));
    instance.follows(now);
    instance.followed(now, Err(generation(0)));
    assert!(instance.waits(now).expect("a poll") <= now + POLL);
}

#[test]
fn what_was_not_answered_is_asked_again_as_what_can_not_wait() {
    let mut instance = with(quiet());
    let poll = instance.waits(0).expect("a poll");
    let (asked, _) = instance.asks(poll);
    instance.replied(poll, asked, Err(Unanswered::Unknown));
    let retry = instance.waits(poll).expect("to ask again");
    assert!(
        !instance.can_wait(retry),
        "until then it is one by itself, that was shared"
    );
    let (asked, _) = instance.asks(retry);
    instance.replied(retry, asked, Ok(&nothing()));
    assert!(instance.can_wait(retry));
}
