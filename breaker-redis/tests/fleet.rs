//! Fleets of this process against a real Redis. With processes of their own they are tested in
//! `tests/crates/fleet`.

#[path = "fleet/circuits.rs"]
mod circuits;
#[path = "fleet/connection.rs"]
mod connection;
#[expect(dead_code, reason = "a port is for a cluster")]
mod server;
#[path = "fleet/support.rs"]
mod support;
