//! What Redis answers.

use super::{Cause, Declared, Shared, Version, Who};

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It was done: for [`Read`](super::Command::Read), there is something to read.
    Done,
    /// It changed nothing: the state is another one by now, or somebody else has the lease.
    Refused,
    /// Redis holds nothing of this circuit.
    Missing,
    /// Redis holds an older version than the instance knew of: it lost what came after.
    Behind,
}

/// What an instance is told: how a circuit stands, after its command or by a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What became of the command.
    pub verdict: Verdict,
    /// How it stands; `None` where nothing is held.
    pub now: Option<Told>,
    /// Where all were told how it stands now: to how many connections this Redis sent it, or this node of a
    /// cluster, which knows of no other. Redis alone knows that: [`apply`](super::apply) doesn't say.
    pub listeners: Option<u32>,
}

/// How a circuit stands in Redis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Of the state.
    pub version: Version,
    /// The state; its wait is what is left of it.
    pub shared: Shared,
    /// While half-open: how long the lease lasts, in microseconds, and whose it is.
    pub lease: Option<(Who, u64)>,
    /// What brought it about.
    pub cause: Cause,
    /// Who brought it about.
    pub by: Who,
    /// While it stands as an instance offered it: the version that it knew. Who knows a later one
    /// [offers](super::Command::Offer) that: it is then taken.
    pub offered: Option<Version>,
    /// While a census holds: how long ago it began, in microseconds, at most a second. Failures came
    /// together that may open the circuit by rate, and every instance says what its window holds, also
    /// those that have seen none; who has seen some counts again after [`CENSUS`](super::CENSUS), which decides.
    pub census: Option<u64>,
    /// The version that an operator made last, of those since Redis was emptied.
    pub operated: Option<Version>,
    /// What who has entered this state, or began the census, declares of the circuit. `None` of an
    /// operator's word, and of what was offered.
    pub declared: Option<Declared>,
}
