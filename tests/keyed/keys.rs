//! What a key is, and what one key's breaker is.

use super::{Alike, Lines, ONE_FAILURE, fail, fail_one};
use breakerbox::{
    AnyBreaker, CallError, Config, ConfigError, Key, KeyedBreaker, KeyedBreakers, Settings,
    Sliding, State, SystemClock, Window, observe, test,
};
use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

#[test]
fn each_key_has_a_breaker_of_its_own() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<String>::new("hosts", ONE_FAILURE);
    assert!(hosts.is_empty());
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
    assert_eq!((hosts.len(), hosts.is_empty()), (2, false));
}

#[test]
fn a_key_is_the_same_however_it_is_held() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<String>::new("hosts", ONE_FAILURE);
    fail(&hosts, "a");
    let mut string = String::from("a");
    let (boxed, shared): (Box<str>, Arc<str>) = ("a".into(), "a".into());
    assert_eq!(hosts.get(&string).state(), State::Open);
    assert_eq!(hosts.get(&boxed).state(), State::Open);
    assert_eq!(hosts.get(&shared).state(), State::Open);
    assert_eq!(hosts.get(&&string).state(), State::Open);
    assert_eq!(hosts.get(&&mut string).state(), State::Open);
    assert_eq!(hosts.get(&Rc::new(string)).state(), State::Open);
    assert_eq!(hosts.get(&Cow::Borrowed("a")).state(), State::Open);
    assert_eq!(hosts.len(), 1);

    let pairs = KeyedBreakers::<(String, u16)>::new("pairs", ONE_FAILURE);
    fail(&pairs, &("a", 1_u16));
    assert_eq!(pairs.get(&(&shared, &1_u16)).state(), State::Open);
    assert_eq!(pairs.get(&("a", 2_u16)).state(), State::Closed);
    let refused = pairs.get(&(boxed, 1_u16)).admit().unwrap_err();
    assert_eq!(refused.key().unwrap().to_string(), "a/1");
}

#[test]
fn texts_of_every_length_are_told_apart_by_each_byte() {
    for length in 0..=40 {
        let text: String = ('0'..).take(length).collect();
        assert!(text.is(&text.clone()));
        let shorter = text.get(1..).unwrap_or("x").to_owned();
        assert!(!text.is(&shorter) && !shorter.is(&text), "{text}");
        for at in 0..length {
            let mut other = text.clone();
            other.replace_range(at..=at, "~");
            assert!(!text.is(&other) && !other.is(&text), "{text} {other}");
        }
    }
}

#[test]
fn keys_with_one_hash_and_one_label_are_still_two() {
    let _scope = test::scope();
    let keys = KeyedBreakers::<Alike>::shared("alike", ONE_FAILURE, 100).unwrap();
    for key in 0..100 {
        let one = keys.get(&Alike(key));
        assert_eq!((one.key(), one.state()), (&Alike(key), State::Closed));
        if key % 3 == 0 {
            fail_one(&one);
        }
    }
    assert_eq!(keys.len(), 100);
    for key in 0..100 {
        let one = keys.get(&Alike(key));
        let state = [State::Closed, State::Open][usize::from(key % 3 == 0)];
        assert_eq!((one.key(), one.state()), (&Alike(key), state));
    }
    assert_eq!(keys.len(), 100, "all were known");
    // A new one takes the place of one that is closed.
    fail(&keys, &Alike(100));
    assert_eq!(keys.get(&Alike(100)).state(), State::Open);
    assert_eq!(keys.len(), 100);
    let open = |one: &KeyedBreaker<_>| one.state() == State::Open;
    assert_eq!(keys.breakers().iter().filter(|one| open(one)).count(), 35);

    let found = breakerbox::find("alike[alike]").unwrap();
    assert_eq!(found.key().unwrap().to_string(), "alike");
    // Which of them is not said: what differs are the keys.
    let error = |key| keys.get(&Alike(key)).admit().unwrap_err();
    assert_eq!(error(0).to_string(), error(3).to_string());
}

