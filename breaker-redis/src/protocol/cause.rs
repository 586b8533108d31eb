//! Why a circuit is in its state.

/// What brought a state about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Nothing happened yet: an instance had something to count where nothing was held.
    Founded,
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
    /// The trial came to nothing, and its lease was given back.
    Released,
    /// The trial succeeded.
    Recovered,
    /// An operator.
    Operator,
}
