//! The pipeline with the real SDK, against its server on loopback. What is claimed of calls is looked
//! up in the server's log.

mod accounts;
mod answers;
mod binary;
mod client;
mod faults;
mod pages;
mod questions;
mod stage;
