//! When a rate trips: failures or slow calls among the calls of a window.

use crate::outcome::Trigger;
use crate::ratio::Ratio;
use core::num::NonZeroU64;

/// Calls of which one slot of a count window holds the outcomes.
pub(crate) const SAMPLES_PER_SLOT: u32 = 14;

/// The largest count window.
pub(crate) const MAX_CALLS: u32 = (1 << 12) - 1;

/// The largest `min_calls` of a window of time: a bucket that is full is halved,
/// and then still holds as many.
pub(crate) const MAX_MIN_CALLS: u32 = (1 << 17) - 1;

/// What trips, once it was found to make sense.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) limits: Limits,
    pub(crate) span: Span,
}

/// What a window's counts trip at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    pub(crate) failures: Ratio,
    pub(crate) min_calls: u32,
    /// Nanoseconds above which a call is slow, and the share of such calls.
    pub(crate) slow: Option<(u64, Ratio)>,
}

/// What a window holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    Calls(u32),
    /// Nanoseconds a bucket, and how many buckets.
    Time {
        width: NonZeroU64,
        buckets: NonZeroU64,
    },
}

/// One counted call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) failed: bool,
    pub(crate) slow: bool,
}

/// What a window holds after a call was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) calls: u32,
    pub(crate) failures: u32,
    pub(crate) slow: u32,
}

/// What a window's counts mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    /// Trips.
    pub(crate) trigger: Option<Trigger>,
    pub(crate) counts: Counts,
}

/// How many slots a window of so many calls needs.
pub(crate) const fn slots_for(calls: u32) -> usize {
    calls.div_ceil(SAMPLES_PER_SLOT) as usize
}

impl Span {
    /// How many slots the window needs.
    pub(crate) const fn slots(self) -> usize {
        match self {
            Self::Calls(calls) => slots_for(calls),
            Self::Time { buckets, .. } => buckets.get() as usize,
        }
    }
}

impl Limits {
    #[inline]
    pub(crate) fn is_slow(&self, took: u64) -> bool {
        self.slow.is_some_and(|(than, _)| took > than)
    }

    pub(crate) fn judge(&self, counts: Counts) -> Judged {
        Judged {
            trigger: self.trigger(counts),
            counts,
        }
    }

    fn trigger(&self, counts: Counts) -> Option<Trigger> {
        if counts.calls < self.min_calls {
            return None;
        }
        if self.failures.reached(counts.failures, counts.calls) {
            return Some(Trigger::FailureRate);
        }
        let (_, slow) = self.slow?;
        slow.reached(counts.slow, counts.calls)
            .then_some(Trigger::SlowRate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(failures: f64, slow: Option<f64>) -> Limits {
        Limits {
            failures: Ratio::new(failures).unwrap(),
            min_calls: 4,
            slow: slow.map(|share| (7, Ratio::new(share).unwrap())),
        }
    }

    #[test]
    fn nothing_trips_below_the_minimum() {
        let counts = Counts {
            calls: 3,
            failures: 3,
            slow: 3,
        };
        assert_eq!(rate(0.1, Some(0.1)).trigger(counts), None);
    }

    #[test]
    fn either_rate_trips_alone() {
        let half = |failures, slow| Counts {
            calls: 4,
            failures,
            slow,
        };
        assert_eq!(
            rate(0.5, Some(0.5)).trigger(half(2, 0)),
            Some(Trigger::FailureRate)
        );
        assert_eq!(
            rate(0.5, Some(0.5)).trigger(half(1, 2)),
            Some(Trigger::SlowRate)
        );
        assert_eq!(rate(0.5, Some(0.5)).trigger(half(1, 1)), None);
        assert_eq!(rate(0.5, None).trigger(half(1, 4)), None);
    }

    #[test]
    fn slow_is_longer_than_and_not_as_long_as() {
        assert!(!rate(0.5, Some(0.5)).is_slow(7));
        assert!(rate(0.5, Some(0.5)).is_slow(8));
        assert!(!rate(0.5, None).is_slow(u64::MAX));
    }
}
