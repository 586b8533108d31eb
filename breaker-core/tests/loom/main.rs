//! Every interleaving of a few threads, by loom:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p breaker-core --test loom --release
//! ```
//!
//! Each model says which line it guards: of `two_words.rs`, `overlay.rs`, or of the windows in
//! `sliding`. Without that line it fails.
//!
//! Loom remembers only the last access of an atomic when it looks for an order
//! that it has not tried, and so misses some where the thread that ran first
//! only reads. [`race`] therefore runs each model with either thread first.
#![cfg(loom)]

mod overlay;
mod race;
mod windows;
mod words;
