//! Times as JavaScript has them, and the clock that is a reading of its.

use breaker_core::Clock;
use core::time::Duration;

const NANOS_PER_MILLI: f64 = 1e6;

/// Nanoseconds; 0 for what is negative or no number, and at most `u64::MAX`.
pub(crate) fn nanos(millis: f64) -> u64 {
    (millis * NANOS_PER_MILLI) as u64
}

pub(crate) fn duration(millis: f64) -> Duration {
    Duration::from_nanos(nanos(millis))
}

pub(crate) fn millis(duration: Duration) -> f64 {
    let nanos = duration.as_secs() * 1_000_000_000 + u64::from(duration.subsec_nanos());
    nanos as f64 / NANOS_PER_MILLI
}

/// What JavaScript read when it called.
pub(crate) struct Moment {
    /// Nanoseconds.
    pub(crate) now: u64,
    /// From 0 to 1.
    pub(crate) random: f64,
    /// Nanoseconds by which a reading may lag behind.
    pub(crate) resolution: u64,
}

impl Clock for Moment {
    fn now(&self) -> u64 {
        self.now
    }

    fn resolution(&self) -> u64 {
        self.resolution
    }

    fn entropy(&self) -> Option<u64> {
        Some(self.random.to_bits())
    }
}