#[test]
fn keys_with_one_hash_are_used_each_for_itself() {
    let _scope = test::scope();
    let keys = KeyedBreakers::<Alike>::new("alike", Config::DEFAULT).max_keys(20);
    for key in 0..20 {
        keys.get(&Alike(key));
    }
    for new in 20..200 {
        for key in 0..19 {
            keys.get(&Alike(key));
        }
        // The only one that was not used since the last.
        keys.get(&Alike(new));
    }
    for key in 0..19 {
        assert!(
            keys.breakers().iter().any(|one| one.key() == &Alike(key)),
            "{key}"
        );
    }
}

#[test]
fn of_a_tuple_each_part_tells() {
    let keys = KeyedBreakers::<(Alike, Alike, Alike)>::new("alike", ONE_FAILURE);
    let key = |bits: u32| (Alike(bits & 1), Alike(bits & 2), Alike(bits & 4));
    for bits in 0..8 {
        assert_eq!(keys.get(&key(bits)).key(), &key(bits));
    }
    assert_eq!(keys.len(), 8);
}

#[test]
fn breakers_are_all_that_are_kept() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<u64>::new("hosts", Config::DEFAULT).max_keys(1_000);
    for host in 0..1_000_u64 {
        hosts.get(&host);
    }
    let breakers = hosts.breakers();
    let keys: HashSet<u64> = breakers.iter().map(|breaker| *breaker.key()).collect();
    assert_eq!((breakers.len(), keys.len()), (1_000, 1_000));
}

#[test]
fn a_keys_breaker_is_a_breaker() {
    let scope = test::scope();
    let hosts = KeyedBreakers::<String>::new("hosts", ONE_FAILURE);
    let one = hosts.get("a");
    assert_eq!(one.name(), "hosts");
    assert_eq!(AnyBreaker::key(&one).unwrap().to_string(), "a");
    assert_eq!(AnyBreaker::config(&one).threshold(), 1);
    assert_eq!(hosts.config().threshold(), 1);

    let permit = one.admit().unwrap();
    assert!(format!("{permit:?}").contains("hosts[a]"), "{permit:?}");
    drop(permit);
    let ignored = one
        .classify(|_: &&str| false)
        .call_sync(|| Err::<(), _>("404"));
    assert_eq!(ignored, Err(CallError::Call("404")));
    assert_eq!(one.state(), State::Closed);

    one.open_for(std::time::Duration::from_secs(5));
    let snapshot = one.snapshot();
    assert_eq!((one.state(), snapshot.state), (State::Open, State::Open));
    assert_eq!(hosts.get("b").restore(&snapshot).unwrap().to, State::Open);
    assert!(one.admit_at(4_999_999_999).is_err());
    one.admit_at(5_000_000_000).unwrap().success();
    assert_eq!(one.state(), State::Closed);
    one.disable();
    assert_eq!(hosts.get("a").state(), State::Disabled);
    one.shadow();
    one.clear();
    one.close();
    assert_eq!(one.clone().generation(), one.generation());
    drop(scope);
}

#[tokio::test]
async fn a_future_through_a_keys_breaker_is_as_any() {
    let _scope = test::scope();
    let hosts = KeyedBreakers::<String>::new("hosts", ONE_FAILURE);
    let one = hosts.get("a");
    let answer = one.call(async { Err::<(), _>("no answer") }).await;
    assert_eq!(answer, Err(CallError::Call("no answer")));
    let Err(CallError::Open(refused)) = one.call(async { Ok::<_, ()>(1) }).await else {
        panic!("admitted")
    };
    assert_eq!(refused.key().unwrap().to_string(), "a");
    let other = hosts.get("b");
    let late = other
        .call(std::future::pending::<Result<(), ()>>())
        .timeout(std::time::Duration::ZERO)
        .await;
    let Err(CallError::TimedOut(late)) = late else {
        panic!("an answer")
    };
    assert_eq!(
        late.to_string(),
        "call through circuit `hosts[b]` timed out after 0ns"
    );
    assert_eq!(
        (late.name(), late.key().unwrap().to_string()),
        ("hosts", "b".into())
    );
}

