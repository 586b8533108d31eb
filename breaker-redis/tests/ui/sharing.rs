//! Options that can't work are named where they are written.

use breaker_redis::{FleetBreaker, FleetKeyedBreakers, Sharing};
use breakerbox::{Breaker, Config, KeyedBreakers, Settings, breaker};
use std::time::Duration;

breaker! { static PMS = { name: "pms", threshold: 5 } }

static HOSTS: KeyedBreakers<String> = KeyedBreakers::new("hosts", Config::DEFAULT);

static NO_QUORUM: FleetBreaker = FleetBreaker::of(&PMS, Sharing::new().quorum(0));

static NO_SHARE: FleetBreaker = FleetBreaker::of(&PMS, Sharing::new().quorum_share(1.5));

static NO_TIME: FleetKeyedBreakers<&KeyedBreakers<String>> =
    FleetKeyedBreakers::of(&HOSTS, Sharing::new().lease(Duration::from_millis(1)));

static ALL_DAY: FleetBreaker =
    FleetBreaker::of(&PMS, Sharing::new().lease(Duration::from_secs(86_400)));

static LONGER_THAN_PROBES: FleetBreaker<Breaker> = FleetBreaker::new(
    "pms",
    Settings::new().probe_timeout(Duration::from_secs(1)).must(),
    Sharing::new().lease(Duration::from_secs(5)),
);

fn main() {}
