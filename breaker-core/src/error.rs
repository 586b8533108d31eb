//! What is refused, and why: configurations, calls, snapshots.

use crate::config::{
    MAX_BUCKETS, MAX_MIN_CALLS, MAX_PROBES, MAX_PROBES_BY_RATE, MAX_THRESHOLD, MAX_WINDOW_CALLS,
    Setting,
};
use crate::state::Generation;
use core::fmt;
use core::time::Duration;

/// A configuration that could never work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConfigError {
    /// `threshold` is 0: it would trip without a failure.
    ZeroThreshold,
    /// `probes` is 0: it would never find out that the dependency is back.
    ZeroProbes,
    /// `close_after` is 0: it would close without a success.
    ZeroCloseAfter,
    /// `reset` is 0: it would not stay open.
    ZeroReset,
    /// `probe_timeout` is 0: every call would be a probe.
    ZeroProbeTimeout,
    /// `timeout` is 0: every call would time out.
    ZeroTimeout,
    /// `min_calls` is 0: a rate of no calls is none.
    ZeroMinCalls,
    /// `window` is 0: nothing would be counted.
    ZeroWindow,
    /// `window` has no buckets.
    ZeroBuckets,
    /// `max_keys` is 0: no key would have a breaker.
    ZeroMaxKeys,
    /// `threshold` beside `failure_rate`: only one can decide.
    ThresholdWithFailureRate,
    /// A breaker by rate needs `failure_rate`.
    NoFailureRate,
    /// `min_calls` is above what a window of calls holds: it would never trip.
    MinCallsAboveWindow,
    /// `slow` needs `slow_rate`.
    SlowWithoutSlowRate,
    /// `slow_rate` needs `slow`.
    SlowRateWithoutSlow,
    /// `close_after` beside `close_rate`: only one can decide a trial.
    CloseAfterWithCloseRate,
    /// `max_reset` is below `reset`.
    MaxResetBelowReset,
    /// `timeout` is above `probe_timeout`: every probe would come too late.
    TimeoutAboveProbeTimeout,
    /// A bucket of `window` is shorter than a millisecond.
    BucketTooShort,
    /// Settings of a rate where the breaker counts failures in a row.
    RateNotWanted,
    /// The window needs more slots than its [`Sliding`](crate::Sliding) has.
    TooFewSlots,
    /// A ratio is NaN, not above 0, or above 1.
    Ratio(Setting),
    /// `jitter` is NaN or outside 0 to 1.
    Jitter,
    /// `backoff` is NaN, below 1 or infinite.
    Backoff,
    /// A duration is longer than a `u64` of nanoseconds can hold (584 years).
    Overflow(Setting),
    /// A count is beyond what a breaker's word can hold.
    TooLarge(Setting),
}

const _: () = assert!(MAX_WINDOW_CALLS == 4_095 && MAX_BUCKETS == 128 && MAX_MIN_CALLS == 131_071);
// The messages spell the largest values out; these keep them true.
const _: () =
    assert!(MAX_THRESHOLD == 134_217_726 && MAX_PROBES == 511 && MAX_PROBES_BY_RATE == 255);

