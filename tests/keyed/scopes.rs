//! Keys inside test scopes.

use super::{Lines, ONE_FAILURE, answer, fail, fail_one};
use breakerbox::{AnyBreaker, KeyedBreakers, State, circuit_breaker, find, observe, test};
use std::time::Duration;

#[test]
fn each_scope_has_keys_of_its_own() {
    static HOSTS: KeyedBreakers<String> = KeyedBreakers::new("scoped", ONE_FAILURE);
    fail(&HOSTS, "outside");
    {
        let scope = test::scope();
        assert_eq!((HOSTS.len(), HOSTS.breakers().len()), (0, 0));
        fail(&HOSTS, "inside");
        assert_eq!(HOSTS.get("outside").state(), State::Closed);
        {
            let _within = test::scope();
            assert!(HOSTS.is_empty());
            assert_eq!(HOSTS.get("inside").state(), State::Closed);
        }
        assert_eq!(HOSTS.len(), 2);
        assert!(HOSTS.get("inside").admit().is_err());
        scope.advance(Duration::from_secs(30));
        HOSTS.get("inside").admit().unwrap().success();
    }
    assert_eq!(HOSTS.len(), 1);
    assert_eq!(HOSTS.get("outside").state(), State::Open);
    assert_eq!(HOSTS.get("inside").state(), State::Closed);
}

#[test]
fn a_bound_is_each_scopes_own() {
    let hosts = KeyedBreakers::<u64>::new("bounded", ONE_FAILURE).max_keys(2);
    fail(&hosts, &0_u64);
    fail(&hosts, &1_u64);
    let _scope = test::scope();
    fail(&hosts, &2_u64);
    assert_eq!(hosts.get(&2_u64).state(), State::Open);
}

#[test]
fn a_handle_belongs_to_where_it_was_got() {
    let hosts = KeyedBreakers::<String>::new("handles", ONE_FAILURE);
    let outside = hosts.get("a");
    let scope = test::scope();
    let lines = Lines::default();
    let _installed = observe::install(lines.clone());
    // Got outside, used inside: it acts outside.
    fail_one(&outside);
    assert_eq!(hosts.get("a").state(), State::Closed);
    assert!(lines.take().is_empty());
    assert!(outside.snapshot().time_left > Duration::ZERO);
    // Got inside, used on a thread that is not in the scope, and after it.
    let inside = hosts.get("b");
    let on_thread = inside.clone();
    std::thread::spawn(move || fail_one(&on_thread))
        .join()
        .unwrap();
    assert_eq!(
        lines.take(),
        ["circuit `handles[b]` opened after 1 failure, for 30s"]
    );
    assert_eq!(
        inside.admit().unwrap_err().retry_after(),
        Some(Duration::from_secs(30))
    );
    scope.advance(Duration::from_secs(10));
    assert_eq!(
        inside.admit().unwrap_err().retry_after(),
        Some(Duration::from_secs(20))
    );
    scope.advance(Duration::from_secs(20));
    drop(scope);
    inside.admit().unwrap().success();
    assert_eq!(inside.state(), State::Closed);
    assert_eq!(hosts.len(), 1, "outside there is but one");
}

#[test]
fn what_is_found_inside_is_the_scopes() {
    #[circuit_breaker(name = "found-inside", threshold = 1, key = host)]
    fn rooms(host: &str, up: bool) -> super::Answer {
        let _ = host;
        answer(up)
    }

    assert!(rooms("a", true).is_ok());
    let _scope = test::scope();
    assert!(find("found-inside[a]").is_none());
    assert!(rooms("a", false).is_err());
    assert_eq!(find("found-inside[a]").unwrap().state(), State::Open);
}

#[test]
fn shared_in_a_scope_is_found_there_alone() {
    let outside = KeyedBreakers::<u64>::shared("both", ONE_FAILURE, 7).unwrap();
    outside.get(&1_u64);
    let scope = test::scope();
    let inside = KeyedBreakers::<u64>::shared("both", ONE_FAILURE, 9).unwrap();
    assert_eq!(inside.name(), "both");
    inside.get(&2_u64);
    assert_eq!(breakerbox::find_keyed("both").unwrap().max_keys(), 9);
    assert!(find("both[2]").is_some());
    drop(scope);
    assert_eq!(breakerbox::find_keyed("both").unwrap().max_keys(), 7);
    assert!(find("both[1]").is_some() && find("both[2]").is_none());
}
