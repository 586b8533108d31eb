//! Which keys are given up for new ones.

use super::{Lines, ONE_FAILURE, fail, fail_one};
use breakerbox::{AnyBreaker, Change, Config, KeyedBreakers, Settings, State, observe, test};
use std::time::Duration;

#[test]
fn a_flood_of_keys_gives_up_only_what_is_closed_and_idle() {
    let _scope = test::scope();
    let lines = Lines::default();
    let _installed = observe::install(lines.clone());
    let hosts = KeyedBreakers::<u64>::new("hosts", ONE_FAILURE).max_keys(4);
    fail(&hosts, &0_u64);
    let in_use = hosts.get(&1_u64);
    lines.take();
    for key in 2..1_000_u64 {
        assert!(hosts.get(&key).admit().is_ok());
    }
    assert_eq!(hosts.len(), 4);
    assert_eq!(hosts.get(&0_u64).state(), State::Open);
    in_use.force_open();
    assert_eq!(hosts.get(&1_u64).state(), State::ForcedOpen);
    let mut told = lines.take();
    told.pop();
    assert_eq!(told.len(), 998 - 2, "one for each key beyond the fourth");
    for line in &told {
        assert!(line.ends_with("was given up for a new key"), "{line}");
        assert!(!line.contains("[0]") && !line.contains("[1]"), "{line}");
    }
}

#[test]
fn where_all_are_open_a_new_key_is_called_but_not_kept() {
    let _scope = test::scope();
    let lines = Lines::default();
    let hosts = KeyedBreakers::<u64>::new("hosts", ONE_FAILURE).max_keys(2);
    fail(&hosts, &0_u64);
    fail(&hosts, &1_u64);
    let _installed = observe::install(lines.clone());
    let new = hosts.get(&2_u64);
    assert_eq!(new.call_sync(|| Ok::<_, ()>(1)), Ok(1));
    assert_eq!(
        lines.take(),
        ["circuit `hosts[2]` is not kept: the keys that are kept are open or in use"]
    );
    assert_eq!(hosts.len(), 2);
    fail_one(&new);
    assert_eq!(hosts.get(&2_u64).state(), State::Closed, "not remembered");
}

#[test]
fn whatever_is_not_closed_is_never_given_up() {
    let scope = test::scope();
    let states: [fn(&dyn AnyBreaker) -> Change; 4] = [
        |one| one.force_open(),
        |one| one.disable(),
        |one| one.shadow(),
        |one| one.open_for(Duration::from_secs(1)),
    ];
    let hosts = KeyedBreakers::<u64>::new("hosts", ONE_FAILURE).max_keys(6);
    for (key, set) in states.iter().enumerate() {
        set(&hosts.get(&(key as u64)));
    }
    // Half-open: its only probe was given up.
    fail(&hosts, &4_u64);
    scope.advance(Duration::from_secs(30));
    drop(hosts.get(&4_u64).admit().unwrap());
    for key in 5..500_u64 {
        hosts.get(&key);
    }
    let state = |key: u64| hosts.get(&key).state();
    assert_eq!(
        [0, 1, 2, 3, 4].map(state),
        [
            State::ForcedOpen,
            State::Disabled,
            State::Shadow,
            State::Open,
            State::HalfOpen
        ]
    );
}

#[test]
fn one_that_closed_again_may_be_given_up() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<u64>::new("hosts", ONE_FAILURE).max_keys(1);
    fail(&hosts, &0_u64);
    hosts.get(&1_u64);
    assert_eq!(hosts.breakers()[0].key(), &0);
    hosts.get(&0_u64).close();
    hosts.get(&1_u64);
    assert_eq!(hosts.breakers()[0].key(), &1);
}

#[test]
fn a_permit_or_an_error_keeps_its_key() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<u64>::new("hosts", ONE_FAILURE).max_keys(1);
    let one = hosts.get(&0_u64);
    let permit = one.admit().unwrap();
    hosts.get(&1_u64);
    assert_eq!(hosts.breakers()[0].key(), &0);
    permit.failure();
    let refused = one.admit().unwrap_err();
    one.close();
    drop(one);
    hosts.get(&1_u64);
    assert_eq!(hosts.breakers()[0].key(), &0);
    drop(refused);
    hosts.get(&1_u64);
    assert_eq!(hosts.breakers()[0].key(), &1);
}

#[test]
fn a_key_that_is_used_again_is_not_the_first_to_go() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<u64>::new("hosts", Config::DEFAULT).max_keys(3);
    for _ in 0..2 {
        fail(&hosts, &0_u64);
    }
    for key in 1..100_u64 {
        assert!(hosts.get(&key).admit().is_ok());
        // Used between any two new ones: its count is never lost.
        assert_eq!(hosts.get(&0_u64).snapshot().consecutive, 2);
    }
}

