//! A hotel's booking front, run in production: four clients behind circuit breakers, a status page, metrics
//! and logs. See the README beside this.

pub mod args;
pub mod clients;
pub mod demo;
pub mod dependencies;
pub mod dependency;
pub mod front;
pub mod kept;
pub mod measure;
pub mod operations;
pub mod places;
mod process;
pub mod script;
pub mod service;
pub mod settings;
pub mod telemetry;
pub mod traffic;

/// What keeps the program from going on.
pub type Trouble = Box<dyn std::error::Error + Send + Sync>;
