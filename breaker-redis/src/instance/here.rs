//! How the breaker stands, as far as an instance knows, and how the fleet does.

use crate::protocol::{Shared, Told, Who};
use breakerbox::{Generation, Snapshot, State};
use std::time::Duration;

/// How the breaker of this process stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here {
    pub(super) generation: Generation,
    pub(super) shared: Shared,
    pub(super) since: u64,
    /// It stands so because it was told to.
    pub(super) followed: bool,
}

impl Here {
    pub(super) fn is(&self, state: State) -> bool {
        self.shared.state == state
    }

    /// Whether it waits for a trial, or is in one.
    pub(super) fn waits(&self) -> bool {
        matches!(self.shared.state, State::Open | State::HalfOpen)
    }

    /// As others are told it.
    pub(super) fn told(&self, now: u64) -> Shared {
        self.shared.after(now.saturating_sub(self.since))
    }
}

/// How the fleet stands: what was told, and when.
#[derive(Clone, Debug)]
pub(super) struct There {
    pub(super) told: Told,
    pub(super) at: u64,
    /// Since when anybody might have asked for a lease. Unlike what is left, it doesn't begin anew each time
    /// that the same is told again.
    pub(super) free_at: u64,
}

impl There {
    pub(super) fn is(&self, state: State) -> bool {
        self.told.shared.state == state
    }

    /// Whether it waits for a trial, or is in one.
    pub(super) fn waits(&self) -> bool {
        matches!(self.told.shared.state, State::Open | State::HalfOpen)
    }

    /// Until when nobody else gets a lease, none of which lasts longer than so.
    pub(super) fn held_until(&self, me: &Who, longest_lease: u64) -> u64 {
        let left = match &self.told.lease {
            Some((holder, left)) if holder != me => (*left).min(longest_lease),
            Some(_) => 0,
            None => self.told.shared.wait,
        };
        self.at.saturating_add(left)
    }

    /// As it is now.
    pub(super) fn shared(&self, now: u64) -> Shared {
        self.told.shared.after(now.saturating_sub(self.at))
    }

    /// For the breaker to follow.
    pub(super) fn snapshot(&self, now: u64) -> Snapshot {
        let Shared {
            state,
            wait,
            imposed,
            reopenings,
        } = self.shared(now);
        Snapshot {
            state,
            time_left: Duration::from_micros(wait),
            imposed,
            consecutive: 0,
            reopenings,
        }
    }
}

impl Shared {
    /// When so many microseconds have passed. A trial is of no concern to others: without its lease it is
    /// open with nothing left.
    pub(super) fn after(self, passed: u64) -> Self {
        let (state, wait) = match self.state {
            State::Open => (State::Open, self.wait.saturating_sub(passed)),
            State::HalfOpen => (State::Open, 0),
            state => (state, 0),
        };
        Self {
            state,
            wait,
            ..self
        }
    }
}
