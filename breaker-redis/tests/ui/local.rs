//! A breaker that is kept by value and is no `static`.

use breaker_redis::{Fleet, FleetBreaker, Sharing};
use breakerbox::Config;

fn main() {
    let fleet = Fleet::start("redis://127.0.0.1").unwrap();
    let pms = FleetBreaker::new("pms", Config::DEFAULT, Sharing::new());
    fleet.share(&pms).unwrap();
}
