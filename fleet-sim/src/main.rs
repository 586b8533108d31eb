//! What a fleet does to a service that comes back: the real breakers under a virtual clock.

fn main() {}
