//! What users write, once plain and once guarded. `tests/compare.rs` sees that the attribute sets
//! off no lint, and silences none of those that a user relies on.

#![cfg(any(code = "plain", code = "guarded"))]

pub mod bodies;
pub mod last_good;
mod lines;
pub mod methods;
pub mod parameters;

use core::fmt;

use breakerbox::CircuitOpenError;

/// The error.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// It is down.
    Down,
    /// The circuit is open, or it took too long.
    Refused,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("down")
    }
}

impl core::error::Error for Error {}

impl From<CircuitOpenError> for Error {
    fn from(_: CircuitOpenError) -> Self {
        Self::Refused
    }
}

impl From<breakerbox::TimeoutError> for Error {
    fn from(_: breakerbox::TimeoutError) -> Self {
        Self::Refused
    }
}

/// Gives way once.
pub async fn pause() {
    core::future::ready(()).await;
}
