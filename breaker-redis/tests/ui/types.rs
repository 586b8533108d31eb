//! A `static` whose type is another.

use breaker_redis::{FleetBreaker, FleetKeyedBreakers, RateFleetBreaker, Sharing};
use breakerbox::{Breaker, Config, KeyedBreakers, breaker};

breaker! {
    static PMS = { name: "pms", threshold: 5 };
    static CRS = { name: "crs", failure_rate: 0.5, window: 100 };
    static HTTP = { name: "http", failure_rate: 0.5, window: "10s" };
}

static KEPT_BY_VALUE: FleetBreaker<Breaker> = FleetBreaker::of(&PMS, Sharing::new());

static BY_RATE: FleetBreaker = FleetBreaker::of(&CRS, Sharing::new());

static BY_TIME: RateFleetBreaker<8> = FleetBreaker::of(&HTTP, Sharing::new());

static KEYS: KeyedBreakers<u64> = KeyedBreakers::new("keys", Config::DEFAULT);

static BY_KEY: FleetKeyedBreakers = FleetKeyedBreakers::of(&KEYS, Sharing::new());

static BY_HAND: FleetBreaker = FleetBreaker::new("by-hand", Config::DEFAULT, Sharing::new());

static DECLARED: FleetBreaker =
    FleetBreaker::declared("declared", Config::DEFAULT, Sharing::new(), || &PMS);

static NOTHING: FleetBreaker = FleetBreaker::of("pms", Sharing::new());

static KEYS_AS_ONE: FleetBreaker = FleetBreaker::of(&KEYS, Sharing::new());

static ONE_AS_KEYS: FleetKeyedBreakers = FleetKeyedBreakers::of(&PMS, Sharing::new());

fn main() {}
