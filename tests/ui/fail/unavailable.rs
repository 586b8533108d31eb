//! Options of a later version.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(failure_rate = 0.5)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = 100, min_calls = 10)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(slow = "1s", slow_rate = 0.5)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(key = account, max_keys = 100)]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(last_good)]
async fn case_4() -> Answer {
    Ok(1)
}

fn main() {}
