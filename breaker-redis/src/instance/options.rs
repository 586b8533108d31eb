//! What an instance goes by.

use crate::protocol::{Caller, Declared, Limits, Quorum, Who, bounded_lease};
use std::time::Duration;

/// What an [`Instance`](super::Instance) goes by. The same for all circuits of a group, so that they
/// share one.
///
/// ```
/// use breaker_redis::instance::Options;
/// use breaker_redis::protocol::{Quorum, Who};
///
/// fn careful(me: Who) -> Options {
///     Options { quorum: Quorum::Instances(3), ..Options::new(me) }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of this process: no other one has it, nor the same one after it was restarted.
    pub me: Who,
    /// How long the lease of a trial lasts, unless it is renewed: 5 s. A holder that crashed costs the
    /// fleet at most that.
    pub lease: Duration,
    /// How long a trial's lease is renewed after its last probe was let through: the `probe_timeout` of
    /// the breaker, 60 s.
    pub probe_timeout: Duration,
    /// Counts are told at most once in so much time: 20 ms.
    pub batch: Duration,
    /// What is not answered for so long isn't waited for: 1 s. The circuit then is one by itself.
    pub answer: Duration,
    /// How long an instance counts that isn't heard of: 15 s. It speaks at least three times in it.
    pub alive: Duration,
    /// How often it asks how things stand, in case that a message was missed: 5 s, spread by a quarter.
    pub poll: Duration,
    /// The same of a circuit that is closed, here and for all that is known in the fleet, while nothing
    /// that this instance has said counts: then a missed message costs it failures of its own, and
    /// nobody else anything. 0, so as often as by `poll`, which is the least. Of no effect where a share
    /// of those alive is a quorum: then all have to be heard of.
    pub quiet: Duration,
    /// How long the fleet's circuit is opened for where counts open it: the `reset` of the breaker, 30 s.
    pub reset: Duration,
    /// What opens the breaker, by its own counts: 5 failures in a row.
    pub opens: Limits,
    /// Whether the failures of all instances count together, and when they open the circuit. `None`: each
    /// instance counts for itself.
    pub counting: Option<Limits>,
    /// Within what time a recovery is followed, at random: 0, at once.
    pub slow_start: Duration,
    /// Within what time after the wait of an opening that others told of it probes where it is by itself,
    /// at random: the `jitter` of the breaker, as a time; 0. Else all that have followed would probe at once
    /// where Redis is gone as well.
    pub jitter: Duration,
    /// How many instances must see a failure before it is the fleet's: 1.
    pub quorum: Quorum,
}

impl Options {
    /// The defaults: no counting together, no quorum.
    #[must_use]
    pub fn new(me: Who) -> Self {
        Self {
            me,
            lease: Duration::from_secs(5),
            probe_timeout: Duration::from_secs(60),
            batch: Duration::from_millis(20),
            answer: Duration::from_secs(1),
            alive: Duration::from_secs(15),
            poll: Duration::from_secs(5),
            quiet: Duration::ZERO,
            reset: Duration::from_secs(30),
            opens: Limits::Consecutive { threshold: 5 },
            counting: None,
            slow_start: Duration::ZERO,
            jitter: Duration::ZERO,
            quorum: Quorum::Instances(1),
        }
    }

    /// Who asks, as it goes with each command.
    #[must_use]
    pub fn caller(&self) -> Caller {
        Caller {
            who: self.me.clone(),
            alive: micros(self.alive),
            present: matches!(self.quorum, Quorum::Share(_)),
            longest_lease: micros(self.probe_timeout),
            declared: Some(self.declared()),
        }
    }

    /// What others hear of it.
    #[must_use]
    pub fn declared(&self) -> Declared {
        Declared {
            opens: self.opens,
            reset: micros(self.reset),
            counting: self.counting.is_some(),
            quorum: self.quorum,
        }
        .bounded()
    }

    /// In microseconds.
    pub(super) fn longest_lease(&self) -> u64 {
        bounded_lease(micros(self.probe_timeout))
    }

    /// Whether what one instance sees is enough for all.
    pub(super) fn one_is_enough(&self) -> bool {
        matches!(self.quorum, Quorum::Instances(0 | 1))
    }

    /// How often it asks, in microseconds: at least three times in `alive`.
    pub(super) fn poll_micros(&self) -> u64 {
        micros(self.poll).min(micros(self.alive) / 4).max(1)
    }

    /// How often it asks where nothing is at stake, in microseconds.
    pub(super) fn quiet_micros(&self) -> u64 {
        match self.quorum {
            Quorum::Share(_) => self.poll_micros(),
            Quorum::Instances(_) => micros(self.quiet).max(self.poll_micros()),
        }
    }
}

/// In microseconds.
pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
