//! What a call that took too long gives: a missing `From`, a `timeout_error` of the wrong type.

#![allow(unused)]

use breakerbox::{CircuitOpenError, TimeoutError, circuit_breaker};

struct PmsError;

impl From<CircuitOpenError> for PmsError {
    fn from(_: CircuitOpenError) -> Self {
        PmsError
    }
}

#[circuit_breaker(timeout = "2s")]
async fn no_from() -> Result<u8, PmsError> {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error = |late| late.to_string())]
async fn another_error() -> Result<u8, PmsError> {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error = PmsError)]
async fn a_value() -> Result<u8, PmsError> {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", classify_output = |_| false, open_error = |_| 0)]
async fn not_a_result() -> u8 {
    1
}

fn main() {}
