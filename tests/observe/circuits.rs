//! Which circuit an event is of.

use crate::record::{PATIENT, SECOND, listen};
use breakerbox::{Breaker, KeyedBreakers, Settings, test};
use std::collections::HashSet;

#[test]
fn events_of_a_circuit_have_one_number_and_those_of_others_another() {
    let _scope = test::scope();
    let (heard, _installed) = listen();
    let settings = Settings::new().threshold(1);
    let (pms, rates) = (
        Breaker::new("same-name", settings.must()),
        Breaker::new("same-name", settings.must()),
    );
    let hosts = KeyedBreakers::<u32>::new("hosts", settings.must());
    let events = |breaker: &dyn Fn()| {
        breaker();
        let circuits = heard.take_circuits();
        assert!(circuits.len() > 2);
        assert!(circuits.iter().all(|circuit| *circuit == circuits[0]));
        circuits[0]
    };
    let fail_twice = |breaker: &Breaker| {
        let _ = breaker.call_sync(|| Err::<(), _>(1));
        let _ = breaker.call_sync(|| Err::<(), _>(1));
    };
    let of_key = |key: u32| {
        let _ = hosts.get(&key).call_sync(|| Err::<(), _>(1));
        let _ = hosts.get(&key).call_sync(|| Err::<(), _>(1));
    };
    let mut circuits = vec![
        events(&|| fail_twice(&pms)),
        events(&|| fail_twice(&rates)),
        events(&|| of_key(1)),
        events(&|| of_key(2)),
    ];
    let outer = circuits[0];
    {
        let _inner = test::scope();
        let (heard, _installed) = listen();
        fail_twice(&pms);
        circuits.push(heard.take_circuits()[0]);
    }
    pms.close();
    assert_eq!(heard.take_circuits(), [outer]);
    let distinct: HashSet<_> = circuits.iter().collect();
    assert_eq!(distinct.len(), 5);
}

#[test]
fn a_key_that_is_given_up_is_told_as_the_circuit_that_it_was() {
    let _scope = test::scope();
    let (heard, _installed) = listen();
    let hosts = KeyedBreakers::<u32>::new("hosts", PATIENT).max_keys(1);
    let _ = hosts.get(&1_u32).call_sync(|| Ok::<_, ()>(()));
    let circuits = heard.take_circuits();
    drop(hosts.get(&2_u32));
    assert_eq!(heard.take_circuits(), circuits);
    hosts.get(&2_u32).admit().unwrap().overloaded(SECOND);
    drop(heard.take());
    let third = hosts.get(&3_u32);
    let _ = third.call_sync(|| Ok::<_, ()>(()));
    let circuits = heard.take_circuits();
    assert_eq!(circuits.len(), 2, "no room, and the call's end");
    assert_eq!(circuits[0], circuits[1]);
}
