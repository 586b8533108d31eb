//! What instances and Redis tell each other of one circuit, and what comes of it.
//!
//! Here is no connection, no clock and no breaker: a [`Record`] is what Redis holds of a circuit, a
//! [`Command`] what an instance asks of it, a [`Reply`] what it is told. Times are durations, or
//! readings of Redis' own clock, never of an instance's.

mod command;
mod record;
mod reply;
mod version;

pub use command::{Cause, Command, Counts, Known, Limits, Quorum, Who};
pub use record::{Lease, Record, Shared};
pub use reply::{Reply, Told, Verdict};
pub use version::Version;
