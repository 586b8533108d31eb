//! The clocks of the instances: each has an origin of its own, and none goes quite right.

use breaker_core::Clock;

use crate::draw::Draws;

/// Nanoseconds of the simulation, since it began.
pub type Moment = u64;

/// So many of them are a second.
pub const SECOND: Moment = 1_000_000_000;

/// And a millisecond.
pub const MILLISECOND: Moment = 1_000_000;

/// What makes an instance's clock its own.
#[derive(Clone, Copy, Debug)]
pub struct OwnClock {
    origin: u64,
    drift_ppm: i64,
}

/// A drift that is common between hosts, in parts per million.
const MOST_DRIFT_PPM: f64 = 50.0;

impl OwnClock {
    /// Of a host that was started up to a month before.
    #[must_use]
    pub fn drawn(draws: &mut Draws) -> Self {
        const HOUR: f64 = 3_600.0 * SECOND as f64;
        Self {
            origin: (HOUR + draws.share() * 30.0 * 24.0 * HOUR) as u64,
            drift_ppm: ((draws.share() * 2.0 - 1.0) * MOST_DRIFT_PPM) as i64,
        }
    }

    /// What it reads.
    #[must_use]
    pub fn at(self, now: Moment) -> Reading {
        let drifted = now as i64 / 1_000_000 * self.drift_ppm;
        Reading(self.origin + now.saturating_add_signed(drifted))
    }
}

/// A reading, as a circuit takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading(
    /// Nanoseconds since the origin of that clock.
    pub u64,
);

impl Reading {
    /// In microseconds.
    #[must_use]
    pub fn micros(self) -> u64 {
        self.0 / 1_000
    }
}

impl Clock for Reading {
    fn now(&self) -> u64 {
        self.0
    }

    fn entropy(&self) -> Option<u64> {
        Some(0) // no clock for tests; what the jitter is drawn from, the settings say
    }
}

#[cfg(test)]
mod tests {
    use super::{OwnClock, SECOND};
    use crate::draw::Draws;

    #[test]
    fn clocks_differ_by_days_and_drift_by_little() {
        let mut draws = Draws::new(1, 1);
        let clocks: Vec<_> = (0..100).map(|_| OwnClock::drawn(&mut draws)).collect();
        let origins = clocks.iter().map(|clock| clock.at(0).0);
        let (first, last) = (origins.clone().min().unwrap(), origins.max().unwrap());
        assert!(last - first > 24 * 3_600 * SECOND);
        let went = |clock: &OwnClock| clock.at(100 * SECOND).0 - clock.at(0).0;
        for clock in &clocks {
            assert!(went(clock).abs_diff(100 * SECOND) <= 100 * SECOND / 1_000_000 * 50);
        }
        assert!(clocks.iter().any(|clock| went(clock) != 100 * SECOND));
    }
}
