//! In a test scope nothing is shared.

use super::link::Written;
use super::{RESET, breaker, fail, ready_to_probe};
use breakerbox::{AnyBreaker, KeyedBreakers, Settings, State, test};

#[test]
fn what_happens_in_a_scope_is_told_to_no_link() {
    let ((pms, _), link) = (breaker("scoped"), Written::new());
    pms.link(link.clone()).unwrap();
    link.will_say(Err(RESET));
    let scope = test::scope();
    (0..3).for_each(|_| fail(&pms));
    assert_eq!(pms.state(), State::Open);
    scope.advance(RESET);
    assert!(pms.admit().is_ok(), "nobody was asked");
    pms.force_open();
    let permit = {
        pms.close();
        pms.admit().unwrap()
    };
    drop(scope);
    permit.failure();
    assert!(link.take().is_empty());
    assert_eq!(pms.generation().get(), 0);
}

#[test]
fn a_call_of_outside_is_told_of_wherever_it_ends() {
    let ((pms, clock), link) = (breaker("ends-in-a-scope"), Written::new());
    pms.link(link.clone()).unwrap();
    ready_to_probe(&pms, clock);
    let probe = pms.admit().unwrap();
    link.take();
    let scope = test::scope();
    let inner = test::scope();
    // The link looks at the breaker's generation: at that of the circuit which it hears of.
    probe.success();
    assert_eq!(
        link.take(),
        ["half_open -> closed: recovered", "Success of 2: closed"]
    );
    drop(inner);
    (0..3).for_each(|_| fail(&pms));
    assert_eq!(pms.state(), State::Open, "it is in the scope still");
    assert!(link.take().is_empty());
    drop(scope);
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn a_key_that_was_got_in_a_scope_belongs_to_it() {
    let hosts = KeyedBreakers::<u64>::new("scoped-keys", Settings::new().threshold(1).must());
    let hosts = hosts.max_keys(1);
    let link = Written::new();
    hosts.link(link.clone()).unwrap();
    let scope = test::scope();
    let in_scope = hosts.get(&1_u64);
    hosts.get(&1_u64);
    drop(scope);
    in_scope.force_open();
    let _ = in_scope.call_sync(|| Err::<(), _>("no answer"));
    assert!(link.take().is_empty());
    let outside = hosts.get(&1_u64);
    let scope = test::scope();
    outside.force_open();
    for key in 2..5_u64 {
        hosts.get(&key);
    }
    drop(scope);
    assert_eq!(
        link.take(),
        ["[1] is new", "[1] closed -> forced_open: operator"]
    );
}

#[test]
fn breakers_may_be_linked_within_a_scope_and_are_outside() {
    let hosts = KeyedBreakers::<u64>::new("linked-in-scope", Settings::new().threshold(1).must());
    hosts.get(&7_u64);
    let link = Written::new();
    let scope = test::scope();
    hosts.get(&8_u64);
    hosts.link(link.clone()).unwrap();
    hosts.get(&9_u64);
    drop(scope);
    assert_eq!(link.take(), ["[7] is new"]);
    // What the link keeps is of the process, whoever asks.
    let _scope = test::scope();
    link.kept("7").get().unwrap().force_open();
    assert_eq!(link.take(), ["[7] closed -> forced_open: operator"]);
}
