//! Settings that only the compiler can evaluate.

#![allow(unused)]

use std::time::Duration;

use breakerbox::{CallError, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const NONE: u32 = 0;
const MANY: u32 = 1 << 30;
const LONG: Duration = Duration::from_secs(3600);

#[circuit_breaker(threshold = NONE)]
async fn zero() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "10s", threshold = MANY)]
fn too_many() -> Answer {
    Ok(1)
}

#[circuit_breaker(probes = MANY)]
async fn too_many_probes() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = LONG, max_reset = "10s", backoff = 2, name = "x")]
async fn below() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = LONG)]
async fn above() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = f64::NAN)]
async fn not_a_number() -> Answer {
    Ok(1)
}

#[circuit_breaker(close_rate = 1.5 * 1.0)]
async fn too_large() -> Answer {
    Ok(1)
}

#[circuit_breaker(backoff = 1.0 / 2.0)]
async fn below_one() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = Duration::ZERO)]
async fn no_time() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = Duration::MAX)]
async fn all_time() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = PMS, timeout = Duration::ZERO)]
async fn no_time_beside_a_breaker() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.0 / 0.0)]
async fn no_share() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = MANY)]
async fn too_large_a_window() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = NONE)]
async fn no_calls() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = Duration::from_millis(9))]
async fn too_short() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = Duration::MAX)]
async fn too_long() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = NONE)]
async fn of_no_calls() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = 20, window = NONE + 10)]
async fn above_the_window() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = Duration::MAX, slow_rate = 0.5)]
async fn never_slow() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = LONG, slow_rate = -0.5 * 1.0)]
async fn a_negative_share() -> Answer {
    Ok(1)
}

struct Client;

impl Client {
    #[circuit_breaker(shared, failure_rate = 0.5, window = MANY)]
    async fn method(&self) -> Answer {
        Ok(1)
    }
}

breaker! { static BY_RATE = { failure_rate: 0.5, window: MANY, reset: "5s" } }

breaker! { static PMS = { threshold: NONE, reset: "5s" } }

fn main() {}