impl ConfigError {
    /// The message, for `const` contexts, where [`Display`](fmt::Display) can't
    /// be called.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::ZeroThreshold => "`threshold` is 0: write at least 1",
            Self::ZeroProbes => "`probes` is 0: write at least 1",
            Self::ZeroCloseAfter => "`close_after` is 0: write at least 1",
            Self::ZeroReset => "`reset` is 0: write a duration above 0",
            Self::ZeroProbeTimeout => "`probe_timeout` is 0: write a duration above 0",
            Self::ZeroTimeout => "`timeout` is 0: write a duration above 0",
            Self::Ratio(Setting::CloseRate) => {
                "`close_rate` is not a ratio: write a number above 0, at most 1"
            }
            Self::Ratio(Setting::SlowRate) => {
                "`slow_rate` is not a ratio: write a number above 0, at most 1"
            }
            Self::Ratio(_) => "`failure_rate` is not a ratio: write a number above 0, at most 1",
            Self::ZeroMinCalls => "`min_calls` is 0: write at least 1",
            Self::ZeroWindow => "`window` is 0: write a number of calls or a duration",
            Self::ZeroBuckets => "`window` has no buckets: write at least 1",
            Self::ZeroMaxKeys => "`max_keys` is 0: no key would have a breaker; write at least 1",
            Self::BucketTooShort => {
                "`window` is too short: write at least a millisecond for each bucket"
            }
            Self::MinCallsAboveWindow => {
                "`min_calls` is above `window`, so it would never trip: \
                 write a smaller `min_calls` or a larger `window`"
            }
            Self::ThresholdWithFailureRate => {
                "`threshold` and `failure_rate` contradict each other: write one of them"
            }
            Self::NoFailureRate => "a breaker by rate has no `failure_rate`: write one",
            Self::RateNotWanted => {
                "`failure_rate`, `window`, `min_calls`, `slow` and `slow_rate` are for a breaker \
                 by rate: build it by `build_rate`"
            }
            Self::SlowWithoutSlowRate => "`slow` decides nothing alone: write `slow_rate` too",
            Self::SlowRateWithoutSlow => "`slow_rate` needs to know what is slow: write `slow` too",
            Self::TooFewSlots => {
                "`window` needs more slots than its `Sliding` has: write `Sliding<{ window.slots() }>`"
            }
            Self::CloseAfterWithCloseRate => {
                "`close_after` and `close_rate` contradict each other: write one of them"
            }
            Self::Jitter => "`jitter` is out of range: write a number from 0 to 1",
            Self::Backoff => "`backoff` is out of range: write a finite factor of at least 1",
            Self::MaxResetBelowReset => {
                "`max_reset` is below `reset`: write at least as much as `reset`"
            }
            Self::TimeoutAboveProbeTimeout => {
                "`timeout` is above `probe_timeout`, so every probe would come too late: \
                 write a shorter `timeout` or a longer `probe_timeout`"
            }
            Self::Overflow(setting) => match setting {
                Setting::Reset => "`reset` is too long: write less than 584 years",
                Setting::MaxReset => "`max_reset` is too long: write less than 584 years",
                Setting::ProbeTimeout => "`probe_timeout` is too long: write less than 584 years",
                Setting::Window => "`window` is too long: write less than 584 years",
                Setting::Slow => "`slow` is too long: write less than 584 years",
                Setting::Timeout => "`timeout` is too long: write less than 584 years",
                _ => "a duration is too long: write less than 584 years",
            },
            Self::TooLarge(setting) => match setting {
                Setting::Threshold => "`threshold` is too large: write at most 134217726",
                Setting::Probes => "`probes` is too large: write at most 511",
                Setting::ProbesByRate => {
                    "`probes` is too large beside `close_rate`: write at most 255"
                }
                Setting::CloseAfter => "`close_after` is too large: write at most 511",
                Setting::Window => "`window` is too large: write at most 4095 calls",
                Setting::Buckets => "`window` has too many buckets: write at most 128",
                Setting::MinCalls => "`min_calls` is too large: write at most 131071",
                _ => "a count is too large",
            },
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for ConfigError {}

/// Why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The breaker is open and its wait is not over.
    Open,
    /// The breaker is half-open and its trial takes no further probe.
    HalfOpenFull,
    /// An operator holds the breaker open.
    ForcedOpen,
}

impl Reason {
    /// The reason's name in logs and labels: `open`, `half_open_full` or
    /// `forced_open`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::HalfOpenFull => "half_open_full",
            Self::ForcedOpen => "forced_open",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::HalfOpenFull => "half-open and its probes are in flight",
            Self::ForcedOpen => "held open by an operator",
        })
    }
}

/// A call was refused and must not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the circuit is {reason}")]
#[non_exhaustive]
pub struct Rejected {
    /// Why.
    pub reason: Reason,
    /// How long until a call may be admitted. `None` where only an operator
    /// can tell.
    pub retry_after: Option<Duration>,
    /// The generation that refused.
    pub generation: Generation,
}

/// A snapshot that no breaker of this configuration can have been in. The
/// breaker stayed as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A closed breaker has nothing to wait for.
    #[error("the snapshot is closed, but has time left")]
    ClosedWithTimeLeft,
    /// It would have tripped.
    #[error("the snapshot is closed with {consecutive} failures in a row, but {threshold} trip")]
    BeyondThreshold {
        /// Failures in a row in the snapshot.
        consecutive: u32,
        /// The breaker's `threshold`.
        threshold: u32,
    },
}
