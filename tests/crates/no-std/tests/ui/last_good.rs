//! `last_good` needs breakerbox's feature `last-good`.

#![allow(unused)]

use breakerbox::{Breaker, CallError, Served, Settings, circuit_breaker};
use test_no_std::Ticks;

type Answer = Result<Served<u8>, CallError<()>>;

static SENSOR: Breaker<Ticks> = Breaker::with_clock("sensor", Settings::new().must(), Ticks);

struct LastGood;
static READINGS: LastGood = LastGood;

#[circuit_breaker(breaker = SENSOR, last_good = READINGS, last_good_key = register)]
fn plain(register: u8) -> Answer {
    Ok(Served::fresh(1))
}

#[circuit_breaker(breaker = SENSOR, last_good = READINGS, last_good_key = (register, 1_u8))]
async fn later(register: u8) -> Answer {
    Ok(Served::fresh(1))
}

#[circuit_breaker(
    breaker = SENSOR,
    last_good = &READINGS,
    fallback_on = open,
    classify_output = Result::is_err
)]
async fn without_a_key() -> Answer {
    Ok(Served::fresh(1))
}

struct Board(LastGood);

impl Board {
    #[circuit_breaker(breaker = SENSOR, last_good = self.0)]
    fn method(&self) -> Answer {
        Ok(Served::fresh(1))
    }
}

fn main() {}
