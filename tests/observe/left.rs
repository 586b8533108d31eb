//! Shared breakers that are dropped.

use breakerbox::observe::{self, FirstThenCounts, InOrder, Left, Observer, Rejection};
use breakerbox::{Breaker, Config, KeyedBreakers, test};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Heard {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Observer for Heard {
    fn left(&self, event: &Left<'_>) {
        self.0.lock().unwrap().push(event.to_string());
    }
}

fn share_and_drop() {
    drop(Breaker::shared("client", Config::DEFAULT));
    drop(KeyedBreakers::<u64>::shared("hosts", Config::DEFAULT, 8));
    drop(Breaker::new("unlisted", Config::DEFAULT));
}

const TOLD: [&str; 2] = ["circuit `client` is gone", "circuit `hosts` is gone"];

#[test]
fn are_told_of_where_they_were_listed() {
    let outside = Arc::new(Heard::default());
    let _outside = observe::install(Arc::clone(&outside));
    let _scope = test::scope();
    let heard = Arc::new(Heard::default());
    let _installed = observe::install(Arc::clone(&heard));
    share_and_drop();
    assert_eq!(heard.take(), TOLD);
    assert!(!outside.take().contains(&TOLD[1].to_owned()));
}

#[test]
fn are_told_of_through_adaptors_too() {
    let _scope = test::scope();
    let heard = Arc::new(Heard::default());
    let adapted = FirstThenCounts::new(InOrder::new(Arc::clone(&heard)));
    let _installed = observe::install(adapted);
    share_and_drop();
    assert_eq!(heard.take(), TOLD);
}

#[derive(Default)]
struct Refused(Mutex<Vec<String>>);

impl Observer for Refused {
    fn rejected(&self, event: &Rejection<'_>) {
        let line = format!("{} of {}", event.calls, event.error.name());
        self.0.lock().unwrap().push(line);
    }

    fn left(&self, event: &Left<'_>) {
        self.0.lock().unwrap().push(event.to_string());
    }
}

/// Each stands where the one before stood, and its generations begin anew.
#[test]
fn what_was_counted_of_them_is_told_before_and_is_none_of_the_next() {
    let _scope = test::scope();
    let heard = Arc::new(Refused::default());
    let _installed = observe::install(FirstThenCounts::new(Arc::clone(&heard)));
    for name in ["a", "b", "c", "d", "d", "d"] {
        let client = Breaker::shared(name, Config::DEFAULT);
        client.force_open();
        for _ in 0..4 {
            assert!(client.admit().is_err());
        }
        drop(client);
        let told = std::mem::take(&mut *heard.0.lock().unwrap());
        let of = |calls| format!("{calls} of {name}");
        assert_eq!(told, [of(1), of(3), format!("circuit `{name}` is gone")]);
    }
    let hosts = KeyedBreakers::<u64>::shared("hosts", Config::DEFAULT, 8).unwrap();
    for key in 0..3_u64 {
        let host = hosts.get(&key);
        breakerbox::AnyBreaker::force_open(&host);
        for _ in 0..4 {
            assert!(host.admit().is_err());
        }
    }
    drop(hosts);
    let told = std::mem::take(&mut *heard.0.lock().unwrap());
    assert_eq!(told[..3], ["1 of hosts", "1 of hosts", "1 of hosts"]);
    assert_eq!(told[3..6], ["3 of hosts", "3 of hosts", "3 of hosts"]);
    assert_eq!(told[6..], ["circuit `hosts` is gone"]);
}
