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

#[circuit_breaker(reset = LONG, max_reset = "10s", name = "x")]
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

breaker! { static PMS = { threshold: NONE, reset: "5s" } }

fn main() {}
