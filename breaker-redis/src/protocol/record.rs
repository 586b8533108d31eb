//! What Redis holds of one circuit.

use super::{Cause, Version, Who};
use breakerbox::State;

/// The state that a fleet shares, as far as a breaker takes it over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// `HalfOpen` while an instance has the lease of a trial.
    pub state: State,
    /// While open: how long it was opened for, in microseconds; else 0.
    pub wait: u64,
    /// Whether the wait was set by an overload or an operator, and not by the configuration.
    pub imposed: bool,
    /// Reopenings since the last close.
    pub reopenings: u8,
}

/// Who may probe for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The instance.
    pub holder: Who,
    /// Until when, in microseconds of Redis' clock.
    pub until: u64,
}

/// All that Redis holds of a circuit.
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
}
