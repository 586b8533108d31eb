//! What observers tell those who watch a service: a subscriber of `tracing`, and Prometheus.

mod costs;
mod counts;
mod events;
mod lines;
mod monitoring;
mod page;
mod recorders;
mod shadow;
mod sharing;
mod spans;
mod states;
