//! Making breakers: their settings are said one by one, then checked.

use crate::breaker::Breaker;
use crate::exchange;
use crate::time::nanos;
use breaker_core::{Circuit, ConfigError, OnCancel, Setting, Settings, Window};
use wasm_bindgen::prelude::wasm_bindgen;

/// Makes a breaker of the settings that were said: see `js/options.ts`. One that is
/// NaN has its default.
///
/// Gives its number, or what is wrong.
#[wasm_bindgen]
pub fn create() -> usize {
    let [
        threshold,
        failure_rate,
        window,
        min_calls,
        slow,
        slow_rate,
        reset,
        backoff,
        max_reset,
        jitter,
        probes,
        close_after,
        close_rate,
        probe_timeout,
        timeout,
        of_time,
        on_cancel,
        resolution,
    ] = exchange::read();
    let mut draft = Settings::new();
    macro_rules! set {
        ($setting:ident, $value:expr) => {
            if !$setting.is_nan() {
                draft = draft.$setting($value);
            }
        };
        ($setting:ident: $name:ident) => {
            if !$setting.is_nan() {
                draft = draft.nanos(Setting::$name, nanos($setting));
            }
        };
    }
    set!(threshold, threshold as u32);
    set!(failure_rate, failure_rate);
    set!(
        window,
        if of_time > 0.0 {
            Window::nanos(nanos(window))
        } else {
            Window::calls(window as u32)
        }
    );
    set!(min_calls, min_calls as u32);
    set!(slow: Slow);
    set!(slow_rate, slow_rate);
    set!(reset: Reset);
    set!(backoff, backoff);
    set!(max_reset: MaxReset);
    set!(jitter, jitter);
    set!(probes, probes as u32);
    set!(close_after, close_after as u32);
    set!(close_rate, close_rate);
    set!(probe_timeout: ProbeTimeout);
    set!(timeout: Timeout);
    if on_cancel > 0.0 {
        draft = draft.on_cancel(OnCancel::Failure);
    }
    match Circuit::chosen(draft) {
        Err(error) => code(error),
        Ok(circuit) => Breaker::new(circuit, nanos(resolution)).give(),
    }
}

/// Another breaker with the settings of this one, and nothing counted.
#[wasm_bindgen]
pub fn fork(number: usize) -> usize {
    Breaker::at(number).fresh().give()
}

/// The number may be given out again.
#[wasm_bindgen]
pub fn free(number: usize) {
    drop(Breaker::take(number));
}

/// What JavaScript can't have seen when it looked at each setting alone. No breaker
/// is at so low an address.
const fn code(error: ConfigError) -> usize {
    match error {
        ConfigError::ThresholdWithFailureRate => 0,
        ConfigError::NoFailureRate => 1,
        ConfigError::MinCallsAboveWindow => 2,
        ConfigError::SlowWithoutSlowRate => 3,
        ConfigError::SlowRateWithoutSlow => 4,
        ConfigError::CloseAfterWithCloseRate => 5,
        ConfigError::MaxResetBelowReset => 6,
        ConfigError::TimeoutAboveProbeTimeout => 7,
        ConfigError::BucketTooShort => 8,
        _ => 9,
    }
}
