//! A fleet of instances, each with a real circuit and a clock of its own, over the protocol's rules.

#[path = "instance/by_hand.rs"]
mod by_hand;
#[path = "instance/converges.rs"]
mod converges;
#[path = "instance/histories.rs"]
mod histories;
#[path = "instance/node.rs"]
mod node;
#[path = "instance/races.rs"]
mod races;
#[path = "instance/random.rs"]
mod random;
#[path = "instance/world.rs"]
mod world;
