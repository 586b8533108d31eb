//! An operator's word of a circuit that nobody else shares.

use crate::server::Server;
use crate::support::{Instance, LONG, builder, name, until};
use breaker_redis::{Fleet, FleetKeyedBreakers, Sharing};
use breakerbox::{AnyBreaker, Config, KeyedBreakers, State};
use std::sync::Arc;

fn unheard(instance: &Instance) -> usize {
    instance.fleet.ready(LONG).expect("to be told");
    instance.fleet.status().unheard
}

#[test]
fn who_speaks_of_what_nobody_else_shares_can_tell() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let name = name("unheard");
    let new = |prefix: &str| {
        let fleet = builder(&server).prefix(prefix);
        Instance::new(fleet, name, Config::DEFAULT, Sharing::new())
    };
    let alone = new("shop");
    assert_eq!(unheard(&alone), 0, "nothing was said");
    alone.breaker.force_open();
    assert_eq!(unheard(&alone), 1);
    // Another fleet is none of its business.
    let stranger = new("shop2");
    stranger.breaker.force_open();
    alone.breaker.close();
    assert_eq!((unheard(&alone), unheard(&stranger)), (1, 1));
    // Who comes later heeds it, and hears the next word.
    alone.breaker.force_open();
    assert_eq!(unheard(&alone), 1);
    let other = new("shop");
    assert_eq!(other.breaker.state(), State::ForcedOpen);
    alone.breaker.disable();
    assert_eq!(unheard(&alone), 0);
    until("it to be heard", || {
        other.breaker.state() == State::Disabled
    });
    drop(other);
    // Not what calls bring about: nobody says that for others.
    alone.breaker.close();
    until("the other to be gone", || {
        alone.breaker.close();
        alone.breaker.force_open();
        unheard(&alone) == 1
    });
    // Somebody is there after all.
    let other = new("shop");
    other.breaker.close();
    assert_eq!(unheard(&other), 0);
    until("a sign of life", || {
        alone.breaker.state() == State::Closed && alone.fleet.status().unheard == 0
    });
}

#[test]
fn of_a_key_the_name_of_its_breakers_counts() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let name = name("unheard-keys");
    let new = || {
        let fleet = builder(&server).start().expect("a fleet");
        let keyed = Arc::new(KeyedBreakers::<u32>::new(name, Config::DEFAULT));
        let keyed = Arc::new(FleetKeyedBreakers::of(keyed, Sharing::new()));
        fleet.share_keyed(&keyed).expect("to be shared");
        (fleet, keyed)
    };
    let (fleet, keyed) = new();
    let unheard = || {
        fleet.ready(LONG).expect("to be told");
        fleet.status().unheard
    };
    let keys = [keyed.get(&1_u32), keyed.get(&2_u32)];
    for key in &keys {
        key.force_open();
    }
    assert_eq!(unheard(), 2);
    // Of a key that they have never used, the others hear the word as well.
    let (other, of_other) = new();
    drop(of_other.get(&3_u32));
    other.ready(LONG).expect("to be ready");
    keys[0].close();
    assert_eq!(unheard(), 1);
}

/// As an operator may leave out a key, or name one of a breaker that has none: it is another circuit.
#[test]
fn a_name_without_its_key_or_with_one_too_many_is_heard_by_nobody() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let [by_key, alone] = ["by-key", "without-keys"].map(name);
    let breakers_by_key = |fleet: &Fleet, name: &'static str| {
        let keyed = Arc::new(KeyedBreakers::<u32>::new(name, Config::DEFAULT));
        let keyed = Arc::new(FleetKeyedBreakers::of(keyed, Sharing::new()));
        fleet.share_keyed(&keyed).expect("to be shared");
        keyed
    };
    let one = |name| Instance::new(builder(&server), name, Config::DEFAULT, Sharing::new());
    let serving = one(alone);
    let served = breakers_by_key(&serving.fleet, by_key);
    let key = served.get(&1_u32);
    serving.fleet.ready(LONG).expect("to be ready");

    let operator = one(by_key);
    operator.breaker.force_open();
    assert_eq!(unheard(&operator), 1);
    let operated = breakers_by_key(&operator.fleet, alone);
    let key_too_many = operated.get(&1_u32);
    key_too_many.force_open();
    assert_eq!(unheard(&operator), 2);
    // Who shares both in one fleet has three circuits.
    drop((operator, operated));
    let both = breakers_by_key(&serving.fleet, alone);
    let other = both.get(&2_u32);
    other.force_open();
    serving.fleet.ready(LONG).expect("to be told");
    assert_eq!(serving.breaker.state(), State::Closed);
    assert_eq!(key.state(), State::Closed);
    assert_eq!(serving.fleet.status().circuits, 3);
}
