//! Breakers and fleets that come and go. None of it needs a Redis that is there.

use crate::support::{LONG, name, until};
use breaker_redis::{
    Fleet, FleetBreaker, FleetError, FleetKeyedBreakers, SharedFleetKeyedBreakers, Sharing,
};
use breakerbox::{Breaker, Config, KeyedBreakers, Settings, Sliding, Window};
use std::net::TcpListener;
use std::sync::Arc;

/// A fleet whose Redis nobody can reach.
fn nobody() -> Fleet {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    Fleet::start(format!("redis://{address}")).expect("a fleet")
}

#[test]
fn a_name_is_free_again_once_its_breaker_is_gone() {
    let (fleet, name) = (nobody(), name("gone"));
    let config = Settings::new().must();
    let made = || {
        let breaker = Arc::new(Breaker::new(name, config));
        Arc::new(FleetBreaker::of(breaker, Sharing::new()))
    };
    let mut present = made();
    fleet.share(&present).expect("to be shared");
    for _ in 0..100 {
        let next = made();
        let taken = fleet.share(&next).unwrap_err();
        assert!(matches!(taken, FleetError::NameTaken(_)), "{taken}");
        drop(present);
        // At once, and not when the background looks at it for the next time.
        fleet.share(&next).expect("to be shared");
        present = next;
    }
    until("what is gone to be forgotten", || {
        fleet.status().circuits == 1
    });
}

#[test]
fn a_name_of_keys_is_free_again_once_their_breakers_are_gone() {
    let (fleet, name) = (nobody(), name("gone-keys"));
    for _ in 0..100 {
        let breakers = Arc::new(KeyedBreakers::<u64>::new(name, Settings::new().must()));
        let breakers = Arc::new(FleetKeyedBreakers::of(breakers, Sharing::new()));
        fleet.share_keyed(&breakers).expect("to be shared");
        drop(breakers.get(&7_u64));
    }
    until("what is gone to be forgotten", || {
        fleet.status().circuits == 0
    });
    let none = fleet.ready(std::time::Duration::ZERO);
    assert!(none.unwrap_err().within < LONG, "nothing was reached");
}

/// By the name that it has instead, nobody elsewhere would know it.
#[test]
fn who_has_another_name_than_it_asked_for_is_not_shared() {
    let fleet = nobody();
    let config = Settings::new().must();
    let sharing = Sharing::new();
    let refused = |error: FleetError, asked: &str, has: &str| {
        let text = error.to_string();
        let FleetError::Renamed { asked: by, name } = error else {
            panic!("{text}")
        };
        assert_eq!((&*by, &*name), (asked, has));
        assert!(has.starts_with(&format!("{asked}@")), "{has}");
        assert!(
            text.contains(has) && text.contains("give each its own"),
            "{text}"
        );
    };

    let one = name("asked");
    let shared = || FleetBreaker::shared(one, config, sharing).expect("a breaker");
    let (first, second) = (shared(), shared());
    fleet.share(&first).expect("to be shared");
    refused(fleet.share(&second).unwrap_err(), one, second.name());
    // Again and again, and it is a plain breaker.
    refused(fleet.share(&second).unwrap_err(), one, second.name());
    assert!(second.admit().is_ok());
    // Not because of keys that are called alike, nor these of it.
    let keyed = || FleetKeyedBreakers::<_>::shared(one, config, 10, sharing).expect("breakers");
    let keys: Arc<SharedFleetKeyedBreakers<u64>> = keyed();
    refused(fleet.share_keyed(&keys).unwrap_err(), one, keys.name());
    // Once the name is free, who asks for it gets it.
    drop((first, second, keys));
    let keys: Arc<SharedFleetKeyedBreakers<u64>> = keyed();
    fleet.share_keyed(&keys).expect("to be shared");

    // Also where it gets its name only by being shared.
    let asked = "asked-by-two";
    static ONE: FleetBreaker<Breaker> =
        FleetBreaker::declared("asked-by-two", Config::DEFAULT, Sharing::new(), || &ONE);
    static OTHER: FleetBreaker<Breaker> =
        FleetBreaker::declared("asked-by-two", Config::DEFAULT, Sharing::new(), || &OTHER);
    fleet.share(&OTHER).expect("to be shared");
    refused(fleet.share(&ONE).unwrap_err(), asked, ONE.name());
    let half = Settings::new().window(Window::calls(100)).failure_rate(0.5);
    let half = half.build_rate().expect("a rate");
    let by_rate: Arc<Breaker<_, Sliding<8>>> =
        Breaker::shared_by_rate(asked, half).expect("it fits");
    let by_rate = FleetBreaker::of(by_rate, sharing);
    refused(fleet.share(&by_rate).unwrap_err(), asked, by_rate.name());
    until("the first to be forgotten", || fleet.status().circuits == 1);
}
