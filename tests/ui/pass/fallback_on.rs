//! `fallback_on`: `any`, `open`.

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(fallback = |_| Ok(9), fallback_on = any)]
fn any() -> Answer {
    Err(CallError::Call(()))
}

#[circuit_breaker(fallback_on = open, fallback = |_| Ok(9), threshold = 1)]
fn open() -> Answer {
    Err(CallError::Call(()))
}

#[circuit_breaker(fallback_on = open, fallback = |_| Ok(9), timeout = "2s")]
async fn open_with_timeout() -> Answer {
    Ok(1)
}

fn main() {
    assert!(matches!(any(), Ok(9)));
    assert!(matches!(open(), Err(CallError::Call(()))));
    assert!(matches!(open(), Ok(9)));
    drop(open_with_timeout());
}
