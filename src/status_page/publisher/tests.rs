//! What is told, with real breakers in a test scope.

use super::*;
use crate::observe::{self, FallbackServed, Observer as _};
use crate::registry::AnyBreaker as _;
use crate::{Breaker, DefaultClock, InPlaceOf, Outcome, Settings, Sliding};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

struct Page {
    collector: Arc<Collector>,
    publisher: Publisher,
    _installed: observe::Installed,
    _scope: crate::test::TestScope,
}

impl Page {
    fn new() -> Self {
        let scope = crate::test::scope();
        let collector = Arc::new(Collector::new(8));
        let fixed = Fixed {
            title: "test".to_owned(),
            process: "p".to_owned(),
            refresh: Duration::ZERO,
            actions: Vec::new(),
        };
        Self {
            publisher: Publisher::new(Arc::clone(&collector), fixed),
            _installed: observe::install(Arc::clone(&collector)),
            collector,
            _scope: scope,
        }
    }

    fn pass(&self, seconds: u64) {
        self.collector
            .ahead
            .fetch_add(seconds * 1000, Ordering::Relaxed);
    }

    fn all(&self) -> Value {
        serde_json::from_slice(&self.publisher.document(None).1).unwrap()
    }

    fn since(&self, before: &Value) -> Value {
        let version = before["version"].as_u64().unwrap();
        let seen = Seen::read(&format!("p.{version}")).unwrap();
        serde_json::from_slice(&self.publisher.document(Some(&seen)).1).unwrap()
    }
}

#[test]
fn rates_are_those_of_the_last_minute() {
    let page = Page::new();
    page.pass(10);
    let rooms = Breaker::shared("rooms", Settings::new().threshold(3).must());
    for _ in 0..4 {
        rooms.call_sync(|| Ok::<_, ()>(())).unwrap();
    }
    // Three fail, two are refused, and something is served for one.
    for _ in 0..5 {
        assert!(rooms.call_sync(|| Err::<(), _>("no answer")).is_err());
    }
    page.collector.fallback_served(&FallbackServed {
        breaker: "rooms",
        key: None,
        circuit: rooms.circuit_id(),
        in_place_of: InPlaceOf::Open,
        generation: rooms.generation(),
        sequence: 0,
    });
    let before = page.all();
    assert_eq!(
        before["circuits"][0]["rates"]["calls"], 0,
        "the slice isn't over"
    );
    page.pass(5);
    let after = page.since(&before);
    let id = before["circuits"][0]["id"].clone();
    let rates = json!({"calls": 7, "failed": 3, "refused": 2, "stale": 1});
    assert_eq!(after["circuits"], json!([{"id": id, "rates": rates}]));
    assert_eq!(after["rates_seconds"], 15);
    page.pass(60);
    let none = json!({"calls": 0, "failed": 0, "refused": 0, "stale": 0});
    assert_eq!(page.all()["circuits"][0]["rates"], none);
    assert_eq!(page.all()["rates_seconds"], 60);
}

#[test]
fn nothing_is_new_while_nothing_happens() {
    let page = Page::new();
    let pms = Breaker::shared("pms", Settings::new().threshold(1).must());
    let _ = pms.call_sync(|| Err::<(), _>("no answer"));
    page.pass(60);
    let before = page.all();
    for _ in 0..100 {
        let after = page.since(&before);
        assert_eq!(after["circuits"], json!([]));
        assert_eq!(after["breakers"], json!([]));
        assert_eq!(after["version"], before["version"]);
    }
}

#[test]
fn a_reconfigured_breaker_says_what_was_declared() {
    let page = Page::new();
    let pms = Breaker::shared("pms", Settings::new().threshold(5).must());
    let before = page.all();
    assert_eq!(before["breakers"][0]["settings"]["threshold"], 5);
    assert_eq!(before["breakers"][0]["declared"], Value::Null);
    pms.reconfigure(&crate::Overrides::new().threshold(2))
        .unwrap();
    let after = page.since(&before);
    assert_eq!(after["breakers"][0]["settings"]["threshold"], 2);
    assert_eq!(after["breakers"][0]["declared"]["threshold"], 5);
    pms.clear();
    assert_eq!(page.all()["breakers"][0]["declared"], Value::Null);
}

#[test]
fn a_breaker_by_rate_has_other_settings() {
    let page = Page::new();
    let config = Settings::new()
        .failure_rate(0.5)
        .window(breaker_core::Window::calls(20))
        .min_calls(10)
        .slow(Duration::from_millis(250))
        .slow_rate(0.8)
        .must_rate();
    let _calls = Breaker::<DefaultClock, Sliding<2>>::shared_by_rate("calls", config).unwrap();
    let document = page.all();
    let settings = &document["breakers"][0]["settings"];
    assert_eq!(settings["threshold"], Value::Null);
    assert_eq!(settings["failure_rate"], 0.5);
    assert_eq!(settings["min_calls"], 10);
    assert_eq!(settings["window_calls"], 20);
    assert_eq!(settings["window_ms"], Value::Null);
    assert_eq!(settings["slow_ms"], 250);
    assert_eq!(settings["slow_rate"], 0.8);
}

