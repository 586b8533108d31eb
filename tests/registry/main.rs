//! Breakers by name: looked at and operated from outside.

mod all;
mod asking;
mod last_change;
mod names;
mod snapshots;
mod threads;
mod watch;
