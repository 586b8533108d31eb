//! The pipeline with the real SDK, against its server on loopback. What is claimed of calls is looked
//! up in the server's log.

mod accounts;
mod answers;
mod binary;
mod client;
mod faults;
// Elsewhere a file that is open can't be removed.
#[cfg(unix)]
mod lost_file;
mod pages;
mod questions;
mod stage;