#[test]
fn who_has_seen_what_is_forgotten_is_told_everything() {
    let page = Page::new();
    let seen = page.all();
    for round in 0..3 {
        let made = |place| Breaker::shared(format!("{round}-{place}"), crate::Config::DEFAULT);
        let _many: Vec<_> = (0..GONE / 2).map(made).collect();
        page.all();
    }
    let _one = Breaker::shared("one", crate::Config::DEFAULT);
    let told = page.since(&seen);
    assert_eq!(told["complete"], true);
    assert_eq!(told["circuits"].as_array().unwrap().len(), 1);
}

#[test]
fn at_the_rate_of_a_page_each_second_a_short_history_is_shown() {
    let page = Page::new();
    let pms = Breaker::shared("pms", crate::Config::DEFAULT);
    page.all();
    pms.force_open();
    let recent = |document: &Value| document["circuits"][0]["recent"].clone();
    let first = recent(&page.all());
    assert_eq!(first[0][1], "closed");
    assert_eq!(first[1][1], "forced_open");
    for _ in 0..20 {
        pms.close();
        pms.force_open();
    }
    // Nothing is said of what was before the first that is kept.
    let last = recent(&page.all());
    assert_eq!(last.as_array().unwrap().len(), 8);
}

#[test]
fn a_breaker_in_shadow_says_what_it_would_have_done() {
    let page = Page::new();
    let _rehearsing = observe::install(observe::Rehearsal::new());
    let pms = Breaker::shared("pms", Settings::new().threshold(3).must());
    pms.shadow();
    assert_eq!(page.all()["circuits"][0]["would"], Value::Null);
    for _ in 0..5 {
        let _ = pms.call_sync(|| Err::<(), _>("no answer"));
    }
    let would = page.all()["circuits"][0]["would"].clone();
    assert_eq!(would["opened"], 1);
    assert_eq!(would["refused"], 2);
    assert!(would["last"].is_u64());
    assert_eq!(would["why"], "would have opened after 3 failures, for 30s");
    pms.close();
    assert_eq!(page.all()["circuits"][0]["would"], Value::Null);
    pms.shadow();
    assert_eq!(page.all()["circuits"][0]["would"], Value::Null);
}

/// Of the circuit itself nothing has changed meanwhile, not even a count.
#[test]
fn what_is_told_of_a_circuit_that_stays_as_it_is_is_news() {
    let page = Page::new();
    let _rehearsing = observe::install(observe::Rehearsal::new());
    let pms = Breaker::shared("pms", Settings::new().threshold(1).must());
    pms.shadow();
    let call = |answer: Result<(), &str>| drop(pms.call_sync(|| answer));
    call(Err("no answer"));
    call(Ok(()));
    let before = page.all();
    assert_eq!(before["circuits"][0]["would"]["refused"], 1);
    call(Ok(()));
    let after = page.since(&before);
    assert_eq!(after["circuits"][0]["would"]["refused"], 2);

    let watched = page.collector.known(pms.circuit_id()).unwrap();
    watched.attribute(pms.generation(), "ann");
    let by = &page.since(&after)["circuits"][0]["by"];
    assert_eq!(by, "ann");
}

#[test]
fn a_call_has_failed_where_it_counts_as_a_failure() {
    let page = Page::new();
    let pms = Breaker::shared("pms", Settings::new().threshold(100).must());
    let overloaded = Outcome::Overloaded(Duration::from_secs(1));
    for (calls, (outcome, is_failure)) in (1..).zip([
        (Outcome::Success, 0),
        (Outcome::Ignored, 0),
        (Outcome::Dropped, 0),
        (Outcome::Failure, 1),
        (Outcome::Panicked, 1),
        (overloaded, 1),
    ]) {
        let before = page.all()["circuits"][0]["rates"]["failed"].as_u64();
        pms.admit().unwrap().settle(outcome);
        page.pass(5);
        let rates = &page.all()["circuits"][0]["rates"];
        assert_eq!(rates["calls"], calls, "{outcome:?}");
        assert_eq!(rates["failed"].as_u64(), before.map(|it| it + is_failure));
    }
}

#[test]
fn what_left_is_forgotten_as_soon_as_somebody_looks() {
    let page = Page::new();
    let stays = Breaker::shared("stays", crate::Config::DEFAULT);
    stays.force_open();
    let many: Vec<_> = (0..100)
        .map(|place| Breaker::shared(format!("leaves-{place}"), crate::Config::DEFAULT))
        .collect();
    assert_eq!(page.all()["circuits"].as_array().unwrap().len(), 101);
    assert_eq!(page.collector.kept(), 101);
    drop(many);
    assert_eq!(page.all()["circuits"].as_array().unwrap().len(), 1);
    assert_eq!(page.collector.kept(), 1);
}
