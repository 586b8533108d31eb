//! One circuit for a fleet, with real processes and a real Redis.

mod clocks;
mod figures;
mod harness;
mod joining;
mod lease;
mod networks;
mod outages;
mod quorum;
mod strangers;
mod users;
