//! A breaker for each client, made and dropped all the time. Alone in its process: what other
//! tests list would keep names.

use breakerbox::{Breaker, Config, KeyedBreakers, find, registry};

#[test]
fn breakers_of_clients_that_are_gone_leave_nothing() {
    let client = |number: u32| {
        let breaker = Breaker::shared("client", Config::DEFAULT);
        let keyed = KeyedBreakers::<u32>::shared("keyed-client", Config::DEFAULT, 9).unwrap();
        drop((breaker.admit(), keyed.get(&number).admit()));
        assert_eq!(
            (breaker.name(), keyed.name()),
            ("client", "keyed-client"),
            "free again"
        );
        if number.is_multiple_of(100) {
            assert_eq!(registry::all().len(), 2);
        }
    };
    client(0);
    let many = allocation_counter::measure(|| (0..100_000).for_each(client));
    assert_eq!(registry::all().len(), 0);
    assert_eq!(
        (many.count_current, many.bytes_current),
        (0, 0),
        "nothing is kept"
    );

    // Also while somebody watches and a state waits for another one.
    let mut watch = registry::watch().at_most(10);
    let state = Breaker::shared("another", Config::DEFAULT);
    state.force_open();
    let states = registry::snapshot();
    drop(state);
    registry::restore(&states);
    client(0);
    let watched = allocation_counter::measure(|| (0..1_000).for_each(client));
    assert!(watched.bytes_current < 4_096, "{watched:?}");
    assert!(watch.try_changed().unwrap().missed > 2_000);
    assert!(find("another").is_none());

    // Different names, all there at once.
    let named = |number| Breaker::shared(format!("client-{number}"), Config::DEFAULT);
    let many: Vec<_> = (0..10_000).map(named).collect();
    assert_eq!(registry::all().len(), 10_000);
    assert!(find("client-9999").is_some());
    drop(many);
    assert_eq!(registry::all().len(), 0);
}