#[test]
fn each_key_has_a_window_of_its_own() {
    let _scope = test::scope();
    let settings = Settings::new()
        .failure_rate(0.5)
        .window(Window::calls(10))
        .min_calls(4)
        .must_rate();
    let hosts =
        KeyedBreakers::<String, SystemClock, Sliding<1>>::by_rate("hosts", settings).unwrap();
    let shared = KeyedBreakers::<u32, SystemClock, Sliding<1>>::shared_by_rate("r", settings, 5);
    for host in ["a", "b"] {
        for _ in 0..2 {
            assert!(hosts.get(host).call_sync(|| Ok::<_, ()>(1)).is_ok());
        }
    }
    for _ in 0..2 {
        fail(&hosts, "a");
    }
    assert_eq!(hosts.get("a").state(), State::Open);
    assert_eq!(hosts.get("b").state(), State::Closed);
    assert_eq!(shared.unwrap().get(&1_u32).state(), State::Closed);
}

#[test]
fn a_window_for_which_there_are_too_few_slots_is_refused() {
    let settings = Settings::new().failure_rate(0.5).must_rate();
    let shared = KeyedBreakers::<u32, SystemClock, Sliding<1>>::shared_by_rate("r", settings, 5);
    assert!(matches!(shared.err(), Some(ConfigError::TooFewSlots)));
    let by_hand = KeyedBreakers::<u32, SystemClock, Sliding<1>>::by_rate("r", settings);
    assert!(matches!(by_hand.err(), Some(ConfigError::TooFewSlots)));
}

#[test]
fn no_keys_at_all_is_refused() {
    let refused = KeyedBreakers::<String>::shared("none", ONE_FAILURE, 0);
    assert_eq!(refused.err(), Some(ConfigError::ZeroMaxKeys));
}

#[test]
#[should_panic(expected = "max_keys")]
fn no_keys_at_all_is_refused_by_hand_too() {
    let _ = KeyedBreakers::<String>::new("none", ONE_FAILURE).max_keys(0);
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

/// Keeps events as they are debugged.
#[derive(Default)]
struct Debugged(std::sync::Mutex<String>);

impl observe::Observer for Debugged {
    fn state_changed(&self, event: &observe::StateChange<'_>) {
        *self.0.lock().unwrap() = format!("{event:?}");
    }
}

#[test]
fn debugging_shows_name_and_key() {
    let _scope = test::scope();
    let debugged = Arc::new(Debugged::default());
    let _installed = observe::install(Arc::clone(&debugged));
    let hosts = KeyedBreakers::<String>::new("hosts", ONE_FAILURE);
    let one = hosts.get("a\"b");
    fail_one(&one);
    let event = debugged.0.lock().unwrap().clone();
    assert!(
        event.contains(r#"breaker: "hosts", key: Some("a\"b")"#),
        "{event}"
    );
    let refused = format!("{:?}", one.admit().unwrap_err());
    assert!(refused.contains(r#"name: "hosts[a\"b]""#), "{refused}");
    let handle = format!("{one:?}");
    assert!(handle.contains(r#"name: "hosts[a\"b]""#), "{handle}");
    assert!(handle.contains("Open"), "{handle}");
    let all = format!("{hosts:?}");
    assert!(
        all.contains("hosts") && all.contains("max_keys: 10000"),
        "{all}"
    );
}

#[test]
fn a_handle_may_go_to_another_thread_and_outlive_its_breakers() {
    fn free<T: Send + Sync + Clone + 'static>(_: &T) {}
    fn unwinds<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>(_: &T) {}
    let hosts = KeyedBreakers::<String>::new("hosts", ONE_FAILURE);
    let one = hosts.get("a");
    free(&one);
    fail_one(&one);
    drop(hosts);
    assert_eq!((one.name(), one.state()), ("hosts", State::Open));
    let refused = std::thread::spawn(move || one.admit().unwrap_err()).join();
    let refused = refused.unwrap();
    free(&refused);
    unwinds(&refused);
    assert_eq!(refused.key().unwrap().to_string(), "a");
}
