//! How a breaker shares its circuit.

mod error;

use crate::protocol::{Quorum, Share};
use breakerbox::Config;
use std::time::Duration;

pub use error::SharingError;

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
    /// their windows hold, also those that have seen no failure, which takes 500 to 650 ms. Who was not
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
    /// or the clients of one shard, don't take the dependency from everybody. From 1 to 100,000
    /// ([`MAX_QUORUM`]).
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
    /// its calls, and says when it will not. What an operator closes is closed at once. At most an hour
    /// ([`MAX_SLOW_START`]); zero is none.
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
    /// From 100 ms to a minute ([`MIN_LEASE`], [`MAX_LEASE`]); at most the breaker's `probe_timeout`, and at
    /// least [`answer`](crate::FleetBuilder::answer) of the fleet that it is shared with.
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
            return Err(SharingError::LeaseAboveProbeTimeout {
                lease,
                probe_timeout: config.probe_timeout(),
            });
        }
        Ok(())
    }

    /// Whether they can work, whatever the breaker.
    pub(crate) const fn check_by_itself(&self) -> Result<(), SharingError> {
        match self.quorum {
            Needed::Instances(0) => return Err(SharingError::NoQuorum),
            Needed::Instances(quorum) if quorum > MAX_QUORUM => {
                return Err(SharingError::LargeQuorum { quorum });
            }
            Needed::Share(share) if !(share > 0.0 && share <= 1.0) => {
                return Err(SharingError::SenselessShare { share });
            }
            Needed::Instances(_) | Needed::Share(_) => {}
        }
        let slow_start = self.slow_start;
        if slow_start.as_nanos() > MAX_SLOW_START.as_nanos() {
            return Err(SharingError::LongSlowStart { slow_start });
        }
        match self.lease {
            Some(lease) if lease.as_nanos() < MIN_LEASE.as_nanos() => {
                Err(SharingError::ShortLease { lease })
            }
            Some(lease) if lease.as_nanos() > MAX_LEASE.as_nanos() => {
                Err(SharingError::LongLease { lease })
            }
            _ => Ok(()),
        }
    }

    /// Whether they can work in a fleet that waits for answers as long as this.
    pub(crate) fn check_in_fleet(&self, answer: Duration) -> Result<(), SharingError> {
        match self.lease {
            Some(lease) if lease < answer => Err(SharingError::LeaseBelowAnswer { lease, answer }),
            _ => Ok(()),
        }
    }

    /// [`check_by_itself`](Self::check_by_itself), for `static`s.
    #[track_caller]
    pub(crate) const fn must_by_itself(&self) {
        if let Err(error) = self.check_by_itself() {
            panic!("{}", error.message());
        }
    }

    /// [`check`](Self::check), for `static`s.
    #[track_caller]
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

/// The longest lease: a minute. Nobody probes for as long where its holder has crashed; where it hasn't,
/// the lease is renewed, so that probes may run for longer.
pub const MAX_LEASE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;
    use breakerbox::Settings;

    #[test]
    fn what_can_never_work_is_refused() {
        let new = Sharing::new;
        let all = [
            new(),
            new().quorum(MAX_QUORUM),
            new().quorum_share(1.0),
            new().lease(MIN_LEASE),
            new().lease(MAX_LEASE),
            new().slow_start(MAX_SLOW_START),
        ];
        for sharing in all {
            assert_eq!(sharing.check(&minute()), Ok(()), "{sharing:?}");
        }
        for (sharing, error) in wrong() {
            let refused = sharing.check(&minute()).expect_err("to be refused");
            // NaN is nothing that equals itself.
            assert_eq!(format!("{refused:?}"), format!("{error:?}"));
        }
    }

    /// `probe_timeout` is a minute.
    fn minute() -> Config {
        let config = Settings::new().probe_timeout(Duration::from_secs(60));
        config.must()
    }

    fn wrong() -> Vec<(Sharing, SharingError)> {
        let new = Sharing::new;
        let (nano, micro) = (Duration::from_nanos(1), Duration::from_micros(1));
        let quorum = MAX_QUORUM + 1;
        let mut wrong = vec![
            (new().quorum(0), SharingError::NoQuorum),
            (new().quorum(quorum), SharingError::LargeQuorum { quorum }),
        ];
        for share in [0.0, -0.5, 1.01, f64::NAN, f64::INFINITY] {
            wrong.push((
                new().quorum_share(share),
                SharingError::SenselessShare { share },
            ));
        }
        for lease in [Duration::ZERO, MIN_LEASE - nano] {
            wrong.push((new().lease(lease), SharingError::ShortLease { lease }));
        }
        for lease in [MAX_LEASE + nano, Duration::MAX] {
            wrong.push((new().lease(lease), SharingError::LongLease { lease }));
        }
        for slow_start in [MAX_SLOW_START + micro, Duration::MAX] {
            wrong.push((
                new().slow_start(slow_start),
                SharingError::LongSlowStart { slow_start },
            ));
        }
        wrong
    }

    #[test]
    fn a_lease_is_beside_the_breakers_and_the_fleets_times() {
        let seconds = Duration::from_secs;
        let of_5 = Settings::new().probe_timeout(seconds(5)).must();
        let sharing = |lease| Sharing::new().lease(lease);
        assert_eq!(sharing(seconds(5)).check(&of_5), Ok(()));
        let (lease, probe_timeout) = (seconds(6), seconds(5));
        let above = SharingError::LeaseAboveProbeTimeout {
            lease,
            probe_timeout,
        };
        assert_eq!(sharing(lease).check(&of_5), Err(above));
        assert_eq!(sharing(seconds(1)).check_in_fleet(seconds(1)), Ok(()));
        let (lease, answer) = (seconds(1), seconds(2));
        let below = SharingError::LeaseBelowAnswer { lease, answer };
        assert_eq!(sharing(lease).check_in_fleet(answer), Err(below));
        assert_eq!(Sharing::new().check_in_fleet(answer), Ok(()));
        for error in [above, below] {
            says_what_to_set(error);
        }
        assert!(below.to_string().ends_with("(it is 1s, and that 2s)"));
    }

    #[test]
    fn every_error_says_what_is_set_and_what_to_set() {
        for (_, error) in wrong() {
            says_what_to_set(error);
            let said = error.to_string();
            let is_zero = error == SharingError::NoQuorum;
            assert!(is_zero || said.contains("(it is "), "{said}");
        }
    }

    fn says_what_to_set(error: SharingError) {
        let message = error.to_string();
        assert!(
            message.starts_with('`') && message.contains(": set "),
            "{message}"
        );
    }
}
