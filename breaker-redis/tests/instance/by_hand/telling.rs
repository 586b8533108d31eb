//! What threads tell in another order than it happened in, and what arrives in another.

use super::{ByHand, OPEN, TRIAL, TRIPPED, at, done, happened, refused, told, version, with};
use crate::node::CLOSED;
use crate::races::options;
use crate::world::SECOND;
use breaker_redis::instance::{Asked, Instance, Options, Unanswered};
use breaker_redis::protocol::{Cause, Command, Quorum, Shared, Told};
use breakerbox::State;

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

/// An operator sets this state; what is asked for it, and when.
fn order(instance: &mut Instance, number: u32, state: State) -> (u64, Asked, Command) {
    let set = Shared { state, ..CLOSED };
    instance.changed(2 * SECOND, &happened(number, set, Cause::Operator));
    ask(instance)
}

fn ask(instance: &mut Instance) -> (u64, Asked, Command) {
    let now = instance.due(2 * SECOND).expect("it is to be told");
    let (asked, command) = instance.asks(now);
    (now, asked, command)
}

fn stands(counter: u64, state: State, by: &str) -> Told {
    told(counter, Shared { state, ..CLOSED }, Cause::Operator, by)
}

/// What tells all of this state, as an operator's.
fn change(known: u64, state: State, again: bool) -> Command {
    Command::Change {
        known: Some(version(known)),
        to: Shared { state, ..CLOSED },
        cause: Cause::Operator,
        again,
    }
}

#[test]
fn an_order_that_comes_late_is_heard_of_before_the_answer_to_the_later_one() {
    let mut instance = at(CLOSED);
    let (now, first, _) = order(&mut instance, 1, State::ForcedOpen);
    instance.replied(now, first, Err(Unanswered::Unknown));
    let (now, asked, _) = order(&mut instance, 2, State::Disabled);
    instance.heard(now, &stands(6, State::ForcedOpen, "node-0"));
    instance.replied(now, asked, Ok(&done(stands(5, State::Disabled, "node-0"))));
    assert_eq!(ask(&mut instance).2, change(6, State::Disabled, false));
}

#[test]
fn an_order_that_comes_twice_and_late_does_not_keep_the_next_from_being_done() {
    let mut instance = at(CLOSED);
    let (now, asked, _) = order(&mut instance, 1, State::ForcedOpen);
    instance.replied(
        now,
        asked,
        Ok(&done(stands(5, State::ForcedOpen, "node-0"))),
    );
    let (now, asked, _) = order(&mut instance, 2, State::Disabled);
    instance.replied(now, asked, Err(Unanswered::Unknown));
    let (now, asked, command) = ask(&mut instance);
    assert_eq!(command, change(5, State::Disabled, true));
    instance.replied(
        now,
        asked,
        Ok(&refused(stands(6, State::ForcedOpen, "node-0"))),
    );
    assert_eq!(ask(&mut instance).2, change(6, State::Disabled, false));
}

#[test]
fn an_order_that_is_told_again_says_what_was_known_when_it_was_told_first() {
    let mut instance = at(CLOSED);
    let (now, asked, command) = order(&mut instance, 1, State::Disabled);
    assert_eq!(command, change(4, State::Disabled, false));
    instance.replied(now, asked, Err(Unanswered::Unknown));
    instance.heard(now, &stands(6, State::ForcedOpen, "other"));
    let (now, asked, command) = ask(&mut instance);
    assert_eq!(command, change(4, State::Disabled, true));
    instance.replied(
        now,
        asked,
        Ok(&refused(stands(6, State::ForcedOpen, "other"))),
    );
    assert_eq!(instance.follows(now).to.state, State::ForcedOpen);
}

#[test]
fn a_redis_that_is_behind_when_an_order_is_told_again_is_not_taken_at_its_word() {
    let mut instance = at(CLOSED);
    let (now, asked, _) = order(&mut instance, 1, State::Disabled);
    instance.replied(now, asked, Err(Unanswered::Unknown));
    instance.heard(now, &stands(9, State::Shadow, "other"));
    let (now, asked, command) = ask(&mut instance);
    assert_eq!(command, change(4, State::Disabled, true));
    // It was restored to what was later than the order, and earlier than what is known here.
    let behind = stands(6, State::ForcedOpen, "other");
    instance.replied(now, asked, Ok(&refused(behind)));
    assert_eq!(instance.known(), Some(version(9)));
    assert_eq!(instance.follows(now).to.state, State::Shadow);
}

#[test]
fn an_order_after_one_that_may_be_done_stands_over_that_however_many_come() {
    let mut instance = at(CLOSED);
    let (now, first, _) = order(&mut instance, 1, State::ForcedOpen);
    for number in [2, 3] {
        let set = Shared {
            state: State::Disabled,
            ..CLOSED
        };
        instance.changed(now, &happened(number, set, Cause::Operator));
    }
    instance.replied(now, first, Err(Unanswered::Unknown));
    for _ in 0..2 {
        let (now, asked, command) = ask(&mut instance);
        assert_eq!(
            command,
            change(4, State::Disabled, false),
            "or the first were in its way"
        );
        instance.replied(now, asked, Err(Unanswered::Unknown));
    }
}

#[test]
fn a_vote_that_was_taken_back_is_not_given_again() {
    let mut instance = with(Options {
        quorum: Quorum::Instances(2),
        ..options(0)
    });
    let reply = done(told(4, CLOSED, Cause::Founded, "node-0"));
    for (number, state, cause, vote) in [
        (1, OPEN, TRIPPED, true),
        (3, CLOSED, Cause::Recovered, false),
    ] {
        instance.changed(SECOND, &happened(number, state, cause));
        let (asked, command) = instance.asks(SECOND);
        assert!(
            matches!(command, Command::Vote { open, .. } if open == vote),
            "{command:?}"
        );
        instance.replied(SECOND, asked, Ok(&reply));
    }
    instance.lost(SECOND);
    instance.found(SECOND);
    instance.waits(SECOND);
}

#[test]
fn what_is_left_to_say_is_said_at_the_end() {
    let forced = Shared {
        state: State::ForcedOpen,
        ..CLOSED
    };
    let mut instance = at(CLOSED);
    assert!(instance.is_told());
    assert_eq!(instance.farewell(2 * SECOND), []);
    instance.changed(2 * SECOND, &happened(2, forced, Cause::Operator));
    assert!(!instance.is_told());
    let word = |again| Command::Change {
        known: Some(version(4)),
        to: forced,
        cause: Cause::Operator,
        again,
    };
    assert_eq!(instance.farewell(2 * SECOND), [word(false)]);
    // It is on its way, and that may have come to its end.
    let mut instance = at(CLOSED);
    instance.changed(2 * SECOND, &happened(2, forced, Cause::Operator));
    let (asked, command) = instance.asks(2 * SECOND);
    assert_eq!(command, word(false));
    assert!(!instance.is_told(), "it was not answered");
    assert_eq!(instance.farewell(2 * SECOND), [word(true)]);
    let mut instance = at(CLOSED);
    instance.changed(2 * SECOND, &happened(2, forced, Cause::Operator));
    let (asked_again, _) = instance.asks(2 * SECOND);
    assert_eq!(asked, asked_again);
    let told = told(5, forced, Cause::Operator, "node-0");
    instance.replied(2 * SECOND, asked, Ok(&done(told)));
    assert!(instance.is_told());
    assert_eq!(instance.farewell(2 * SECOND), []);
}
