//! What a call says beside its result: read afterwards, where it matters, number
//! by number.

use crate::single;
use crate::time::millis;
use breaker_core::{Change, State, Trigger};
use wasm_bindgen::prelude::wasm_bindgen;

const NOTHING: f64 = -1.0;

/// What the last call said; -1 where it said nothing. `js/module.ts` has the
/// numbers' names.
pub(crate) struct Report([f64; 6]);

impl Report {
    pub(crate) const NONE: Self = Self([NOTHING; 6]);

    pub(crate) fn clear(&mut self) {
        self.0 = [NOTHING; 6];
    }

    /// How long until a call may be admitted.
    pub(crate) fn say_left(&mut self, millis: f64) {
        self.0[0] = millis;
    }

    pub(crate) fn say(&mut self, numbers: [f64; 6]) {
        self.0 = numbers;
    }

    pub(crate) fn say_change(&mut self, change: &Change) {
        self.say([
            f64::from(state(change.from)),
            f64::from(state(change.to)),
            f64::from(trigger(change.trigger)),
            f64::from(change.failures),
            change.wait.map_or(NOTHING, millis),
            f64::from(change.generation.get()),
        ]);
    }
}

/// A number of the report: see `js/module.ts`.
#[wasm_bindgen]
pub fn report(index: usize) -> f64 {
    single::with(|module| module.report.0.get(index).copied().unwrap_or(f64::NAN))
}

pub(crate) const fn state(state: State) -> u8 {
    match state {
        State::Closed => 0,
        State::Open => 1,
        State::HalfOpen => 2,
        State::ForcedOpen => 3,
        State::Disabled => 4,
        State::Shadow => 5,
    }
}

pub(crate) const fn state_of(number: u8) -> Option<State> {
    Some(match number {
        0 => State::Closed,
        1 => State::Open,
        2 => State::HalfOpen,
        3 => State::ForcedOpen,
        4 => State::Disabled,
        5 => State::Shadow,
        _ => return None,
    })
}

const fn trigger(trigger: Trigger) -> u8 {
    match trigger {
        Trigger::Failures => 0,
        Trigger::FailureRate => 1,
        Trigger::SlowRate => 2,
        Trigger::FailedProbe => 3,
        Trigger::Overloaded => 4,
        Trigger::WaitOver => 5,
        Trigger::ProbeTimedOut => 6,
        Trigger::Recovered => 7,
        Trigger::Operator => 8,
        Trigger::Restored => 9,
        _ => u8::MAX,
    }
}
