//! One breaker per key: `KeyedBreakers`, and `key` in the attribute.

use breakerbox::observe::{self, KeyEvicted, KeysFull, Observer, StateChange};
use breakerbox::{
    AnyBreaker, CallError, Config, ConfigError, KeyedBreakers, Settings, State, circuit_breaker,
    test,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Answer = Result<u32, CallError<&'static str>>;

const ONE_FAILURE: Config = Settings::new().threshold(1).must();

fn answer(up: bool) -> Answer {
    up.then_some(7).ok_or(CallError::Call("no answer"))
}

fn fail<O: Send + Sync>(
    breakers: &KeyedBreakers<O>,
    key: &(impl breakerbox::Key<Owned = O> + ?Sized),
) {
    let failed = breakers.get(key).call_sync(|| Err::<(), _>("no answer"));
    assert_eq!(failed, Err(CallError::Call("no answer")));
}

/// What observers were told, as lines.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn add(&self, event: &impl ToString) {
        self.0.lock().unwrap().push(event.to_string());
    }
}

impl Observer for Lines {
    fn state_changed(&self, event: &StateChange<'_>) {
        self.add(event);
    }

    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        self.add(event);
    }

    fn keys_full(&self, event: &KeysFull<'_>) {
        self.add(event);
    }
}

#[test]
fn each_key_has_a_breaker_of_its_own() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<String>::new("hosts", ONE_FAILURE);
    fail(&hosts, "a");
    assert_eq!(hosts.get("a").state(), State::Open);
    assert_eq!(hosts.get("b").state(), State::Closed);
    let refused = hosts.get("a").admit().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "circuit `hosts[a]` is open: retry in 30s"
    );
    assert_eq!(
        (refused.name(), refused.key().unwrap().to_string()),
        ("hosts", "a".into())
    );
    assert_eq!(hosts.len(), 2);
}

#[test]
fn a_key_is_the_same_however_it_is_held() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<String>::new("hosts", ONE_FAILURE);
    fail(&hosts, "a");
    let (string, boxed, shared): (String, Box<str>, Arc<str>) =
        ("a".into(), "a".into(), "a".into());
    assert_eq!(hosts.get(&string).state(), State::Open);
    assert_eq!(hosts.get(&boxed).state(), State::Open);
    assert_eq!(hosts.get(&shared).state(), State::Open);
    assert_eq!(hosts.get(&&string).state(), State::Open);
    assert_eq!(hosts.len(), 1);

    let pairs = KeyedBreakers::<(String, u16)>::new("pairs", ONE_FAILURE);
    fail(&pairs, &("a", 1_u16));
    assert_eq!(pairs.get(&(&string, &1_u16)).state(), State::Open);
    assert_eq!(pairs.get(&("a", 2_u16)).state(), State::Closed);
    let refused = pairs.get(&(string, 1_u16)).admit().unwrap_err();
    assert_eq!(refused.key().unwrap().to_string(), "a/1");
}

#[circuit_breaker(threshold = 1, key = (account, region))]
fn by_two(account: String, region: &str, up: bool) -> Answer {
    drop(account);
    let _ = region;
    answer(up)
}

#[test]
fn the_attribute_borrows_its_key_before_the_body_takes_it() {
    let _scope = test::scope();
    assert!(by_two("a".into(), "eu", false).is_err());
    let Err(CallError::Open(refused)) = by_two("a".into(), "eu", true) else {
        panic!("admitted")
    };
    assert_eq!(refused.name(), "keyed::by_two");
    assert_eq!(refused.key().unwrap().to_string(), "a/eu");
    assert_eq!(by_two("a".into(), "us", true), Ok(7));
    assert_eq!(by_two("b".into(), "eu", true), Ok(7));
}

#[tokio::test]
async fn an_async_fn_may_wait_with_its_key_gone() {
    fn host(url: &str) -> &str {
        url.split('/').nth(2).unwrap_or(url)
    }

    #[circuit_breaker(threshold = 1, key = host(&url), max_keys = 10, fallback = |_| None)]
    async fn fetch(url: String, up: bool) -> Answer {
        tokio::task::yield_now().await;
        drop(url);
        answer(up)
    }

    let scope = test::scope();
    assert!(fetch("http://a/1".into(), false).await.is_err());
    let refused = fetch("http://a/2".into(), true).await;
    assert!(matches!(refused, Err(CallError::Open(_))));
    assert_eq!(fetch("http://b/1".into(), true).await, Ok(7));
    scope.advance(Duration::from_secs(30));
    assert_eq!(fetch("http://a/3".into(), true).await, Ok(7));
}

