//! `key = ..` without `breaker` where there is no std or no clock: a clear message,
//! and nothing else.

use super::Method;
use crate::breaker::Breaker;
use breaker_core::{Config, RateConfig};

/// The type of a generated `static`.
#[derive(Debug)]
pub struct Keyed(());

/// The type of a generated `static` that trips by rate.
#[derive(Debug)]
pub struct KeyedByRate<const SLOTS: usize>(());

pub const DEFAULT_MAX_KEYS: u32 = 1;

impl Keyed {
    #[must_use]
    pub const fn new(_: &'static str, _: &'static str, _: u32, _: Config, _: u32) -> Self {
        Self(())
    }
}

impl<const SLOTS: usize> KeyedByRate<SLOTS> {
    #[must_use]
    pub const fn by_rate(_: &'static str, _: &'static str, _: u32, _: RateConfig, _: u32) -> Self {
        Self(())
    }
}

/// Nothing implements it.
#[cfg_attr(
    all(target_family = "wasm", target_os = "unknown"),
    diagnostic::on_unimplemented(
        message = "generated breakers by key need a clock, and here is none",
        label = "no clock without breakerbox's feature `js`",
        note = "in JavaScript (a browser, an edge worker, Node) enable breakerbox's feature `js`",
        note = "elsewhere give them the platform's clock by `KeyedBreakers::with_clock(name, config, clock)`, and name them beside `key`: `breaker = HOSTS`"
    )
)]
#[cfg_attr(
    not(all(target_family = "wasm", target_os = "unknown")),
    diagnostic::on_unimplemented(
        message = "generated breakers by key need breakerbox's feature `std`, and a clock",
        label = "no breakers by key here",
        note = "with `std` give them the platform's clock by `KeyedBreakers::with_clock(name, config, clock)`, and name them beside `key`: `breaker = HOSTS`",
        note = "without, one breaker guards all calls: give `Breaker::with_clock(name, config, clock)` the platform's clock, write `breaker = PMS`, and leave `key` out"
    )
)]
pub trait KeyWithoutClock {}

pub fn keyed<D, K: KeyWithoutClock + ?Sized>(_: &D, _: &K, _: Option<fn() -> Method>) -> Breaker {
    unreachable!("the compiler refused it")
}
