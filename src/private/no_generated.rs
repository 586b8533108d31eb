//! A generated `static` where there is no std or no clock: a clear message, and
//! nothing else.

use super::{Breaker, RateBreaker};
use crate::clock::NoClock;
use breaker_core::{Config, RateConfig};

/// A generated `static` needs a clock. The parameter `place` is only there to
/// carry the message to the user.
#[must_use]
pub const fn generated<P: Copy + PlaceWithClock>(
    name: &'static str,
    _: &'static str,
    _: u32,
    config: Config,
    _: P,
) -> Breaker {
    Breaker::with_clock(name, config, NoClock)
}

/// [`generated`] without a clock, by rate.
///
/// # Panics
/// If the window needs more than `SLOTS` slots.
#[must_use]
pub const fn generated_by_rate<const SLOTS: usize, P: Copy + PlaceWithClock>(
    name: &'static str,
    _: &'static str,
    _: u32,
    config: RateConfig,
    _: P,
) -> RateBreaker<SLOTS> {
    RateBreaker::must_by_rate(name, config, NoClock)
}

/// Nothing implements it.
#[cfg_attr(
    all(target_family = "wasm", target_os = "unknown"),
    diagnostic::on_unimplemented(
        message = "a generated breaker needs a clock, and here is none",
        label = "no clock without breakerbox's feature `js`",
        note = "in JavaScript (a browser, an edge worker, Node) enable breakerbox's feature `js`",
        note = "elsewhere give a breaker the platform's clock by `Breaker::with_clock(name, config, clock)`, and name it: `breaker = PMS`"
    )
)]
#[cfg_attr(
    not(all(target_family = "wasm", target_os = "unknown")),
    diagnostic::on_unimplemented(
        message = "a generated breaker needs a clock, and here is none",
        label = "no clock without breakerbox's feature `std`",
        note = "give a breaker the platform's clock by `Breaker::with_clock(name, config, clock)`, and name it: `breaker = PMS`"
    )
)]
pub trait PlaceWithClock {}
