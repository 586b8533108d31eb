//! What instances and Redis tell each other of one circuit, and what comes of it.
//!
//! Here is no connection, no clock and no breaker: a [`Record`] is what Redis holds of a circuit, a
//! [`Command`] what an instance asks of it, a [`Reply`] what it is told. Times are durations, or
//! readings of Redis' own clock, never of an instance's.

mod cause;
mod command;
mod members;
mod record;
mod reply;
mod rules;
mod share;
mod version;
mod who;

pub use cause::Cause;
pub use command::{Caller, Command, Counts, Known, Limits, Quorum};
pub use members::Members;
pub use record::{Lease, Record, Shared, Stored};
pub use reply::{Reply, Told, Verdict};
pub use rules::{Applied, apply};
pub use share::Share;
pub use version::Version;
pub use who::{NoName, Who};
