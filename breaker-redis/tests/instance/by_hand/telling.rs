//! What threads tell in another order than it happened in, and what arrives in another.

use super::{ByHand, OPEN, TRIAL, TRIPPED, at, done, happened, told, version};
use crate::node::CLOSED;
use crate::world::SECOND;
use breaker_redis::protocol::{Cause, Command, Shared};
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
