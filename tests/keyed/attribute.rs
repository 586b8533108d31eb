//! `key` and `max_keys` in the attribute.

use super::{Answer, Lines, ONE_FAILURE, answer, fail};
use breakerbox::{
    CallError, ExactClock, Key, KeyedBreakers, State, circuit_breaker, find_keyed, observe, test,
};
use std::sync::Arc;
use std::time::Duration;

fn refusal(answer: Answer) -> String {
    match answer {
        Err(CallError::Open(refused)) => refused.key().unwrap().to_string(),
        other => panic!("not refused: {other:?}"),
    }
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
    assert_eq!(refused.name(), "keyed::attribute::by_two");
    assert_eq!(refused.key().unwrap().to_string(), "a/eu");
    assert_eq!(by_two("a".into(), "us", true), Ok(7));
    assert_eq!(by_two("b".into(), "eu", true), Ok(7));
}

#[test]
fn owned_keys_are_left_to_the_body_and_to_the_fallback() {
    fn cached(account: &str, _: &(String, u8), _: bool) -> Option<Answer> {
        (account == "cached").then_some(Ok(1))
    }

    #[circuit_breaker(threshold = 1, key = (account, (part.0, part.1)), fallback = cached)]
    fn both(account: &str, part: &(String, u8), up: bool) -> Answer {
        let _ = (account, part);
        answer(up)
    }

    #[circuit_breaker(threshold = 1, key = (account, region), fallback = |_| None)]
    fn consumed(account: String, region: String, up: bool) -> Answer {
        let _ = (account + &region, up);
        answer(up)
    }

    let _scope = test::scope();
    let part = ("x".to_owned(), 1);
    assert_eq!(both("cached", &part, false), Ok(1));
    assert_eq!(both("other", &part, true), Ok(7));
    assert!(both("other", &part, false).is_err());
    assert_eq!(refusal(both("other", &part, true)), "other/x/1");

    assert!(consumed("a".into(), "b".into(), false).is_err());
    assert_eq!(refusal(consumed("a".into(), "b".into(), true)), "a/b");
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

    #[circuit_breaker(threshold = 1, key = (account, region))]
    async fn two(account: String, region: String, up: bool) -> Answer {
        tokio::task::yield_now().await;
        drop(account + &region);
        answer(up)
    }

    let scope = test::scope();
    assert!(fetch("http://a/1".into(), false).await.is_err());
    assert_eq!(refusal(fetch("http://a/2".into(), true).await), "a");
    assert_eq!(fetch("http://b/1".into(), true).await, Ok(7));
    scope.advance(Duration::from_secs(30));
    assert_eq!(fetch("http://a/3".into(), true).await, Ok(7));

    assert!(two("a".into(), "eu".into(), false).await.is_err());
    assert_eq!(refusal(two("a".into(), "eu".into(), true).await), "a/eu");
    assert_eq!(two("a".into(), "us".into(), true).await, Ok(7));
}

#[circuit_breaker(key = key, timeout = "2s")]
async fn timed(key: u64) -> Answer {
    std::future::pending::<()>().await;
    answer(key > 0)
}

#[test]
fn a_guarded_future_is_send_and_hardly_larger_by_its_key() {
    #[circuit_breaker]
    async fn one(key: u64) -> Answer {
        std::future::pending::<()>().await;
        answer(key > 0)
    }

    #[circuit_breaker(key = key)]
    async fn by_key(key: u64) -> Answer {
        std::future::pending::<()>().await;
        answer(key > 0)
    }

    fn send<T: Send>(_: &T) {}
    send(&timed(1));
    send(&by_key(1));
    let (one, by_key) = (size_of_val(&one(1)), size_of_val(&by_key(1)));
    // The handle (with `test-util` of the scope too that it was got in), and a
    // reference to it.
    let handle = size_of_val(&KeyedBreakers::<u64>::new("n", ONE_FAILURE).get(&1_u64));
    assert!(
        by_key <= one + handle + size_of::<usize>(),
        "{by_key} after {one}"
    );
}

