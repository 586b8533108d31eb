//! What operators do, and what can be asked.

use crate::breaker::Breaker;
use crate::exchange::{say, say_change};
use crate::time::{duration, millis};
use breaker_core::{Order, Snapshot, SnapshotError, State};
use wasm_bindgen::prelude::wasm_bindgen;

/// An operator call: the state's number, into which it brings the breaker; for
/// open, with the wait. The change was said.
#[wasm_bindgen]
pub fn operate(number: usize, into: u8, wait: f64, now: f64) {
    let breaker = Breaker::at(number);
    let order = match into {
        1 => Order::OpenFor(duration(wait)),
        3 => Order::ForceOpen,
        4 => Order::Disable,
        5 => Order::Shadow,
        _ => Order::Close,
    };
    say_change(&breaker.by_ref().operate(order, &breaker.moment(now)));
}

/// Says: the time left, whether the wait was imposed, failures in a row, reopenings.
#[wasm_bindgen]
pub fn snapshot(number: usize, now: f64) {
    let breaker = Breaker::at(number);
    let clock = breaker.moment(now);
    let taken = breaker.by_ref().snapshot(&clock);
    say([
        millis(taken.time_left),
        f64::from(u8::from(taken.imposed)),
        f64::from(taken.consecutive),
        f64::from(taken.reopenings),
    ]);
}

/// Restores what [`snapshot`] said of a state. 0, and the change was said; or why it
/// is refused, and nothing was done.
#[wasm_bindgen]
pub fn restore(
    number: usize,
    state: u8,
    time_left: f64,
    imposed: bool,
    consecutive: u32,
    reopenings: u8,
    now: f64,
) -> u32 {
    let breaker = Breaker::at(number);
    let clock = breaker.moment(now);
    let snapshot = Snapshot {
        state: state_of(state),
        time_left: duration(time_left),
        imposed,
        consecutive,
        reopenings,
    };
    match breaker.by_ref().restore(&snapshot, &clock) {
        Ok(change) => {
            say_change(&change);
            0
        }
        Err(SnapshotError::ClosedWithTimeLeft) => 1,
        Err(_) => 2,
    }
}

const fn state_of(number: u8) -> State {
    match number {
        1 => State::Open,
        2 => State::HalfOpen,
        3 => State::ForcedOpen,
        4 => State::Disabled,
        5 => State::Shadow,
        _ => State::Closed,
    }
}
