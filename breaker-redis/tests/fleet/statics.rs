//! Each kind of a `static`, by the shortest words.

use breaker_redis::{FleetBreaker, FleetKeyedBreakers, RateFleetBreaker, Sharing};
use breakerbox::{Breaker, Config, DefaultClock, KeyedBreakers, Sliding, breaker};

breaker! {
    static PMS = { name: "pms", threshold: 5 };
    static CRS = { name: "crs", failure_rate: 0.5, window: 100 };
}

static PMS_FLEET: FleetBreaker = FleetBreaker::of(&PMS, Sharing::new().quorum(2));

static CRS_FLEET: RateFleetBreaker<8> = FleetBreaker::of(&CRS, Sharing::new());

static BY_HAND: FleetBreaker<Breaker> =
    FleetBreaker::new("by-hand", Config::DEFAULT, Sharing::new());

static DECLARED: FleetBreaker<Breaker> =
    FleetBreaker::declared("declared", Config::DEFAULT, Sharing::new(), || &DECLARED);

static HOSTS: FleetKeyedBreakers =
    FleetKeyedBreakers::declared("hosts", Config::DEFAULT, Sharing::new(), || &HOSTS);

static ACCOUNTS: FleetKeyedBreakers<KeyedBreakers<u64>> =
    FleetKeyedBreakers::new("accounts", Config::DEFAULT, Sharing::new());

#[test]
fn each_is_the_breaker_that_it_is_made_of() {
    let (pms, crs): (&Breaker, &Breaker<DefaultClock, Sliding<8>>) = (&PMS_FLEET, &CRS_FLEET);
    assert_eq!((pms.name(), crs.name()), ("pms", "crs"));
    for (breaker, name) in [(&*BY_HAND, "by-hand"), (&*DECLARED, "declared")] {
        assert_eq!(breaker.name(), name);
    }
    assert_eq!((HOSTS.name(), ACCOUNTS.name()), ("hosts", "accounts"));
    assert_eq!(PMS_FLEET.sharing(), &Sharing::new().quorum(2));
}
