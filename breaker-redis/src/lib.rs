//! One circuit for a fleet: breakers of [`breakerbox`] that share their state through Redis.
//!
//! A trip of one instance opens the circuit of all, one probe speaks for all, and nobody's call ever
//! waits for Redis: a call reads what its own process knows, and the rest goes on in the background.

pub mod instance;
pub mod protocol;
