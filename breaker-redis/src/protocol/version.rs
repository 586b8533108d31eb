//! Which of two states of a circuit is the later.

/// The version of a circuit's shared state. The greater one is the later one, whatever order messages
/// arrive in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// When this life of the record began, in microseconds of Redis' clock; greater than any epoch that
    /// its founder knew of. A Redis that was emptied begins a new one.
    pub epoch: u64,
    /// Grows by one with each change.
    pub counter: u64,
}
