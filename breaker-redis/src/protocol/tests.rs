//! The rules and the script, alone and beside each other.

mod any;
mod census;
mod histories;
mod hostile;
mod leases;
mod lost_data;
mod members;
mod names;
mod rules;
mod script;
#[allow(dead_code, reason = "shared with the tests of whole fleets")]
#[path = "../../tests/server/mod.rs"]
pub(crate) mod server;
mod servers;
mod together;
mod users;
mod versions;
mod wire;
