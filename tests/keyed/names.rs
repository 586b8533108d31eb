//! Breakers by key in the registry.

use super::{ONE_FAILURE, fail};
use breakerbox::{
    Breaker, CallError, ExactClock, Key, KeyedBreakers, State, circuit_breaker, find, find_keyed,
    test,
};
use std::fmt;
use std::sync::{Arc, Mutex};

#[test]
fn shared_ones_are_found_by_name_and_key_until_they_are_dropped() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<String>::shared("shared-hosts", ONE_FAILURE, 10).unwrap();
    assert!(find("shared-hosts").is_none(), "which key?");
    assert!(find("shared-hosts[a]").is_none(), "not seen yet");
    assert!(find_keyed("shared-hosts").unwrap().is_empty());
    fail(&hosts, "a");
    hosts.get("b");
    assert_eq!(find("shared-hosts[a]").unwrap().state(), State::Open);
    let found = find_keyed("shared-hosts").unwrap();
    assert_eq!((found.len(), found.max_keys()), (2, 10));
    assert_eq!((found.name(), found.is_empty()), ("shared-hosts", false));
    let mut keys: Vec<String> = found
        .breakers()
        .iter()
        .map(|one| one.key().unwrap().to_string())
        .collect();
    keys.sort();
    assert_eq!(keys, ["a", "b"]);
    assert!(format!("{found:?}").contains("shared-hosts"));
    found.find("a").unwrap().close();
    assert!(found.find("").is_none() && found.find("a ").is_none());
    assert_eq!(hosts.get("a").state(), State::Closed);
    drop(hosts);
    assert!(
        find_keyed("shared-hosts").is_some(),
        "as long as it was found"
    );
    drop(found);
    assert!(find_keyed("shared-hosts").is_none());
    assert!(find("shared-hosts[a]").is_none());
}

#[test]
fn ones_that_were_found_stay_breakers_when_all_else_is_gone() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<String>::shared("gone", ONE_FAILURE, 10).unwrap();
    fail(&hosts, "a");
    let found = find("gone[a]").unwrap();
    drop(hosts);
    assert!(find("gone[a]").is_none());
    assert_eq!((found.name(), found.state()), ("gone", State::Open));
}

#[test]
fn brackets_in_names_and_keys_are_found() {
    let _scope = test::scope();
    let plain = KeyedBreakers::<String>::shared("api", ONE_FAILURE, 10).unwrap();
    let bracket = KeyedBreakers::<String>::shared("api[v2]", ONE_FAILURE, 10).unwrap();
    for key in ["[::1]", "a][b", "", "]"] {
        plain.get(key);
    }
    bracket.get("k");
    bracket.get("[::1]");
    let found = |name: &str| {
        let found = find(name)?;
        Some(format!("{} {}", found.name(), found.key().unwrap()))
    };
    assert_eq!(found("api[[::1]]").unwrap(), "api [::1]");
    assert_eq!(found("api[a][b]").unwrap(), "api a][b");
    assert_eq!(found("api[]").unwrap(), "api ");
    assert_eq!(found("api[]]").unwrap(), "api ]");
    assert_eq!(found("api[v2][k]").unwrap(), "api[v2] k");
    assert_eq!(found("api[v2][[::1]]").unwrap(), "api[v2] [::1]");
    assert_eq!(found("api[v2]"), None, "which key?");
    plain.get("v2");
    assert_eq!(found("api[v2]").unwrap(), "api v2");
    for name in [
        "api",
        "api[",
        "api]",
        "[",
        "]",
        "api[x]",
        "api[v2][k",
        "[k]",
    ] {
        assert_eq!(found(name), None, "{name}");
    }
    // A breaker of just that name comes first.
    let _whole = Breaker::shared("api[a][b]", ONE_FAILURE);
    assert!(find("api[a][b]").unwrap().key().is_none());
}

#[test]
fn a_name_that_is_taken_gets_its_place() {
    let _scope = test::scope();
    let (one, other) = (
        KeyedBreakers::<u64>::shared("taken", ONE_FAILURE, 10).unwrap(),
        KeyedBreakers::<u64>::shared("taken", ONE_FAILURE, 10).unwrap(),
    );
    let breaker = Breaker::shared("taken", ONE_FAILURE);
    assert_eq!(one.name(), "taken");
    assert!(
        other.name().starts_with("taken@tests/keyed/names.rs:"),
        "{}",
        other.name()
    );
    assert!(breaker.name().starts_with("taken@"), "{}", breaker.name());
    fail(&other, &7_u64);
    let refused = other.get(&7_u64).admit().unwrap_err();
    let name = format!("{}[7]", other.name());
    assert!(refused.to_string().contains(&name), "{refused}");
    assert_eq!(find(&name).unwrap().state(), State::Open);
    assert!(find("taken[7]").is_none());
    // Free again once it is dropped.
    drop(one);
    let again = KeyedBreakers::<u64>::shared("taken", ONE_FAILURE, 10).unwrap();
    assert_eq!(again.name(), "taken");
}

