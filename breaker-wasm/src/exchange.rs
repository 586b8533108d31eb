//! What a call says beside its parameters and its result: numbers at one place of
//! the memory, which JavaScript writes before or reads after it.
#![allow(unsafe_code)]

use crate::time::millis;
use breaker_core::{Change, Trigger};
use core::cell::UnsafeCell;
use wasm_bindgen::prelude::wasm_bindgen;

/// As many as settings are written.
const NUMBERS: usize = 18;

struct Exchange(UnsafeCell<[f64; NUMBERS]>);

// SAFETY: without the `atomics` feature, which this module is never built with,
// a WebAssembly instance has one thread.
unsafe impl Sync for Exchange {}

const _: () = assert!(!cfg!(target_feature = "atomics"));

static EXCHANGE: Exchange = Exchange(UnsafeCell::new([0.0; NUMBERS]));

/// Where the numbers are.
#[wasm_bindgen]
pub fn exchange() -> usize {
    EXCHANGE.0.get().expose_provenance()
}

pub(crate) fn read() -> [f64; NUMBERS] {
    // SAFETY: there is one thread, and no reference to it is ever kept.
    unsafe { *EXCHANGE.0.get() }
}

/// `js/module.ts` has the numbers' names.
pub(crate) fn say<const COUNT: usize>(numbers: [f64; COUNT]) {
    const { assert!(COUNT <= NUMBERS) };
    // SAFETY: as in `read`; there is room for as many.
    unsafe { EXCHANGE.0.get().cast::<[f64; COUNT]>().write(numbers) };
}

/// A change of state; from what to what, JavaScript sees itself.
pub(crate) fn say_change(change: &Change) {
    say([
        f64::from(trigger(change.trigger)),
        f64::from(change.failures),
        change.wait.map_or(NOTHING, millis),
    ]);
}

pub(crate) const NOTHING: f64 = -1.0;

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
        Trigger::Fleet => 10,
        _ => u8::MAX,
    }
}
