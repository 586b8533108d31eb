//! What tests of one circuit for a fleet are made of: a real Redis that is killed, stopped, emptied and
//! lied about, a service that fails, and instances that are processes of their own.

pub mod certificates;
pub mod clock;
pub mod costs;
pub mod docs;
pub mod fleet;
pub mod hostile;
pub mod instance;
pub mod keys;
pub mod measure;
pub mod network;
pub mod plan;
pub mod server;
pub mod service;
pub mod storm;
pub mod usage;
pub mod wait;
