//! What an instance asks of Redis.

use super::{Shared, Version};

/// An instance of the fleet: a name of its own, of at most 64 bytes without control characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Who(pub String);

/// What an instance knew when it asked: `None` before it has heard anything.
pub type Known = Option<Version>;

/// What brought a state about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A breaker of the fleet opened, or reopened.
    Tripped {
        /// The failures that led to it.
        failures: u32,
    },
    /// The fleet's failures together.
    Counted {
        /// The failures that led to it.
        failures: u32,
    },
    /// As many instances as the quorum wants had opened theirs.
    Voted {
        /// The instances.
        instances: u32,
    },
    /// A dependency said that it is overloaded.
    Overloaded,
    /// The wait was over, and an instance got the lease.
    Leased,
    /// The trial succeeded.
    Recovered,
    /// An operator.
    Operator,
}

/// How many instances must see a failure before it is the fleet's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quorum {
    /// So many.
    Instances(u32),
    /// This share of those that are alive, above 0 and at most 1; at least two of them, unless there is
    /// only one.
    Share(f64),
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

/// When counts of the whole fleet open it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limits {
    /// Failures in a row, those of all instances together.
    Consecutive {
        /// So many.
        threshold: u32,
    },
    /// Shares of the calls in the windows of all instances.
    Rate {
        /// Of failures; above 1: never.
        failure_rate: f64,
        /// Of slow calls; above 1: never.
        slow_rate: f64,
        /// Not before so many calls.
        min_calls: u32,
    },
}

/// What an instance asks. Each is answered with a [`Reply`](super::Reply), which says how it stands
/// then.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// How it stands. Also says that the instance is alive.
    Read,
    /// The instance's circuit has changed: so it stands now.
    Change {
        /// What it knew.
        known: Known,
        /// The state that it entered.
        to: Shared,
        /// Why.
        cause: Cause,
    },
    /// The wait is over, and a call would probe: may it, for so many microseconds?
    Lease {
        /// What it knew.
        known: Known,
        /// How long the lease is to last.
        lasts: u64,
    },
    /// The trial goes on: the lease is to last so many microseconds from now.
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
