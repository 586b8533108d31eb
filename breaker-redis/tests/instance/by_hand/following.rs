//! What others did, and what happens here meanwhile.

use super::{ByHand, OPEN, TRIAL, TRIPPED, at, done, generation, happened, told, version};
use crate::node::CLOSED;
use crate::world::{MS, SECOND};
use breaker_redis::instance::Step;
use breaker_redis::protocol::{Cause, Command, Shared};
use breakerbox::State;

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
fn what_a_thread_tells_late_and_was_followed_over_is_not_told() {
    let mut instance = at(OPEN);
    instance.changed(2 * SECOND, &happened(0, OPEN, TRIPPED));
    instance.waits(2 * SECOND);
}

#[test]
fn who_waits_for_a_trial_follows_only_what_is_another_wait() {
    let over = Shared { wait: 0, ..OPEN };
    let more = |reopenings| Shared { reopenings, ..over };
    for (to, follows) in [(over, false), (OPEN, true), (more(1), true)] {
        let mut instance = at(over);
        instance.heard(2 * SECOND, &told(5, to, Cause::Released, "other"));
        assert_eq!(
            matches!(instance.next(2 * SECOND), Step::Follow(_)),
            follows,
            "{to:?}"
        );
        // One in between was missed, which may have been anything.
        let mut instance = at(over);
        instance.heard(2 * SECOND, &told(6, to, Cause::Released, "other"));
        assert_eq!(instance.follows(2 * SECOND).to.state, State::Open);
    }
}
