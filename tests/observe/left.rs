//! Shared breakers that are dropped.

use breakerbox::observe::{self, FirstThenCounts, InOrder, Left, Observer};
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
