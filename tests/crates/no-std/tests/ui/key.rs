//! `key` needs std.

#![allow(unused)]

use breakerbox::{Breaker, CallError, Settings, circuit_breaker};
use test_no_std::Ticks;

type Answer = Result<u8, CallError<()>>;

static SENSOR: Breaker<Ticks> = Breaker::with_clock("sensor", Settings::new().must(), Ticks);

#[circuit_breaker(key = register)]
fn own(register: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = register, max_keys = 10, failure_rate = 0.5)]
async fn by_rate(register: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = SENSOR, key = register)]
fn elsewhere(register: u8) -> Answer {
    Ok(1)
}

struct Board;

impl Board {
    #[circuit_breaker(key = register, fallback = |_| None)]
    fn method(&self, register: u8) -> Answer {
        Ok(1)
    }
}

fn main() {}
