//! Breakers that need a clock, limits that need a timer, keys that need a map.

#![allow(unused)]

use breakerbox::{Breaker, CallError, Clock, Settings, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[derive(Clone, Copy, Debug)]
struct Ticks;

impl Clock for Ticks {
    fn now(&self) -> u64 {
        0
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

static SENSOR: Breaker<Ticks> = Breaker::with_clock("sensor", Settings::new().must(), Ticks);

#[circuit_breaker(breaker = SENSOR)]
fn this_needs_none() -> Answer {
    Ok(1)
}

#[circuit_breaker]
fn of_its_own() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5)]
fn by_rate() -> Answer {
    Ok(1)
}

breaker! { static PMS = { threshold: 3 } }

#[circuit_breaker(breaker = SENSOR, timeout = "2s")]
async fn limited() -> Answer {
    Ok(1)
}

#[circuit_breaker(key = sensor)]
fn by_key(sensor: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = SENSOR, key = sensor)]
fn by_key_of_another(sensor: u8) -> Answer {
    Ok(1)
}

fn main() {}
