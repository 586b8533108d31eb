//! A fleet of instances, each with a real circuit and a clock of its own, over the protocol's rules.
//!
//! `BREAKER_HISTORIES=100000 cargo test --release -p breaker-redis --test instance converges` plays so many
//! histories of each property; without it some hundreds. One that failed is tried first from then on: its
//! seed is kept in `instance.regressions`. With `BREAKER_LOG=1` all that goes to and fro is printed.

#[path = "instance/by_hand.rs"]
mod by_hand;
#[path = "instance/converges.rs"]
mod converges;
#[path = "instance/forge.rs"]
mod forge;
#[path = "instance/histories.rs"]
mod histories;
#[path = "instance/network.rs"]
mod network;
#[path = "instance/node.rs"]
mod node;
#[path = "instance/races.rs"]
mod races;
#[path = "instance/random.rs"]
mod random;
#[path = "instance/rates.rs"]
mod rates;
#[path = "instance/world.rs"]
mod world;
