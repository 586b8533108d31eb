//! What goes into an instance and comes out of it.

use crate::protocol::{Cause, Command, Counts, Known, Shared, Told};
use breakerbox::{Generation, Snapshot};

/// The circuit entered a state in this process; not by following others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happened {
    /// The generation that the entry started.
    pub generation: Generation,
    /// The state that was entered; while open, `wait` is what is left of it now.
    pub state: Shared,
    /// What brought it about: [`Cause::Leased`] where a call was let through as the first probe of a
    /// trial. `None` for what is not told: nothing happened yet, or a snapshot was restored.
    pub cause: Option<Cause>,
    /// What its window held, where a rate has opened it; else nothing.
    pub window: Counts,
}

/// A call ended, with more than the common success of a closed circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The generation that admitted it.
    pub generation: Generation,
    /// Whether it counted: it was neither ignored nor late.
    pub counted: bool,
    /// What the circuit has counted after it.
    pub counts: Counts,
}

/// What an instance asked: goes back to it with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub(super) number: u32,
    pub(super) topic: Topic,
    pub(super) at: u64,
    /// What it said that is known.
    pub(super) known: Known,
}

/// What it asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Read,
    News,
    Lease,
    Renew,
    Count,
    Offer,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// It was not sent: it can't have had any effect.
    NotSent,
    /// It was sent, or may have been: whether it had an effect isn't known. An error that Redis answered
    /// with is this, too.
    Unknown,
}

/// What others did, for the breaker to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follow {
    /// The state that it has elsewhere, with what is left of its wait.
    pub to: Snapshot,
    /// Only while the circuit is in this generation: what happened here since is not undone.
    pub only_in: Generation,
    /// Who did it, and why.
    pub why: Told,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Ask Redis; the answer to [`Instance::replied`](super::Instance::replied).
    Ask(Asked, Command),
    /// Have the breaker follow, without holding the instance; then
    /// [`Instance::followed`](super::Instance::followed). No other thread may be about to do an earlier
    /// step of the same instance.
    Follow(Follow),
    /// Look what the breaker has counted, and say it to [`Instance::counted`](super::Instance::counted).
    Look,
    /// Nothing until this time, unless something is put in before. `None`: not by itself.
    Wait(Option<u64>),
}
