//! `classify::aws` over the errors of a real client of the AWS SDK, from a server on loopback that
//! fails in every way. No test looks at the classifier alone: each asks what became of the circuit.

mod answers;
mod client;
mod connection;
mod faults;
mod operations;
mod other_transports;
mod own_choice;
mod server;
mod throttling;
