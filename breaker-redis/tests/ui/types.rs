//! A `static` whose type is another.

use breaker_redis::{FleetBreaker, Sharing};
use breakerbox::{Breaker, Config, breaker};

breaker! {
    static PMS = { name: "pms", threshold: 5 };
    static CRS = { name: "crs", failure_rate: 0.5, window: 100 };
}

static KEPT_BY_VALUE: FleetBreaker<Breaker> = FleetBreaker::of(&PMS, Sharing::new());

static BY_RATE: FleetBreaker = FleetBreaker::of(&CRS, Sharing::new());

static BY_HAND: FleetBreaker = FleetBreaker::new("by-hand", Config::DEFAULT, Sharing::new());

static DECLARED: FleetBreaker =
    FleetBreaker::declared("declared", Config::DEFAULT, Sharing::new(), || &PMS);

fn main() {}
