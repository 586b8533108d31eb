//! What can't be shared.

use breaker_redis::{Fleet, FleetBreaker, FleetKeyedBreakers, Sharing};
use breakerbox::{Breaker, Config, KeyedBreakers, breaker};
use std::sync::Arc;

breaker! { static PMS = { name: "pms", threshold: 5 } }

static PMS_FLEET: FleetBreaker = FleetBreaker::of(&PMS, Sharing::new());

static HOSTS: KeyedBreakers<String> = KeyedBreakers::new("hosts", Config::DEFAULT);

static HOSTS_FLEET: FleetKeyedBreakers =
    FleetKeyedBreakers::new("hosts", Config::DEFAULT, Sharing::new());

fn shares(fleet: &Fleet) {
    let _ = fleet.share(&PMS);
    let _ = fleet.share(PMS_FLEET);
    let _ = fleet.share(&HOSTS_FLEET);
    let _ = fleet.share_keyed(&HOSTS);
    let _ = fleet.share_keyed(&PMS_FLEET);
    let _ = fleet.share(Arc::new(Breaker::new("shared", Config::DEFAULT)));
}

fn main() {}
