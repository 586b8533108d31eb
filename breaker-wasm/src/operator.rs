//! What operators do, and what can be asked.

use crate::report::{state, state_of};
use crate::single;
use crate::time::{duration, millis};
use breaker_core::{Snapshot, SnapshotError, State};
use wasm_bindgen::prelude::wasm_bindgen;

/// The state's number.
#[wasm_bindgen]
pub fn state_now(number: u32) -> u8 {
    single::with(|module| {
        let breaker = module.slab.get(number);
        state(breaker.map_or(State::ForcedOpen, |breaker| breaker.circuit.state()))
    })
}

/// The generation's number.
#[wasm_bindgen]
pub fn generation(number: u32) -> u32 {
    single::with(|module| {
        let breaker = module.slab.get(number);
        breaker.map_or(0, |breaker| breaker.by_ref().generation().get())
    })
}

/// Whether it is closed, with no failure in a row before.
#[wasm_bindgen]
pub fn is_idle(number: u32) -> bool {
    single::with(|module| {
        let breaker = module.slab.get(number);
        breaker.is_some_and(|breaker| breaker.circuit.is_idle())
    })
}

/// An operator call: the state's number, into which it brings the breaker; for
/// open, with the wait. The report has the change.
#[wasm_bindgen]
pub fn operate(number: u32, into: u8, wait: f64, now: f64) {
    single::with(|module| {
        let Some(breaker) = module.slab.get(number) else {
            return;
        };
        let clock = breaker.moment(now);
        let circuit = breaker.by_ref();
        let change = match into {
            1 => circuit.open_for(duration(wait), &clock),
            3 => circuit.force_open(&clock),
            4 => circuit.disable(&clock),
            5 => circuit.shadow(&clock),
            _ => circuit.close(&clock),
        };
        module.report.say_change(&change);
    });
}

/// The report has: the state, the time left, whether the wait was imposed,
/// failures in a row, reopenings.
#[wasm_bindgen]
pub fn snapshot(number: u32, now: f64) {
    single::with(|module| {
        let Some(breaker) = module.slab.get(number) else {
            return;
        };
        let clock = breaker.moment(now);
        let taken = breaker.by_ref().snapshot(&clock);
        module.report.say([
            f64::from(state(taken.state)),
            millis(taken.time_left),
            f64::from(u8::from(taken.imposed)),
            f64::from(taken.consecutive),
            f64::from(taken.reopenings),
            0.0,
        ]);
    });
}

/// Restores what [`snapshot`] said. 0, and the report has the change; or why it
/// is refused, and nothing was done.
#[wasm_bindgen]
pub fn restore(
    number: u32,
    state: u8,
    time_left: f64,
    imposed: bool,
    consecutive: u32,
    reopenings: u8,
    now: f64,
) -> u32 {
    single::with(|module| {
        let (Some(breaker), Some(state)) = (module.slab.get(number), state_of(state)) else {
            return 3;
        };
        let clock = breaker.moment(now);
        let snapshot = Snapshot {
            state,
            time_left: duration(time_left),
            imposed,
            consecutive,
            reopenings,
        };
        match breaker.by_ref().restore(&snapshot, &clock) {
            Ok(change) => {
                module.report.say_change(&change);
                0
            }
            Err(SnapshotError::ClosedWithTimeLeft) => 1,
            Err(SnapshotError::BeyondThreshold { .. }) => 2,
            Err(_) => 3,
        }
    })
}
