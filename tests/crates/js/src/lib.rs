//! Client functions of a program in JavaScript, whose dependency is a JavaScript function.
//! `tests/` calls them in Node.
#![cfg(all(target_family = "wasm", target_os = "unknown"))]

pub mod calls;
#[cfg(feature = "js")]
pub mod last_good;
#[cfg(feature = "js")]
pub mod listening;
#[cfg(feature = "js")]
pub mod operating;
#[cfg(feature = "js")]
pub mod platform;
