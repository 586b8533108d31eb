//! One circuit for a fleet, with real processes and a real Redis.

mod client_certificates;
mod clocks;
mod cluster;
mod deploys;
mod differing;
mod encryption;
mod figures;
mod flapping;
mod harness;
mod joining;
mod keyed;
mod lease;
mod networks;
mod operating;
mod outages;
mod quorum;
mod rates;
mod strangers;
mod users;
