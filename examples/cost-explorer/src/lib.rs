//! What AWS accounts cost, by service and day, also while Cost Explorer does not answer.
//!
//! To read first: [`costs`], the guarded call. What stands around it, from the outside in, is said in
//! breakerbox's guide, `composing`.

pub mod answers;
pub mod breaker;
pub mod client;
pub mod costs;
pub mod error;
pub mod pace;
pub mod query;
pub mod report;
pub mod server;

mod pages;
