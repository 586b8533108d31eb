//! What instances and Redis tell each other of one circuit, and what comes of it.
//!
//! Here is no connection, no clock and no breaker: a [`Record`] is what Redis holds of a circuit, a
//! [`Command`] what an instance asks of it, a [`Reply`] what it is told. Times are durations, or
//! readings of Redis' own clock, never of an instance's.
//!
//! What becomes of a record when an instance asks something is written twice: in Rust, by [`apply`], and
//! in the [`SCRIPT`] that Redis runs. Tests play random histories through both.

mod cause;
mod command;
mod declared;
mod members;
mod names;
mod record;
mod reply;
mod rules;
mod script;
mod share;
#[cfg(test)]
pub(crate) mod tests;
mod version;
mod who;
mod wire;

pub use cause::Cause;
pub(crate) use command::bounded_lease;
pub use command::{Caller, Command, Counts, Known, Limits, Quorum};
pub use declared::Declared;
pub use members::Members;
pub use names::{NoPrefix, Place, Prefix};
pub use record::{CENSUS, CENSUS_HOLDS, CENSUS_SPREAD, Lease, Record, Shared, Stored};
pub use reply::{Reply, Told, Verdict};
pub use rules::{Applied, apply};
pub use script::SCRIPT;
pub use share::Share;
pub use version::Version;
pub use who::{NoName, Who};
pub use wire::{Message, Unusable, arguments};