#[tokio::test]
async fn a_call_that_takes_too_long_says_of_which_key() {
    let scope = test::scope();
    let (late, ()) = tokio::join!(timed(7), async {
        tokio::task::yield_now().await;
        scope.advance(Duration::from_secs(2));
    });
    let Err(CallError::TimedOut(late)) = late else {
        panic!("not late")
    };
    assert_eq!(late.key().unwrap().to_string(), "7");
}

#[test]
fn a_key_in_use_by_a_future_is_not_given_up() {
    #[circuit_breaker(key = key, max_keys = 1)]
    async fn waits(key: &str) -> Answer {
        let _ = key;
        std::future::pending().await
    }

    let _scope = test::scope();
    let lines = Lines::default();
    let _installed = observe::install(lines.clone());
    let poll = |future: std::pin::Pin<&mut dyn Future<Output = Answer>>| {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(future.poll(&mut context).is_pending());
    };
    let mut one = Box::pin(waits("a"));
    poll(one.as_mut());
    poll(Box::pin(waits("b")).as_mut());
    let not_kept = "circuit `keyed::attribute::waits[b]` is not kept: \
                    the keys that are kept are open or in use";
    assert_eq!(lines.take(), [not_kept]);
    drop(one);
    poll(Box::pin(waits("b")).as_mut());
    let given_up = "circuit `keyed::attribute::waits[a]` was given up for a new key";
    assert_eq!(lines.take(), [given_up]);
}

#[test]
fn a_generic_function_has_breakers_for_each_type_of_key() {
    #[circuit_breaker(threshold = 1, key = key)]
    fn generic<K: Key>(key: &K, up: bool) -> Answer {
        let _ = key;
        answer(up)
    }

    let _scope = test::scope();
    assert!(generic(&1_u8, false).is_err());
    assert_eq!(refusal(generic(&1_u8, true)), "1");
    assert_eq!(generic(&1_u16, true), Ok(7));
    assert_eq!(generic(&"1", true), Ok(7));
    assert!(generic(&"1", false).is_err());
    assert_eq!(refusal(generic(&String::from("1"), true)), "1");
    assert_eq!(refusal(generic(&1_u8, true)), "1");
}

#[test]
fn the_breakers_of_each_type_have_a_name_in_the_registry() {
    #[circuit_breaker(name = "keyed-generic", threshold = 1, key = key, max_keys = 3)]
    fn generic<K: Key>(key: &K) -> Answer {
        let _ = key;
        answer(false)
    }

    fn name_of<K: Key>(key: &K) -> String {
        assert!(matches!(generic(key), Err(CallError::Call(_))));
        let Err(CallError::Open(refused)) = generic(key) else {
            panic!("admitted")
        };
        let name = refused.name().to_owned();
        let found = find_keyed(&name).unwrap();
        assert_eq!((found.name(), found.max_keys()), (&*name, 3));
        let keys = found.breakers();
        assert_eq!(keys.len(), 1);
        assert_eq!(keys[0].key().unwrap().to_string(), "1");
        assert_eq!(keys[0].state(), State::Open);
        name
    }

    let _scope = test::scope();
    let names = [
        name_of(&1_u8),
        name_of(&"1"),
        name_of(&1_u16),
        name_of(&(1_u8,)),
    ];
    assert_eq!(names[0], "keyed-generic");
    for (at, name) in names.iter().enumerate().skip(1) {
        assert!(
            name.starts_with("keyed-generic@tests/keyed/attribute.rs:"),
            "{name}"
        );
        assert!(!names[..at].contains(name), "{names:?}");
    }
}

#[test]
fn all_settings_are_those_of_each_key() {
    const MANY: u32 = 3;

    #[circuit_breaker(
        name = "keyed-settings",
        key = host,
        max_keys = MANY,
        failure_rate = 0.5,
        window = 4,
        min_calls = 2,
        reset = "7s"
    )]
    fn by_rate(host: &str, up: bool) -> Answer {
        let _ = host;
        answer(up)
    }

    let _scope = test::scope();
    for host in ["a", "b"] {
        assert_eq!(by_rate(host, true), Ok(7));
    }
    assert!(by_rate("a", false).is_err());
    let Err(CallError::Open(refused)) = by_rate("a", true) else {
        panic!("admitted")
    };
    assert_eq!(
        refused.to_string(),
        "circuit `keyed-settings[a]` is open: retry in 7s"
    );
    assert_eq!(by_rate("b", true), Ok(7));
    let found = find_keyed("keyed-settings").unwrap();
    assert_eq!((found.max_keys(), found.len()), (3, 2));
    assert_eq!(found.config().reset(), Duration::from_secs(7));
}

