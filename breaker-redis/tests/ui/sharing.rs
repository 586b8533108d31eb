//! Options that can't work are named where they are written.

use breaker_redis::{FleetBreaker, FleetKeyedBreakers, Sharing};
use breakerbox::{Config, KeyedBreakers, breaker};
use std::time::Duration;

breaker! { static PMS = { name: "pms", threshold: 5 } }

static HOSTS: KeyedBreakers<String> = KeyedBreakers::new("hosts", Config::DEFAULT);

static NO_QUORUM: FleetBreaker = FleetBreaker::of(&PMS, Sharing::new().quorum(0));

static NO_SHARE: FleetBreaker = FleetBreaker::of(&PMS, Sharing::new().quorum_share(1.5));

static NO_TIME: FleetKeyedBreakers<&KeyedBreakers<String>> =
    FleetKeyedBreakers::of(&HOSTS, Sharing::new().lease(Duration::from_millis(1)));

fn main() {}