#[test]
fn a_key_that_was_used_long_ago_goes() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<u64>::new("hosts", Config::DEFAULT).max_keys(10);
    for _ in 0..3 {
        hosts.get(&0_u64);
    }
    for key in 1..100_u64 {
        hosts.get(&key);
    }
    assert!(hosts.breakers().iter().all(|one| *one.key() != 0));
}

#[test]
fn one_of_which_failures_are_counted_is_not_the_first_to_go() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<u64>::new("hosts", Config::DEFAULT).max_keys(30);
    for key in 0..20_u64 {
        fail(&hosts, &key);
    }
    for key in 100..1_000_u64 {
        hosts.get(&key);
    }
    for key in 0..20_u64 {
        assert_eq!(hosts.get(&key).snapshot().consecutive, 1, "{key}");
    }
    // Where there is no other, it goes too.
    let hosts = KeyedBreakers::<u64>::new("hosts", Config::DEFAULT).max_keys(1);
    fail(&hosts, &0_u64);
    hosts.get(&1_u64);
    assert_eq!(hosts.breakers()[0].key(), &1);
}

#[test]
fn where_all_were_used_of_late_one_of_them_goes() {
    let _scope = test::scope();
    let lines = Lines::default();
    let _installed = observe::install(lines.clone());
    // More than are looked at for one new key, in one shard and in many.
    for keys in [1, 20, 5_000_u64] {
        let hosts = KeyedBreakers::<u64>::new("hosts", Config::DEFAULT).max_keys(keys as u32);
        for _ in 0..2 {
            for key in 0..keys {
                hosts.get(&key);
            }
        }
        assert!(lines.take().is_empty());
        for key in keys..keys + 3 {
            hosts.get(&key);
            let told = lines.take();
            assert!(told.len() == 1 && told[0].contains("given up"), "{told:?}");
            assert_eq!(hosts.len() as u64, keys);
            assert!(hosts.breakers().iter().any(|one| *one.key() == key));
        }
    }
}

#[test]
fn a_few_open_ones_among_many_keys_stay() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<u64>::new("hosts", ONE_FAILURE).max_keys(1_000);
    for key in 0..500_u64 {
        fail(&hosts, &key);
    }
    for key in 500..10_000_u64 {
        hosts.get(&key);
        assert!(hosts.len() <= 1_000);
    }
    assert_eq!((hosts.len(), hosts.breakers().len()), (1_000, 1_000));
    for key in 0..500_u64 {
        assert_eq!(hosts.get(&key).state(), State::Open, "{key}");
    }
}

/// How many new keys come before the only one goes that may, of so many.
fn tries_until_it_goes(keys: u64) -> u64 {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<u64>::new("hosts", ONE_FAILURE).max_keys(keys as u32);
    for key in 0..keys {
        fail(&hosts, &key);
    }
    hosts.get(&77_u64).close();
    let lines = Lines::default();
    let _installed = observe::install(lines.clone());
    let went = "circuit `hosts[77]` was given up for a new key";
    let tries = (0..keys).find(|attempt| {
        hosts.get(&(keys + attempt));
        lines.take() == [went]
    });
    tries.unwrap_or(keys)
}

#[test]
fn not_all_are_looked_at_at_once_but_all_in_turn() {
    // 512 are, and each twice until it is known that it was not used again.
    let tries: Vec<u64> = (0..30).map(|_| tries_until_it_goes(4_000)).collect();
    assert!(tries.iter().any(|tries| *tries > 0), "{tries:?}");
    assert!(tries.iter().all(|tries| *tries <= 20), "{tries:?}");
    // More in each shard than are looked at.
    let tries = tries_until_it_goes(20_000);
    assert!(tries <= 100, "{tries}");
}

#[test]
fn one_key_at_most() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<u64>::new("hosts", Settings::new().threshold(2).must()).max_keys(1);
    fail(&hosts, &0_u64);
    fail(&hosts, &1_u64);
    fail(&hosts, &0_u64);
    assert_eq!(hosts.get(&0_u64).state(), State::Closed, "it was given up");
    fail(&hosts, &0_u64);
    assert_eq!((hosts.get(&0_u64).state(), hosts.len()), (State::Open, 1));
}

#[test]
fn as_many_keys_as_there_can_be() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<u64>::new("hosts", ONE_FAILURE).max_keys(u32::MAX);
    for key in 0..20_000_u64 {
        hosts.get(&key);
    }
    assert_eq!((hosts.len(), hosts.breakers().len()), (20_000, 20_000));
}
