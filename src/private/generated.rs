//! A generated `static`.

use super::{Breaker, RateBreaker};
use crate::registry::Declaration;
use breaker_core::{Config, RateConfig};

/// A generated `static`; `place` gives the static itself.
#[must_use]
pub const fn generated(
    name: &'static str,
    file: &'static str,
    line: u32,
    config: Config,
    place: fn() -> &'static Breaker,
) -> Breaker {
    Breaker::declare(name, config, Declaration { place, file, line })
}

/// [`generated`], by rate.
///
/// # Panics
/// If the window needs more than `SLOTS` slots.
#[must_use]
pub const fn generated_by_rate<const SLOTS: usize>(
    name: &'static str,
    file: &'static str,
    line: u32,
    config: RateConfig,
    place: fn() -> &'static RateBreaker<SLOTS>,
) -> RateBreaker<SLOTS> {
    let declaration = Declaration { place, file, line };
    RateBreaker::declared_by_rate(name, config, declaration)
}
