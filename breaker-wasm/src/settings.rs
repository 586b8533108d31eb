//! Making breakers: their settings are written one by one, then checked.

use crate::single::{self, State};
use crate::slab::Breaker;
use crate::time::{duration, nanos};
use breaker_core::{Circuit, ConfigError, OnCancel, Settings, Window};
use wasm_bindgen::prelude::wasm_bindgen;

/// Makes a breaker. A setting that is NaN has its default. The window is one of
/// time, in milliseconds, or one of calls; `resolution` is the clock's.
///
/// Gives its number, or below 0 what is wrong: see `js/options.ts`.
#[allow(clippy::too_many_arguments, reason = "numbers need no glue")]
#[wasm_bindgen]
pub fn create(
    threshold: f64,
    failure_rate: f64,
    window: f64,
    min_calls: f64,
    slow: f64,
    slow_rate: f64,
    reset: f64,
    backoff: f64,
    max_reset: f64,
    jitter: f64,
    probes: f64,
    close_after: f64,
    close_rate: f64,
    probe_timeout: f64,
    timeout: f64,
    of_time: bool,
    on_cancel: bool,
    resolution: f64,
) -> i32 {
    let mut draft = Settings::new();
    macro_rules! set {
        ($setting:ident, $value:expr) => {
            if !$setting.is_nan() {
                draft = draft.$setting($value);
            }
        };
    }
    set!(threshold, threshold as u32);
    set!(failure_rate, failure_rate);
    set!(
        window,
        if of_time {
            Window::time(duration(window))
        } else {
            Window::calls(window as u32)
        }
    );
    set!(min_calls, min_calls as u32);
    set!(slow, duration(slow));
    set!(slow_rate, slow_rate);
    set!(reset, duration(reset));
    set!(backoff, backoff);
    set!(max_reset, duration(max_reset));
    set!(jitter, jitter);
    set!(probes, probes as u32);
    set!(close_after, close_after as u32);
    set!(close_rate, close_rate);
    set!(probe_timeout, duration(probe_timeout));
    set!(timeout, duration(timeout));
    if on_cancel {
        draft = draft.on_cancel(OnCancel::Failure);
    }
    single::with(|module| match Circuit::chosen(draft) {
        Err(error) => code(error),
        Ok(circuit) => add(module, Breaker::new(circuit, nanos(resolution))),
    })
}

/// Another breaker with the settings of this one, and nothing counted.
#[wasm_bindgen]
pub fn fork(number: u32) -> i32 {
    single::with(|module| match module.slab.get(number) {
        None => OTHER,
        Some(breaker) => {
            let breaker = breaker.fresh();
            add(module, breaker)
        }
    })
}

/// The number may be given out again.
#[wasm_bindgen]
pub fn free(number: u32) {
    single::with(|module| module.slab.remove(number));
}

const NO_MEMORY: i32 = -1;
const OTHER: i32 = -2;

fn add(module: &mut State, breaker: Breaker) -> i32 {
    match module.slab.add(breaker) {
        // 2^31 breakers don't fit into the memory.
        Some(number) => number.cast_signed(),
        None => NO_MEMORY,
    }
}

/// What JavaScript can't have seen when it looked at each setting alone.
const fn code(error: ConfigError) -> i32 {
    match error {
        ConfigError::ThresholdWithFailureRate => -3,
        ConfigError::NoFailureRate => -4,
        ConfigError::MinCallsAboveWindow => -5,
        ConfigError::SlowWithoutSlowRate => -6,
        ConfigError::SlowRateWithoutSlow => -7,
        ConfigError::CloseAfterWithCloseRate => -8,
        ConfigError::MaxResetBelowReset => -9,
        ConfigError::TimeoutAboveProbeTimeout => -10,
        ConfigError::BucketTooShort => -11,
        ConfigError::TooLarge(_) => -12,
        _ => OTHER,
    }
}
