//! The clocks of the operating system.

use breaker_core::Clock;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::time::Instant;

/// The monotonic clock, exact to the nanosecond where the platform is.
///
/// ```
/// use breakerbox::{Breaker, Config, ExactClock};
///
/// static PMS: Breaker<ExactClock> = Breaker::with_clock("pms", Config::DEFAULT, ExactClock);
/// assert!(PMS.admit().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactClock;

impl Clock for ExactClock {
    #[inline]
    fn now(&self) -> u64 {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        let since = ORIGIN.get_or_init(Instant::now).elapsed();
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    fn entropy(&self) -> Option<u64> {
        Some(process_entropy())
    }
}

/// The monotonic clock, as cheap as the platform offers.
///
/// On Linux that is the coarse one: a quarter of the cost of
/// `Instant::now`, and up to its resolution (1 to 10 ms, by the kernel's
/// configuration) behind. The resolution is added to every wait, so none
/// ends early. Elsewhere it is the [`ExactClock`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[cfg(target_os = "linux")]
impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> u64 {
        nanos(rustix::time::clock_gettime(COARSE))
    }

    #[inline]
    fn exact(&self) -> u64 {
        ExactClock.now()
    }

    #[inline]
    fn resolution(&self) -> u64 {
        static RESOLUTION: OnceLock<u64> = OnceLock::new();
        *RESOLUTION.get_or_init(|| nanos(rustix::time::clock_getres(COARSE)))
    }

    fn entropy(&self) -> Option<u64> {
        Some(process_entropy())
    }
}

#[cfg(target_os = "linux")]
const COARSE: rustix::time::ClockId = rustix::time::ClockId::MonotonicCoarse;

#[cfg(target_os = "linux")]
fn nanos(time: rustix::time::Timespec) -> u64 {
    // Monotonic time starts at boot, so it is never negative.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

#[cfg(not(target_os = "linux"))]
impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> u64 {
        ExactClock.now()
    }

    fn entropy(&self) -> Option<u64> {
        ExactClock.entropy()
    }
}

/// The same for the whole process, another in the next.
fn process_entropy() -> u64 {
    static ENTROPY: OnceLock<u64> = OnceLock::new();
    *ENTROPY.get_or_init(|| RandomState::new().hash_one(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coarse_clock_lags_by_its_resolution_at_most() {
        assert!(SystemClock.resolution() < 1_000_000_000);
        let (before, exact_before) = (SystemClock.now(), ExactClock.now());
        let (after, exact_after) = (SystemClock.now(), ExactClock.now());
        assert!(after >= before);
        assert!(exact_after >= exact_before);
    }

    #[test]
    fn entropy_is_one_number_for_the_process() {
        assert_eq!(SystemClock.entropy(), ExactClock.entropy());
        assert!(SystemClock.entropy().is_some());
    }
}