#[test]
fn a_static_by_hand_enters_at_its_first_call() {
    static HOSTS: KeyedBreakers<String, ExactClock> =
        KeyedBreakers::declared_with_clock("by-hand", ONE_FAILURE, ExactClock, || &HOSTS)
            .max_keys(9);
    let _scope = test::scope();
    assert!(find_keyed("by-hand").is_none());
    fail(&HOSTS, "a");
    let found = find_keyed("by-hand").unwrap();
    assert_eq!((found.max_keys(), found.len()), (9, 1));
    assert_eq!(find("by-hand[a]").unwrap().state(), State::Open);
    let shared =
        KeyedBreakers::<u8, ExactClock>::shared_with_clock("by-hand", ONE_FAILURE, ExactClock, 1);
    assert_eq!(
        shared.unwrap().name(),
        "by-hand",
        "the scope has names of its own"
    );
}

trait Api {
    #[circuit_breaker(threshold = 1, key = host)]
    fn call(&self, host: &str) -> Result<(), CallError<&'static str>> {
        let _ = host;
        Err(CallError::Call("no answer"))
    }
}

struct First;

impl Api for First {}

#[test]
fn a_methods_name_has_its_type() {
    let _scope = test::scope();
    assert!(First.call("a").is_err());
    let Err(CallError::Open(refused)) = First.call("a") else {
        panic!("admitted")
    };
    assert_eq!(refused.name(), "keyed::names::First::call");
    assert!(find("keyed::names::First::call[a]").is_some());
}

/// Drops what it was given as soon as its label is asked for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct DropsAll;

static HELD: Mutex<Option<Arc<KeyedBreakers<DropsAll>>>> = Mutex::new(None);

impl Key for DropsAll {
    type Owned = Self;

    fn to_key(&self) -> Self {
        Self
    }

    fn is(&self, _: &Self) -> bool {
        true
    }

    fn label(_: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = HELD.lock().unwrap().take();
        drop(held);
        f.write_str("drops-all")
    }
}

#[test]
fn breakers_may_be_dropped_while_they_are_looked_for() {
    let held = KeyedBreakers::<DropsAll>::shared("dropped", ONE_FAILURE, 10).unwrap();
    held.get(&DropsAll);
    *HELD.lock().unwrap() = Some(held);
    // What was found is then the last that has them: it leaves the registry.
    assert!(find("dropped[drops-all]").is_some());
    assert!(find_keyed("dropped").is_none());
}

#[test]
fn a_label_that_fails_is_no_label() {
    #[derive(Clone, PartialEq, Eq, Hash)]
    struct Nameless;

    impl Key for Nameless {
        type Owned = Self;

        fn to_key(&self) -> Self {
            Self
        }

        fn is(&self, _: &Self) -> bool {
            true
        }

        fn label(_: &Self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            Err(fmt::Error)
        }
    }

    let _scope = test::scope();
    let keys = KeyedBreakers::<Nameless>::shared("nameless", ONE_FAILURE, 10).unwrap();
    keys.get(&Nameless);
    assert!(find("nameless[]").is_none());
    assert!(find_keyed("nameless").unwrap().find("x").is_none());
}

#[test]
fn what_a_user_supplied_is_shown_on_one_line() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<String>::new("hosts", ONE_FAILURE);
    for (key, shown) in [
        ("a\nb", "a\\nb"),
        ("\r\u{1b}[31m", "\\r\\u{1b}[31m"),
        ("\u{202e}\u{2028}\u{200b}", "\\u{202e}\\u{2028}\\u{200b}"),
        ("Zürich \"x\"", "Zürich \"x\""),
    ] {
        fail(&hosts, key);
        let refused = hosts.get(key).admit().unwrap_err();
        let text = format!("circuit `hosts[{shown}]` is open: retry in 30s");
        assert_eq!(refused.to_string(), text);
        assert_eq!(refused.key().unwrap().to_string(), shown);
    }
}
