//! Keys that only some processes know, and such that one has known before.

use test_fleet::fleet::Fleet;
use test_fleet::instance::Seen;
use test_fleet::plan::Order;
use test_fleet::server::Server;
use test_fleet::service::Health;
use test_fleet::wait;

use super::{
    A, B, FOR_EVER, all_become, all_call_on, becomes, begun, calls, ends, entered, history,
    operate, refuses, settings,
};

#[test]
fn keys_that_only_some_know() {
    let mut fleet = begun(settings(2, FOR_EVER), &[A]);
    calls(&mut fleet, 0, &[B]);
    fleet.service.turns_for_both("i0", B, Health::Down);
    becomes(&fleet.instances[0], B, "open");
    operate(&mut fleet, 0, A, "force_open");
    // Who hears this has heard of the other key before.
    all_become(&fleet, A, "forced_open");
    let looks = fleet.instances[1].look();
    assert_eq!(looks.keys.keys().collect::<Vec<_>>(), [A]);
    assert_eq!(looks.nonsense, 0);
    // Its own calls would all be answered.
    calls(&mut fleet, 1, &[B]);
    becomes(&fleet.instances[1], B, "open");
    assert_eq!(history(&fleet.instances[1], B), [entered("open", "fleet")]);
    refuses(&fleet.instances[1], B, 0);
    // And so is it with a process that comes now.
    fleet.add();
    calls(&mut fleet, 2, &[A, B]);
    becomes(&fleet.instances[2], B, "open");
    becomes(&fleet.instances[2], A, "forced_open");
    fleet.service.turns(Health::Up);
    operate(&mut fleet, 1, B, "close");
    all_become(&fleet, B, "closed");
    becomes(&fleet.instances[2], A, "forced_open");
    all_call_on(&fleet, &[A, B], 10);
    ends(&mut fleet);
}

#[test]
fn a_key_that_was_given_up_is_known_again() {
    let mut settings = settings(2, FOR_EVER);
    settings.circuit.keys = Some(3);
    let mut fleet = Fleet::start(settings, Server::start());
    fleet.connected();
    let mut others = 0..;
    // Other keys take its place, if they may.
    let mut calls_others = |fleet: &mut Fleet, times: usize| {
        for number in others.by_ref().take(times) {
            let key = format!("other-{number}");
            fleet.order_of(0, &key, Order::Call { times: 1 });
            let instance = &fleet.instances[0];
            instance.until("to have called", |seen| {
                seen.calls_of(&key).next().map(drop)
            });
        }
    };
    let times_given_up = |fleet: &Fleet| {
        let given_up = |seen: &Seen| seen.given_up.iter().filter(|key| *key == A).count();
        fleet.instances[0].seen(given_up)
    };
    for number in 0..2 {
        fleet.order_of(number, A, Order::Call { times: 1 });
        let instance = &fleet.instances[number];
        instance.until("to have called", |seen| seen.calls_of(A).next().map(drop));
    }
    for (round, what, state) in [(1, "force_open", "forced_open"), (2, "disable", "disabled")] {
        // Closed, and given up; meanwhile an operator sets it at the other.
        wait::until_so("the key to be given up", || {
            calls_others(&mut fleet, 1);
            times_given_up(&fleet) == round
        });
        operate(&mut fleet, 1, A, what);
        becomes(&fleet.instances[1], A, state);
        assert!(!fleet.instances[0].look().keys.contains_key(A));
        let known = history(&fleet.instances[0], A);
        // It is known again, and told how it stands.
        fleet.order_of(0, A, Order::Call { times: 1 });
        becomes(&fleet.instances[0], A, state);
        let since = history(&fleet.instances[0], A).split_off(known.len());
        assert_eq!(since, [entered(state, "fleet")]);
        // What isn't closed is not given up.
        calls_others(&mut fleet, 20);
        assert_eq!(times_given_up(&fleet), round);
        operate(&mut fleet, 0, A, "close");
        all_become(&fleet, A, "closed");
    }
    // Given up for good: the other has it to itself.
    wait::until_so("the key to be given up", || {
        calls_others(&mut fleet, 1);
        times_given_up(&fleet) == 3
    });
    fleet.service.turns_for_key(A, Health::Down);
    fleet.order_of(1, A, Order::Call { times: 3 });
    becomes(&fleet.instances[1], A, "open");
    fleet.order_of(0, A, Order::Call { times: 1 });
    becomes(&fleet.instances[0], A, "open");
    ends(&mut fleet);
}