#[test]
fn a_generic_function_has_breakers_for_each_type_of_key() {
    #[circuit_breaker(threshold = 1, key = key)]
    fn generic<K: breakerbox::Key>(key: &K, up: bool) -> Answer {
        let _ = key;
        answer(up)
    }

    let _scope = test::scope();
    assert!(generic(&1_u8, false).is_err());
    assert!(matches!(generic(&1_u8, true), Err(CallError::Open(_))));
    assert_eq!(generic(&1_u16, true), Ok(7));
    assert_eq!(generic(&"1", true), Ok(7));
}

#[test]
fn breakers_of_the_users_own() {
    struct Client {
        hosts: Arc<KeyedBreakers<String>>,
    }

    impl Client {
        #[circuit_breaker(breaker = self.hosts, key = host)]
        fn get(&self, host: &str, up: bool) -> Answer {
            let _ = host;
            answer(up)
        }

        #[circuit_breaker(breaker = self.hosts.get(host))]
        fn got(&self, host: &str) -> Answer {
            let _ = host;
            answer(true)
        }

        #[circuit_breaker(threshold = 1, key = host)]
        fn of_all_instances(&self, host: &str, up: bool) -> Answer {
            let _ = host;
            answer(up)
        }
    }

    let _scope = test::scope();
    let hosts = || KeyedBreakers::shared("hosts", ONE_FAILURE, 10).unwrap();
    let (one, other) = (Client { hosts: hosts() }, Client { hosts: hosts() });
    assert!(one.get("a", false).is_err());
    assert!(matches!(one.get("a", true), Err(CallError::Open(_))));
    assert!(matches!(one.got("a"), Err(CallError::Open(_))));
    assert_eq!(one.got("b"), Ok(7));
    assert_eq!(other.get("a", true), Ok(7));

    assert!(one.of_all_instances("a", false).is_err());
    let Err(CallError::Open(refused)) = other.of_all_instances("a", true) else {
        panic!("admitted")
    };
    assert!(
        refused.name().ends_with("Client::of_all_instances"),
        "{}",
        refused.name()
    );
}

#[test]
fn events_carry_the_key() {
    let _scope = test::scope();
    let lines = Lines::default();
    let _installed = observe::install(lines.clone());
    let hosts = KeyedBreakers::<String>::new("hosts", ONE_FAILURE);
    fail(&hosts, "a");
    assert_eq!(
        lines.take(),
        ["circuit `hosts[a]` opened after 1 failure, for 30s"]
    );
}

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
    let told = lines.take();
    assert_eq!(
        told.len(),
        998 - 2 + 1,
        "one for each key beyond the fourth, and the operator's"
    );
    assert!(
        ["2", "3"]
            .map(|key| format!("circuit `hosts[{key}]` was given up for a new key"))
            .contains(&told[0]),
        "{}",
        told[0]
    );
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
}

#[test]
fn a_key_that_is_used_again_is_not_the_first_to_go() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<u64>::new("hosts", Config::DEFAULT).max_keys(3);
    let often = |hosts: &KeyedBreakers<u64>| {
        for _ in 0..2 {
            fail(hosts, &0_u64);
        }
    };
    often(&hosts);
    for key in 1..100_u64 {
        assert!(hosts.get(&key).admit().is_ok());
        // Used between any two new ones: its count is never lost.
        assert_eq!(hosts.get(&0_u64).snapshot().consecutive, 2);
    }
}

#[test]
fn shared_ones_are_found_by_name_and_key_until_they_are_dropped() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<String>::shared("shared-hosts", ONE_FAILURE, 10).unwrap();
    assert!(breakerbox::find("shared-hosts").is_none(), "which key?");
    assert!(
        breakerbox::find("shared-hosts[a]").is_none(),
        "not seen yet"
    );
    fail(&hosts, "a");
    assert_eq!(
        breakerbox::find("shared-hosts[a]").unwrap().state(),
        State::Open
    );
    let found = breakerbox::find_keyed("shared-hosts").unwrap();
    assert_eq!((found.len(), found.max_keys()), (1, 10));
    found.find("a").unwrap().close();
    assert_eq!(hosts.get("a").state(), State::Closed);
    drop((hosts, found));
    assert!(breakerbox::find_keyed("shared-hosts").is_none());
}

#[test]
fn no_keys_at_all_is_refused() {
    let refused = KeyedBreakers::<String>::shared("none", ONE_FAILURE, 0);
    assert_eq!(refused.err(), Some(ConfigError::ZeroMaxKeys));
}
