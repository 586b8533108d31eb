//! A call's way: asked for, and settled. (Where a breaker is closed and counts
//! failures in a row, JavaScript sees in its word all that this would say.)

use crate::breaker::Breaker;
use crate::exchange::{NOTHING, say, say_change};
use crate::time::{Moment, duration, millis, nanos};
use breaker_core::{Effect, Generation, Outcome, Reason};
use wasm_bindgen::prelude::wasm_bindgen;

/// Asks whether a call may be made. 0: it is admitted. 1: it is the first probe of
/// a trial, and the change was said. Below 0: the reason, and how long until a call
/// may be admitted was said, or -1 where only an operator can tell. `withheld`: no
/// probe may be made, for want of another's grant; where nothing else is in its way,
/// none is left to wait.
#[wasm_bindgen]
pub fn admit(number: usize, now: f64, withheld: bool) -> i32 {
    let breaker = Breaker::at(number);
    let clock = breaker.moment(now);
    let circuit = breaker.by_ref();
    match circuit.try_admit_slowly_if_granted(&clock, || !withheld) {
        Ok(admission) => admission.change.map_or(0, |change| {
            say_change(&change);
            1
        }),
        Err(rejected) => {
            say([rejected.retry_after.map_or(NOTHING, millis)]);
            match rejected.reason {
                Reason::Open => -1,
                Reason::HalfOpenFull => -2,
                _ => -3,
            }
        }
    }
}

/// Settles a success, if it takes no more than a look or a number. `false`: nothing
/// was done, so [`settle`] it. Where there is neither a window of time nor `slow`,
/// neither `took` nor `now` is looked at.
#[wasm_bindgen]
pub fn succeed(number: usize, generation: u32, took: f64, now: f64) -> bool {
    let breaker = Breaker::at(number);
    let generation = Generation::from_number(generation);
    let clock = breaker.moment(now);
    breaker
        .by_ref()
        .count_at_once(generation, nanos(took), &clock)
}

/// Settles a call. `outcome`: see `js/module.ts`; `wait` is an overload's, `took`
/// matters where `slow` is set. Gives what that did; a change was said.
#[wasm_bindgen]
pub fn settle(
    number: usize,
    generation: u32,
    outcome: u32,
    wait: f64,
    took: f64,
    now: f64,
    random: f64,
) -> u32 {
    let breaker = Breaker::at(number);
    let clock = Moment {
        random,
        ..breaker.moment(now)
    };
    let outcome = match outcome {
        0 => Outcome::Success,
        1 => Outcome::Failure,
        2 => Outcome::Ignored,
        3 => Outcome::Dropped,
        _ => Outcome::Overloaded(duration(wait)),
    };
    let generation = Generation::from_number(generation);
    let circuit = breaker.by_ref();
    let (number, change) = match circuit.settle_slowly(generation, outcome, nanos(took), &clock) {
        Effect::Counted => return 0,
        Effect::Neutral => return 1,
        Effect::Tripped(change) | Effect::Closed(change) => (3, change),
        Effect::WouldTrip(change) => (4, change),
        _ => return 2,
    };
    say_change(&change);
    number
}
