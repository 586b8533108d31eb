//! Breakers and fleets that come and go. None of it needs a Redis that is there.

use crate::support::{LONG, name, until};
use breaker_redis::{Fleet, FleetBreaker, FleetError, FleetKeyedBreakers, Sharing};
use breakerbox::{Breaker, KeyedBreakers, Settings};
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
