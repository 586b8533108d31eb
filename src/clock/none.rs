//! Where the platform has no clock.

use breaker_core::Clock;

/// Stands where the platform has no clock of its own, and can't be made: use
/// [`Breaker::with_clock`](crate::Breaker::with_clock).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NoClock;

/// Only so that one error says what is missing, and no second one that this is
/// no clock.
impl Clock for NoClock {
    fn now(&self) -> u64 {
        unreachable!("the compiler refused it")
    }

    fn entropy(&self) -> Option<u64> {
        unreachable!("the compiler refused it")
    }
}
