//! Options of a later version.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(last_good)]
async fn case_0() -> Answer {
    Ok(1)
}

fn main() {}
