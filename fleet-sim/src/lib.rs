//! What a fleet does to a service that comes back: the real breakers under a virtual clock.

pub mod clock;
pub mod draw;
pub mod events;
pub mod figures;
pub mod fleet;
mod link;
pub mod partly;
pub mod redis;
pub mod report;
pub mod runs;
pub mod scenario;
pub mod service;
