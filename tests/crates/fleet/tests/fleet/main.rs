//! One circuit for a fleet, with real processes and a real Redis.

mod harness;
