//! A fallback that may give `None`, where the caller can't get a refusal or a timeout then.

#![allow(unused)]

use breakerbox::{CircuitOpenError, circuit_breaker};

struct PmsError;

fn cached() -> Option<Result<u8, PmsError>> {
    None
}

async fn fetched() -> Option<Result<u8, PmsError>> {
    None
}

#[circuit_breaker(fallback = cached)]
fn plain() -> Result<u8, PmsError> {
    Ok(1)
}

#[circuit_breaker(fallback = |_| None)]
async fn closure() -> Result<u8, PmsError> {
    Ok(1)
}

#[circuit_breaker(fallback = fetched)]
async fn awaited() -> Result<u8, PmsError> {
    Ok(1)
}

#[circuit_breaker(fallback = Some(Some(9)), classify_output = Option::is_none)]
async fn not_a_result() -> Option<u8> {
    None
}

#[circuit_breaker(fallback = |_| Ok(9), fallback_on = open, timeout = "2s")]
async fn late_without_a_fallback() -> Result<u8, PmsError> {
    Ok(1)
}

struct Late;

impl From<CircuitOpenError> for Late {
    fn from(_: CircuitOpenError) -> Self {
        Late
    }
}

#[circuit_breaker(fallback = |_| None, timeout = "2s")]
async fn late() -> Result<u8, Late> {
    Ok(1)
}

fn main() {}
