//! The service as a process of its own, between real servers: what guests get is held against what reached
//! the dependencies, by their own logs.

mod demo;
mod load;
mod operator;
mod pages;
mod payments;
mod pms;
mod process;
mod rates;
mod reviews;
#[cfg(unix)]
mod settings;
mod stage;
mod told;
