//! Without options.

use breakerbox::{CallError, circuit_breaker};

#[circuit_breaker]
async fn without_brackets() -> Result<u8, CallError<()>> {
    Ok(1)
}

#[circuit_breaker()]
fn with_brackets() -> Result<u8, CallError<()>> {
    Ok(1)
}

#[circuit_breaker {}]
fn with_braces() -> Result<u8, CallError<()>> {
    Ok(1)
}

fn main() {
    drop(without_brackets());
    let _ = with_brackets();
    let _ = with_braces();
}
