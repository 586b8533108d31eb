//! A known key is found without allocating, and what a key takes is bounded.

use super::{Alike, Answer, ONE_FAILURE, answer, fail};
use allocation_counter::measure;
use breakerbox::{CallError, Config, Key, KeyedBreakers, circuit_breaker};
use std::pin::pin;
use std::task::{Context, Waker};

fn allocations(call: impl FnOnce()) -> u64 {
    measure(call).count_total
}

#[test]
fn a_known_key_is_found_without_allocating() {
    let hosts = KeyedBreakers::<(String, u16)>::new("hosts", ONE_FAILURE);
    let (up, down) = (("up.example", 80_u16), ("down.example", 80_u16));
    let _ = hosts.get(&up).admit();
    fail(&hosts, &down);
    assert_eq!(allocations(|| drop(hosts.get(&up))), 0);
    assert_eq!(
        allocations(|| {
            let answer = hosts.get(&up).call_sync(|| Ok::<_, ()>(7));
            assert_eq!(answer, Ok(7));
            let refused = hosts.get(&down).call_sync(|| Ok::<_, ()>(7));
            assert!(matches!(&refused, Err(CallError::Open(why)) if why.key().is_some()));
        }),
        0
    );
    let new = ("new.example", 80_u16);
    assert_ne!(allocations(|| drop(hosts.get(&new))), 0, "it is copied");
}

#[test]
fn an_annotated_function_allocates_nothing_for_a_known_key() {
    #[circuit_breaker(threshold = 1, key = (host, port), fallback = |_| None)]
    async fn later(host: &str, port: u16, up: bool) -> Answer {
        let _ = (host, port);
        answer(up)
    }

    #[circuit_breaker(threshold = 1, key = host)]
    fn now(host: &str, up: bool) -> Answer {
        let _ = host;
        answer(up)
    }

    let poll = |host: &str, up| {
        let _ = pin!(later(host, 80, up)).poll(&mut Context::from_waker(Waker::noop()));
    };
    for (host, up) in [("a", true), ("b", false)] {
        poll(host, up);
        let _ = now(host, up);
        assert_eq!(allocations(|| poll(host, up)), 0);
        assert_eq!(allocations(|| drop(now(host, up))), 0);
    }
}

#[test]
fn nor_for_keys_that_have_a_hash_in_common() {
    let keys = KeyedBreakers::<Alike>::new("alike", Config::DEFAULT);
    for key in 0..20 {
        keys.get(&Alike(key));
    }
    let found = allocations(|| {
        for key in 0..20 {
            assert_eq!(keys.get(&Alike(key)).key().0, key);
        }
    });
    assert_eq!(found, 0);
}

/// Bytes of each of 100,000 keys.
fn bytes_a_key<K: Key>(key: impl Fn(u64) -> K) -> f64 {
    const KEYS: u32 = 100_000;
    let breakers = KeyedBreakers::<K::Owned>::new("many", Config::DEFAULT).max_keys(KEYS);
    let used = measure(|| {
        for number in 0..u64::from(KEYS) {
            breakers.get(&key(number));
        }
    });
    assert_eq!(breakers.len(), KEYS as usize);
    used.bytes_current as f64 / f64::from(KEYS)
}

#[test]
fn a_key_takes_no_more_than_128_bytes() {
    let number = bytes_a_key(|number| number);
    assert!(number <= 80.0, "{number}");
    let text = bytes_a_key(|number| format!("account-{number:08}"));
    assert!(text <= 112.0, "{text}");
    let pair = bytes_a_key(|number| (number, 1_u16));
    assert!(pair <= 88.0, "{pair}");
}

#[test]
fn what_was_given_up_is_freed() {
    let breakers = KeyedBreakers::<String>::new("few", Config::DEFAULT).max_keys(100);
    let fill = |from: u64| {
        for number in from..from + 1_000 {
            breakers.get(&number.to_string());
        }
    };
    fill(0);
    let more = measure(|| fill(1_000)).bytes_current;
    assert!(more <= 4_096, "{more}");
    drop(breakers);
}

#[test]
fn shared_ones_leave_nothing_in_the_registry() {
    let come_and_go = |from: u32| {
        for number in from..from + 500 {
            let name = format!("come-and-go-{number}");
            let hosts = KeyedBreakers::<u64>::shared(name, Config::DEFAULT, 10).unwrap();
            hosts.get(&1_u64);
        }
    };
    come_and_go(0);
    let more = measure(|| come_and_go(500)).bytes_current;
    assert!(more <= 4_096, "{more}");
}
