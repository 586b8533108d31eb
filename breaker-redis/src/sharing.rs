//! How a breaker shares its circuit.

use crate::protocol::{Quorum, Share};
use breakerbox::Config;
use std::time::Duration;

/// How a breaker shares its circuit: the options beside its settings.
///
/// All instances of a fleet declare the same for the same breaker. Nothing said means: a trip of one
/// instance opens the circuit of all, and failures are counted by each instance for itself.
///
/// ```
/// use breaker_redis::{FleetBreaker, Sharing};
/// use breakerbox::{Breaker, Settings};
///
/// /// Opens everywhere after five failures, wherever they were; but never because of one instance alone.
/// static PMS: FleetBreaker<Breaker> = FleetBreaker::new(
///     "pms",
///     Settings::new().threshold(5).must(),
///     Sharing::new().counting().quorum(2),
/// );
/// assert!(PMS.admit().is_ok());
/// ```
///
/// | option | without it |
/// | --- | --- |
/// | [`counting`](Self::counting) | each instance counts by itself: ten of them make up to ten times `threshold` failing calls; and one that trips, also by a rate of its own, opens all |
/// | [`quorum`](Self::quorum), [`quorum_share`](Self::quorum_share) | what one instance sees is enough: also if it is only its own network |
/// | [`slow_start`](Self::slow_start) | all close with the one probe, and the whole load is back at once |
/// | [`lease`](Self::lease) | the lease of the [`Fleet`](crate::Fleet) |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sharing {
    counting: bool,
    quorum: Needed,
    slow_start: Duration,
    lease: Option<Duration>,
}

/// A quorum as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Needed {
    Instances(u32),
    Share(f64),
}

impl Default for Sharing {
    fn default() -> Self {
        Self::new()
    }
}

impl Sharing {
    /// A trip of one instance opens the circuit of all.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            counting: false,
            quorum: Needed::Instances(1),
            slow_start: Duration::ZERO,
            lease: None,
        }
    }

    /// Failures of all instances count together towards `threshold`, or towards the rate: ten
    /// instances trip after five failures, not after fifty. What an instance has counted travels in
    /// batches ([`batch`](crate::FleetBuilder::batch)).
    ///
    /// Towards a rate, all windows are one: the circuit of all opens once the failures (or slow calls) of
    /// all reach the rate of the calls of all, of which there must be `min_calls`. An instance whose own
    /// window reaches the rate opens its own circuit, probes by itself, and opens nobody else's; it then
    /// counts as one whose calls all fail, and from its first probe on as one failed call. Before the circuit of all opens, all instances are asked what
    /// their windows hold, also those that have seen no failure, which takes 200 to 300 ms. Who was not
    /// reached doesn't count; what has left a window since it was told, for a poll at most. An overload that
    /// a dependency tells of (a `Retry-After`) opens all as without counting.
    #[must_use]
    pub const fn counting(self) -> Self {
        Self {
            counting: true,
            ..self
        }
    }

    /// The circuit of all opens only once so many instances have opened theirs, or with
    /// [`counting`](Self::counting), have seen failures (towards a rate, beside that rate of all). An instance that trips alone refuses its own
    /// calls, probes by itself, and opens nobody else's circuit: so one host with a broken network,
    /// or the clients of one shard, don't take the dependency from everybody.
    #[must_use]
    pub const fn quorum(self, instances: u32) -> Self {
        Self {
            quorum: Needed::Instances(instances),
            ..self
        }
    }

    /// As [`quorum`](Self::quorum), as a share of the instances that are alive, above 0 and at most 1.
    /// At least two of them are needed, unless there is only one.
    #[must_use]
    pub const fn quorum_share(self, share: f64) -> Self {
        Self {
            quorum: Needed::Share(share),
            ..self
        }
    }

    /// Once a probe has closed the circuit, the other instances close theirs at random within this time,
    /// and so bring the load back step by step: for a dependency that comes back cold (empty caches,
    /// connections to be made) and would fall over again under all of it. Until then an instance refuses
    /// its calls, and says when it will not. What an operator closes is closed at once.
    #[must_use]
    pub const fn slow_start(self, within: Duration) -> Self {
        Self {
            slow_start: within,
            ..self
        }
    }

    /// How long a lease to probe lasts at least, instead of the fleet's
    /// ([`FleetBuilder::lease`](crate::FleetBuilder::lease)). It is renewed while probes run: what
    /// it limits is how long everybody waits for an instance that crashed while it probed.
    #[must_use]
    pub const fn lease(self, at_least: Duration) -> Self {
        Self {
            lease: Some(at_least),
            ..self
        }
    }

    /// Whether failures of all instances count together.
    #[must_use]
    pub const fn counts_together(&self) -> bool {
        self.counting
    }

    /// How many instances open the circuit of all. `None`: not what can work.
    pub(crate) fn needed(&self) -> Option<Quorum> {
        match self.quorum {
            Needed::Instances(many) => Some(Quorum::Instances(many)),
            Needed::Share(share) => Share::new(share).map(Quorum::Share),
        }
    }

    /// Within what time instances follow a recovery.
    #[must_use]
    pub const fn slows_start(&self) -> Duration {
        self.slow_start
    }

    /// How long a lease lasts at least, if it was set.
    #[must_use]
    pub const fn own_lease(&self) -> Option<Duration> {
        self.lease
    }

    /// Whether these options can work, with a breaker of these settings.
    ///
    /// ```
    /// use breaker_redis::{Sharing, SharingError};
    /// use breakerbox::Config;
    ///
    /// let refused = Sharing::new().quorum(0).check(&Config::DEFAULT);
    /// assert_eq!(refused, Err(SharingError::NoQuorum));
    /// ```
    ///
    /// # Errors
    /// [`SharingError`], which says what to set instead.
    pub const fn check(&self, config: &Config) -> Result<(), SharingError> {
        if let Err(error) = self.check_by_itself() {
            return Err(error);
        }
        if let Some(lease) = self.lease
            && lease.as_micros() > config.probe_timeout().as_micros()
        {
            return Err(SharingError::LongLease);
        }
        Ok(())
    }

    /// Whether they can work, whatever the breaker.
    pub(crate) const fn check_by_itself(&self) -> Result<(), SharingError> {
        match self.quorum {
            Needed::Instances(0) => return Err(SharingError::NoQuorum),
            Needed::Instances(many) if many > MAX_QUORUM => return Err(SharingError::LargeQuorum),
            Needed::Share(share) if !(share > 0.0 && share <= 1.0) => {
                return Err(SharingError::SenselessShare);
            }
            Needed::Instances(_) | Needed::Share(_) => {}
        }
        if self.slow_start.as_micros() > MAX_SLOW_START.as_micros() {
            return Err(SharingError::LongSlowStart);
        }
        if let Some(lease) = self.lease
            && lease.as_millis() < MIN_LEASE.as_millis()
        {
            return Err(SharingError::ShortLease);
        }
        Ok(())
    }

    /// [`check_by_itself`](Self::check_by_itself), for `static`s.
    #[track_caller]
    pub(crate) const fn must_by_itself(&self) {
        if let Err(error) = self.check_by_itself() {
            panic!("{}", error.message());
        }
    }

    /// [`check`](Self::check), for `static`s.
    pub(crate) const fn must(&self, config: &Config) {
        if let Err(error) = self.check(config) {
            panic!("{}", error.message());
        }
    }
}

