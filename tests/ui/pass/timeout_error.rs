//! `timeout_error`: the error of a `Result`, or the whole output.

use std::io;

use breakerbox::{CallError, TimeoutError, circuit_breaker};

#[circuit_breaker(timeout = "2s")]
async fn from() -> Result<u8, CallError<io::Error>> {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", open_error = io::Error::other, timeout_error = io::Error::other)]
async fn path() -> io::Result<u8> {
    Ok(1)
}

#[circuit_breaker(
    timeout = "2s",
    timeout_error = |late: TimeoutError| CallError::Call(late.after().as_secs()),
)]
async fn closure() -> Result<u8, CallError<u64>> {
    Ok(1)
}

#[circuit_breaker(
    timeout = "2s",
    classify_output = Option::is_none,
    open_error = |_| None,
    timeout_error = |_| None,
)]
async fn whole_output() -> Option<u8> {
    Some(1)
}

fn main() {
    drop((from(), path(), closure(), whole_output()));
}
