//! The service as a process of its own, between real servers: what guests get is held against what reached
//! the dependencies, by their own logs.

mod demo;
mod load;
mod payments;
mod pms;
mod process;
mod rates;
mod reviews;
mod stage;
mod told;