#[test]
fn breakers_of_the_users_own() {
    struct Client {
        hosts: Arc<KeyedBreakers<String>>,
        account: u64,
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

        #[circuit_breaker(threshold = 1, key = (self.account, host))]
        async fn of_the_account(self, host: String, up: bool) -> Answer {
            drop(host);
            answer(up)
        }
    }

    let _scope = test::scope();
    let client = |account| Client {
        hosts: KeyedBreakers::shared("hosts", ONE_FAILURE, 10).unwrap(),
        account,
    };
    let (one, other) = (client(1), client(2));
    assert!(one.get("a", false).is_err());
    assert_eq!(refusal(one.get("a", true)), "a");
    assert_eq!(refusal(one.got("a")), "a");
    assert_eq!(one.got("b"), Ok(7));
    assert_eq!(other.get("a", true), Ok(7));

    assert!(one.of_all_instances("a", false).is_err());
    let Err(CallError::Open(refused)) = other.of_all_instances("a", true) else {
        panic!("admitted")
    };
    assert!(
        refused.name().ends_with("::Client::of_all_instances"),
        "{}",
        refused.name()
    );
    let found = breakerbox::find(&format!("{}[a]", refused.name())).unwrap();
    assert_eq!(found.key().unwrap().to_string(), "a");

    let poll = |future: std::pin::Pin<&mut dyn Future<Output = Answer>>| {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match future.poll(&mut context) {
            std::task::Poll::Ready(answer) => answer,
            std::task::Poll::Pending => panic!("not ready"),
        }
    };
    let failed = poll(Box::pin(client(1).of_the_account("a".into(), false)).as_mut());
    assert!(matches!(failed, Err(CallError::Call(_))));
    let refused = poll(Box::pin(client(1).of_the_account("a".into(), true)).as_mut());
    assert_eq!(refusal(refused), "1/a");
    let other = poll(Box::pin(client(2).of_the_account("a".into(), true)).as_mut());
    assert_eq!(other, Ok(7));
}

#[test]
fn a_static_of_the_users_own_with_a_clock_of_theirs() {
    static EXACT: KeyedBreakers<String, ExactClock> =
        KeyedBreakers::with_clock("exact", ONE_FAILURE, ExactClock).max_keys(5);

    #[circuit_breaker(breaker = EXACT, key = host)]
    fn one(host: &str) -> Answer {
        let _ = host;
        answer(true)
    }

    #[circuit_breaker(breaker = &EXACT, key = host.to_string())]
    fn other(host: u8) -> Answer {
        let _ = host;
        answer(true)
    }

    let _scope = test::scope();
    fail(&EXACT, "1");
    assert_eq!(refusal(one("1")), "1");
    assert_eq!(refusal(other(1)), "1");
    assert_eq!(other(2), Ok(7));
    assert!(find_keyed("exact").is_none(), "made by hand");
}

#[test]
fn a_fallback_that_was_served_says_for_which_key() {
    #[derive(Clone, Default)]
    struct Served(Lines);

    impl observe::Observer for Served {
        fn fallback_served(&self, event: &observe::FallbackServed<'_>) {
            self.0.add(event);
        }

        fn rejected(&self, event: &observe::Rejection<'_>) {
            self.0.add(event);
        }
    }

    #[circuit_breaker(name = "served", threshold = 1, key = host, fallback = |_| Ok(1))]
    fn served(host: &str) -> Answer {
        let _ = host;
        answer(false)
    }

    let _scope = test::scope();
    let lines = Served::default();
    let _installed = observe::install(lines.clone());
    assert_eq!((served("a"), served("a")), (Ok(1), Ok(1)));
    assert_eq!(
        lines.0.take(),
        [
            "circuit `served[a]` served a fallback in place of a failed call",
            "call refused: circuit `served[a]` is open: retry in 30s",
            "circuit `served[a]` served a fallback in place of a refused call",
        ]
    );
}
