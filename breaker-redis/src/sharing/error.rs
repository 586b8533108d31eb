//! What is wrong with sharing options, and what to write instead.

use std::fmt;
use std::time::Duration;

/// Sharing options that can never work.
///
/// ```
/// use breaker_redis::{Sharing, SharingError};
/// use breakerbox::Config;
/// use std::time::Duration;
///
/// let day = Duration::from_secs(86_400);
/// let refused = Sharing::new().lease(day).check(&Config::DEFAULT).unwrap_err();
/// assert_eq!(refused, SharingError::LongLease { lease: day });
/// assert!(refused.to_string().starts_with("`lease` is above a minute"), "{refused}");
/// assert!(refused.to_string().ends_with("(it is 86400s)"), "{refused}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SharingError {
    /// A quorum of no instance.
    NoQuorum,
    /// A quorum above [`MAX_QUORUM`](super::MAX_QUORUM).
    LargeQuorum {
        /// What was set.
        quorum: u32,
    },
    /// A share that is not above 0 and at most 1.
    SenselessShare {
        /// What was set.
        share: f64,
    },
    /// A slow start above [`MAX_SLOW_START`](super::MAX_SLOW_START).
    LongSlowStart {
        /// What was set.
        slow_start: Duration,
    },
    /// A lease below [`MIN_LEASE`](super::MIN_LEASE).
    ShortLease {
        /// What was set.
        lease: Duration,
    },
    /// A lease above [`MAX_LEASE`](super::MAX_LEASE).
    LongLease {
        /// What was set.
        lease: Duration,
    },
    /// A lease longer than the breaker's `probe_timeout`.
    LeaseAboveProbeTimeout {
        /// What was set.
        lease: Duration,
        /// The breaker's.
        probe_timeout: Duration,
    },
    /// A lease shorter than what the fleet that it is shared with gives Redis for an answer: see
    /// [`FleetBuilder::answer`](crate::FleetBuilder::answer).
    LeaseBelowAnswer {
        /// What was set.
        lease: Duration,
        /// The fleet's.
        answer: Duration,
    },
}

impl SharingError {
    /// What is wrong, why, and what to write instead. [`Display`](fmt::Display) also says what it is.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::NoQuorum => {
                "`quorum` is 0, so the circuit would be open before anybody failed: set at least 1, \
                 which means that one instance's trip is enough"
            }
            Self::LargeQuorum { .. } => {
                "`quorum` is above 100,000 instances, so the circuit would never open for all: set \
                 fewer, or a share by `quorum_share`"
            }
            Self::SenselessShare { .. } => {
                "`quorum_share` is a share of the instances that are alive: set it above 0 and at \
                 most 1, such as 0.5"
            }
            Self::LongSlowStart { .. } => {
                "`slow_start` is above an hour, for which calls to a dependency that is well would be \
                 refused: set about as long as it takes to warm up, such as 10 s"
            }
            Self::ShortLease { .. } => {
                "`lease` is below 100 ms, so it could be over before its holder has heard of it: set \
                 a few seconds"
            }
            Self::LongLease { .. } => {
                "`lease` is above a minute, for which nobody would probe where an instance crashes: set \
                 a few seconds, as it is renewed while probes run"
            }
            Self::LeaseAboveProbeTimeout { .. } => {
                "`lease` is longer than the breaker's `probe_timeout`, after which nobody waits for \
                 a probe: set less, or a longer `probe_timeout`"
            }
            Self::LeaseBelowAnswer { .. } => {
                "`lease` is shorter than `answer` of the fleet, so it could be over before its holder has \
                 heard of it: set more, or a shorter `answer`"
            }
        }
    }
}

impl fmt::Display for SharingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())?;
        match self {
            Self::NoQuorum => Ok(()),
            Self::LargeQuorum { quorum } => write!(f, " (it is {quorum})"),
            Self::SenselessShare { share } => write!(f, " (it is {share})"),
            Self::LongSlowStart { slow_start } => write!(f, " (it is {slow_start:?})"),
            Self::ShortLease { lease } | Self::LongLease { lease } => {
                write!(f, " (it is {lease:?})")
            }
            Self::LeaseAboveProbeTimeout {
                lease,
                probe_timeout: beside,
            }
            | Self::LeaseBelowAnswer {
                lease,
                answer: beside,
            } => write!(f, " (it is {lease:?}, and that {beside:?})"),
        }
    }
}

impl std::error::Error for SharingError {}
