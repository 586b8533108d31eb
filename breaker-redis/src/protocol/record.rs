//! What Redis holds of one circuit.

use super::{Caller, Cause, Declared, Members, Told, Version, Who};
use breakerbox::State;

/// The longest wait that is shared, and the longest lease, in microseconds: a day, as for a snapshot. What
/// is longer counts as that, so that nobody who can write to Redis holds a circuit by one word for years.
pub(crate) const LONGEST_WAIT: u64 = 86_400_000_000;

/// How long a census takes, in microseconds: instances say meanwhile what their windows hold, and what is
/// counted after it decides. Whoever is well and can't say so in time makes a few that fail look like all: so
/// it is long enough for networks across continents, and for machines that are busy. Those that fail
/// don't wait for it: each opens its own circuit by its own window.
pub const CENSUS: u64 = 500_000;

/// Within what time of a census instances say it, in microseconds, each at a time of its own.
pub const CENSUS_SPREAD: u64 = 100_000;

/// How long a census holds, in microseconds since it began: what is counted later begins another.
pub const CENSUS_HOLDS: u64 = 1_000_000;

/// The state that a fleet shares, as far as a breaker takes it over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// `HalfOpen` while an instance has the lease of a trial.
    pub state: State,
    /// While open: how long it was opened for, in microseconds; a day at most, and what is longer counts
    /// as a day. Else 0.
    pub wait: u64,
    /// While open: whether the wait was set by an overload or an operator, and not by the configuration.
    pub imposed: bool,
    /// Reopenings since the last close.
    pub reopenings: u8,
}

impl Shared {
    /// As an instance may have it stored: half-open is what only a lease makes it, and what it is without
    /// one is open with no time left.
    pub(crate) fn bounded(self) -> Self {
        let open = self.state == State::Open;
        Self {
            state: match self.state {
                State::HalfOpen => State::Open,
                state => state,
            },
            wait: if open { self.wait.min(LONGEST_WAIT) } else { 0 },
            imposed: open && self.imposed,
            reopenings: self.reopenings,
        }
    }
}

/// Who may probe for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The instance.
    pub holder: Who,
    /// When it was given or renewed, in microseconds of Redis' clock.
    pub since: u64,
    /// How long it lasts from then, in microseconds.
    pub lasts: u64,
}

impl Lease {
    /// It is over at the latest when any would be, whatever is written.
    fn left(&self, now: u64, longest: u64) -> u64 {
        left(self.since, self.lasts.min(longest), now)
    }
}

/// How a circuit stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Of the state.
    pub version: Version,
    /// The state.
    pub shared: Shared,
    /// When it was entered, in microseconds of Redis' clock.
    pub since: u64,
    /// What brought it about.
    pub cause: Cause,
    /// Who brought it about.
    pub by: Who,
    /// While half-open.
    pub lease: Option<Lease>,
    /// The version that an operator made last, of those since Redis was emptied.
    pub operated: Option<Version>,
    /// While it stands as an instance offered it after Redis had lost what came after, or all: the
    /// version that it knew. Who knows a later one offers that.
    pub offered: Option<Version>,
    /// While closed: when the last census of this version began, in microseconds of Redis' clock.
    pub census: Option<u64>,
    /// What who has entered this state, or began the census, declares of the circuit. `None` of an
    /// operator's word, and of what was offered.
    pub declared: Option<Declared>,
}

impl Record {
    /// What is left of the wait, or of the lease while half-open, for an instance for which none lasts
    /// longer than so.
    pub(crate) fn left(&self, now: u64, longest_lease: u64) -> u64 {
        match &self.lease {
            Some(lease) => lease.left(now, longest_lease),
            None => left(self.since, self.shared.wait, now),
        }
    }

    /// A clock that was set back: no time has passed. Else what is left would be it for as long as the
    /// clock lost.
    pub(crate) fn pull(&mut self, now: u64) {
        self.since = self.since.min(now);
        if let Some(lease) = &mut self.lease {
            lease.since = lease.since.min(now);
        }
        if let Some(census) = &mut self.census {
            *census = (*census).min(now);
        }
    }

    /// How long ago the last census began, if it still holds.
    pub(crate) fn census(&self, now: u64) -> Option<u64> {
        let age = now.saturating_sub(self.census?);
        (age <= CENSUS_HOLDS).then_some(age)
    }

    /// As an instance is told it.
    #[must_use]
    pub fn told(&self, now: u64, caller: &Caller) -> Told {
        let longest_lease = caller.longest_lease();
        Told {
            version: self.version,
            shared: Shared {
                wait: left(self.since, self.shared.wait, now),
                ..self.shared
            },
            lease: self
                .lease
                .as_ref()
                .map(|lease| (lease.holder.clone(), lease.left(now, longest_lease))),
            cause: self.cause,
            by: self.by.clone(),
            offered: self.offered,
            census: self.census(now),
            operated: self.operated,
            declared: self.declared,
        }
    }
}

fn left(since: u64, lasts: u64, now: u64) -> u64 {
    lasts.saturating_sub(now.saturating_sub(since))
}

/// All that Redis holds of a circuit. The default: nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// How it stands; `None` until somebody had something to say.
    pub record: Option<Record>,
    /// The instances, their counts and votes.
    pub members: Members,
}
