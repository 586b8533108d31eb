//! What people write for `breakerbox`, in the attribute and in configuration alike: durations,
//! and the word that was meant. Only for the crates of `breakerbox`, in the same version.

#![forbid(unsafe_code)]

pub mod duration;
mod nearest;

pub use nearest::nearest;
