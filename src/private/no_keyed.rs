//! `key = ..` where there is no std: a clear message, and nothing else.

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

#[must_use]
pub const fn max_keys(max_keys: u32) -> u32 {
    max_keys
}

/// Nothing implements it.
#[diagnostic::on_unimplemented(
    message = "`key` needs breakerbox's feature `std`, and a clock",
    label = "no breakers by key here",
    note = "give a breaker the platform's clock by `Breaker::with_clock(name, config, clock)`, and name it: `breaker = PMS`"
)]
pub trait KeyWithoutStd {}

pub fn keyed<D, K: KeyWithoutStd + ?Sized, M>(
    _: &D,
    _: &K,
    _: Option<M>,
) -> core::convert::Infallible {
    unreachable!("the compiler refused it")
}
