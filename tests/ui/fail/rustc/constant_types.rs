//! Constants of the wrong type, and what is no constant.

#![allow(unused)]

use breakerbox::{CallError, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const COUNT: u64 = 5;
const NAME: u8 = 5;

#[circuit_breaker(threshold = COUNT)]
async fn another_number() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = COUNT)]
async fn not_a_duration() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = COUNT)]
async fn not_a_duration_either() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = COUNT)]
async fn not_a_ratio() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = NAME)]
async fn not_a_name() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = NO_NAME)]
async fn missing_name() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = LIMIT)]
async fn not_found() -> Answer {
    Ok(1)
}

fn count() -> u32 {
    5
}

#[circuit_breaker(threshold = count())]
async fn not_constant() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = COUNT)]
async fn not_a_share() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = COUNT)]
async fn no_window() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = "10s".len() as u64)]
async fn no_window_either() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = SIZE)]
async fn window_not_found() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = count())]
async fn window_not_constant() -> Answer {
    Ok(1)
}

breaker! { static BY_RATE = { failure_rate: 0.5, window: COUNT } }

breaker! { static PMS = { threshold: COUNT, reset: COUNT } }

fn main() {}