/// The largest quorum of [`Sharing::quorum`]: 100,000.
pub const MAX_QUORUM: u32 = 100_000;

/// The longest slow start of [`Sharing::slow_start`]: an hour.
pub const MAX_SLOW_START: Duration = Duration::from_secs(3600);

/// The shortest lease: 100 ms. An answer must have the time to arrive within it.
pub const MIN_LEASE: Duration = Duration::from_millis(100);

/// Sharing options that can never work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("{}", self.message())]
pub enum SharingError {
    /// A quorum of no instance.
    NoQuorum,
    /// A quorum above [`MAX_QUORUM`].
    LargeQuorum,
    /// A share that is not above 0 and at most 1.
    SenselessShare,
    /// A slow start above [`MAX_SLOW_START`].
    LongSlowStart,
    /// A lease below [`MIN_LEASE`].
    ShortLease,
    /// A lease longer than the breaker's `probe_timeout`.
    LongLease,
}

impl SharingError {
    /// What is wrong, why, and what to write instead.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::NoQuorum => {
                "`quorum` is 0, so the circuit would be open before anybody failed: set at least 1, \
                 which means that one instance's trip is enough"
            }
            Self::LargeQuorum => {
                "`quorum` is above 100,000 instances, so the circuit would never open for all: set \
                 fewer, or a share by `quorum_share`"
            }
            Self::SenselessShare => {
                "`quorum_share` is a share of the instances that are alive: set it above 0 and at \
                 most 1, such as 0.5"
            }
            Self::LongSlowStart => {
                "`slow_start` is above an hour, for which calls to a dependency that is well would be \
                 refused: set about as long as it takes to warm up, such as 10 s"
            }
            Self::ShortLease => {
                "`lease` is below 100 ms, so it could be over before its holder has heard of it: set \
                 a few seconds"
            }
            Self::LongLease => {
                "`lease` is longer than the breaker's `probe_timeout`, after which nobody waits for \
                 a probe: set less, or a longer `probe_timeout`"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_never_work_is_refused() {
        let new = Sharing::new;
        let cases = [
            (new(), None),
            (new().quorum(MAX_QUORUM), None),
            (new().quorum_share(1.0), None),
            (new().lease(MIN_LEASE), None),
            (new().lease(Config::DEFAULT.probe_timeout()), None),
            (new().slow_start(MAX_SLOW_START), None),
            (new().quorum(0), Some(SharingError::NoQuorum)),
            (
                new().quorum(MAX_QUORUM + 1),
                Some(SharingError::LargeQuorum),
            ),
            (new().quorum_share(0.0), Some(SharingError::SenselessShare)),
            (new().quorum_share(-0.5), Some(SharingError::SenselessShare)),
            (new().quorum_share(1.01), Some(SharingError::SenselessShare)),
            (
                new().quorum_share(f64::NAN),
                Some(SharingError::SenselessShare),
            ),
            (
                new().lease(MIN_LEASE - Duration::from_nanos(1)),
                Some(SharingError::ShortLease),
            ),
            (new().lease(Duration::MAX), Some(SharingError::LongLease)),
            (
                new().slow_start(MAX_SLOW_START + Duration::from_micros(1)),
                Some(SharingError::LongSlowStart),
            ),
            (
                new().slow_start(Duration::MAX),
                Some(SharingError::LongSlowStart),
            ),
        ];
        for (sharing, error) in cases {
            assert_eq!(sharing.check(&Config::DEFAULT).err(), error, "{sharing:?}");
        }
    }

    #[test]
    fn every_error_says_what_to_set() {
        for error in [
            SharingError::NoQuorum,
            SharingError::LargeQuorum,
            SharingError::SenselessShare,
            SharingError::ShortLease,
            SharingError::LongLease,
            SharingError::LongSlowStart,
        ] {
            let message = error.to_string();
            assert!(
                message.starts_with('`') && message.contains(": set "),
                "{message}"
            );
        }
    }
}
