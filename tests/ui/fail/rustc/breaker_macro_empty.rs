//! A block without anything.

use breakerbox::breaker;

breaker! {}

fn main() {}
