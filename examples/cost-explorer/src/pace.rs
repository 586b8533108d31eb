//! How long is waited, and for what.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::Quota;

/// Durations and rates, from the outside in.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How many calls may be begun in which time, of each account.
    pub calls: Quota,
    /// How long a call waits for its turn.
    pub queue: Duration,
    /// How long a circuit stays open before a probe.
    pub reset: Duration,
    /// A call with all its pages, retries and their pauses.
    pub call: Duration,
    /// One try of a request. A try that hangs leaves time for the next.
    pub attempt: Duration,
    /// Tries of a request: the first and its retries.
    pub attempts: u32,
    /// The pause before the first retry, at most; it doubles with each.
    pub first_pause: Duration,
}

impl Pace {
    /// For AWS.
    pub const AWS: Self = Self {
        calls: Quota::per_second(NonZeroU32::MIN).allow_burst(NonZeroU32::new(5).unwrap()),
        queue: Duration::from_secs(5),
        reset: Duration::from_secs(30),
        call: Duration::from_secs(60),
        attempt: Duration::from_secs(10),
        attempts: 3,
        first_pause: Duration::from_secs(1),
    };

    /// For a server on loopback: the same in little, so that nobody has to wait for minutes.
    pub const DEMO: Self = Self {
        calls: Quota::per_second(NonZeroU32::new(100).unwrap()),
        queue: Duration::from_secs(5),
        reset: Duration::from_secs(1),
        call: Duration::from_secs(3),
        attempt: Duration::from_secs(2),
        attempts: 3,
        first_pause: Duration::from_millis(20),
    };
}
