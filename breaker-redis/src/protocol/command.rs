//! What an instance asks of Redis.

use super::record::LONGEST_WAIT;
use super::{Cause, Declared, Share, Shared, Version, Who};
use breakerbox::Change;
use breakerbox::link::Counted;

/// What an instance knew when it asked: `None` before it has heard anything.
pub type Known = Option<Version>;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The instance.
    pub who: Who,
    /// How long an instance counts that isn't heard of any more, in microseconds: 100 ms to a day, else
    /// the nearest of them. What is not heard of for a quarter longer doesn't count for certain.
    pub alive: u64,
    /// Whether it counts among those that are alive, as a [`Quorum::Share`] asks for, from its first
    /// command on, and not only once it has a count or a vote. Costs a field in Redis for each instance.
    pub present: bool,
    /// How long a lease can last at most, in microseconds: the `probe_timeout` of its breaker, 100 ms to a
    /// day, else the nearest of them. What is left of anybody's counts as at most that.
    pub longest_lease: u64,
    /// What it declares of the circuit: goes along with what it has stored.
    pub declared: Option<Declared>,
}

impl Caller {
    pub(super) fn declared(&self) -> Option<Declared> {
        self.declared.map(Declared::bounded)
    }

    pub(crate) fn longest_lease(&self) -> u64 {
        bounded_lease(self.longest_lease)
    }
}

/// How long a lease can last at most, where it is said so, in microseconds.
pub(crate) fn bounded_lease(longest: u64) -> u64 {
    longest.clamp(100_000, LONGEST_WAIT)
}

/// How many instances must see a failure before it is the fleet's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quorum {
    /// So many.
    Instances(u32),
    /// This share of those that are alive; at least two of them, unless there is only one. Not reached
    /// for the first half of `alive` after Redis was emptied, since nobody knows yet who is.
    Share(Share),
}

impl Quorum {
    /// Its kind and its number.
    pub(super) fn as_number(self) -> (&'static str, u32) {
        match self {
            Self::Instances(least) => ("instances", least),
            Self::Share(share) => ("share", share.billionths()),
        }
    }
}

/// What an instance has counted while closed: not since it last said so but in all, so that saying it
/// twice changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls in its window; 0 where failures in a row count.
    pub calls: u32,
    /// Failures in its window, or in a row.
    pub failures: u32,
    /// Slow calls in its window.
    pub slow: u32,
}

impl Counts {
    /// What a window held that tripped; nothing where failures in a row did.
    #[must_use]
    pub fn of_trip(change: &Change) -> Self {
        if change.calls == 0 {
            return Self::default();
        }
        Self {
            calls: change.calls,
            failures: change.failures,
            slow: change.slow,
        }
    }

    /// Whether there is anything that may open a circuit.
    pub(crate) fn tell_of_failures(self) -> bool {
        self.failures > 0 || self.slow > 0
    }
}

impl From<Counted> for Counts {
    fn from(counted: Counted) -> Self {
        Self {
            calls: counted.calls,
            failures: counted.failures,
            slow: counted.slow,
        }
    }
}

/// When counts of the whole fleet open it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limits {
    /// Failures in a row, those of all instances together.
    Consecutive {
        /// So many.
        threshold: u32,
    },
    /// Shares of the calls in the windows of all instances.
    Rate {
        /// Of failures; `None`: never.
        failures: Option<Share>,
        /// Of slow calls; `None`: never.
        slow: Option<Share>,
        /// Not before so many calls.
        min_calls: u32,
    },
}

impl Limits {
    /// Their kind and three numbers: 0 for what there isn't.
    pub(super) fn as_numbers(self) -> (&'static str, [u32; 3]) {
        let billionths = |share: Option<Share>| share.map_or(0, Share::billionths);
        match self {
            Self::Consecutive { threshold } => ("consecutive", [threshold, 0, 0]),
            Self::Rate {
                failures,
                slow,
                min_calls,
            } => ("rate", [billionths(failures), billionths(slow), min_calls]),
        }
    }
}

/// What an instance asks. Each is answered with a [`Reply`](super::Reply), which says how it stands
/// then. What becomes of it, [`apply`](super::apply) says.
///
/// What was asked and not answered may be asked again: it is then done once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// How it stands. Also says that the instance is alive.
    Read {
        /// What it knew.
        known: Known,
    },
    /// The instance's circuit has changed: so it stands now.
    Change {
        /// What it knew.
        known: Known,
        /// The state that it entered.
        to: Shared,
        /// Why. [`Cause::Operator`] is done whatever is stored.
        cause: Cause,
        /// It was asked before, and perhaps arrived: an operator's word is then not done over that of
        /// an operator since.
        again: bool,
    },
    /// The wait is over, and a call would probe: may it, for so many microseconds? At most for
    /// [`longest_lease`](field@Caller::longest_lease).
    Lease {
        /// What it knew.
        known: Known,
        /// How long the lease is to last.
        lasts: u64,
    },
    /// The trial goes on: the lease is to last so many microseconds from now, which all are told.
    Renew {
        /// The version of the lease.
        known: Known,
        /// How long.
        lasts: u64,
    },
    /// The trial came to nothing: another may probe.
    Release {
        /// The version of the lease.
        known: Known,
    },
    /// Nobody will ask the instance for anything any more: what it has counted and voted counts no more,
    /// and it is none of those alive.
    Leave {
        /// What it knew.
        known: Known,
    },
    /// The instance's circuit has opened (or is no longer open), which opens the fleet's only with a
    /// quorum.
    Vote {
        /// What it knew.
        known: Known,
        /// Whether it is open.
        open: bool,
        /// What the fleet's state is to be, with a quorum.
        to: Shared,
        /// How many it takes.
        quorum: Quorum,
    },
    /// What the instance has counted.
    Count {
        /// What it knew.
        known: Known,
        /// The counts.
        counts: Counts,
        /// When they open the fleet's circuit.
        limits: Limits,
        /// By how many instances the failures must have been seen.
        quorum: Quorum,
        /// What the fleet's state is then to be.
        to: Shared,
    },
    /// What the instance knows is later than what Redis holds, or Redis holds nothing: so it stood.
    Offer {
        /// What it knew.
        known: Version,
        /// The state, with what is left of its wait.
        to: Shared,
        /// Why.
        cause: Cause,
    },
}

impl Command {
    /// What the instance knew.
    #[must_use]
    pub fn known(&self) -> Known {
        match *self {
            Self::Read { known }
            | Self::Change { known, .. }
            | Self::Lease { known, .. }
            | Self::Renew { known, .. }
            | Self::Release { known }
            | Self::Leave { known }
            | Self::Vote { known, .. }
            | Self::Count { known, .. } => known,
            Self::Offer { known, .. } => Some(known),
        }
    }
}
