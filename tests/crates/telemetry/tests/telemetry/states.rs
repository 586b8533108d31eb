//! The states of circuits, and the numbers of keys, on a real page.

use crate::page::{Exporter, Page};
use breakerbox::observe::{self, FirstThenCounts, MetricsObserver, Observer, StateChange};
use breakerbox::{Breaker, KeyedBreakers, Settings, test};
use std::sync::{Arc, Barrier};
use std::time::Duration;

const RESET: Duration = Duration::from_secs(30);

fn settings() -> Settings {
    Settings::new().threshold(1).reset(RESET).jitter(0.0)
}

fn succeed(breakers: &KeyedBreakers<u64>, key: u64) {
    let _ = breakers.get(&key).call_sync(|| Ok::<_, ()>(()));
}

fn fail(breakers: &KeyedBreakers<u64>, key: u64) {
    let _ = breakers.get(&key).call_sync(|| Err::<(), _>("down"));
}

/// Keys of `hosts` in each state: open, half-open, forced open, disabled, in shadow.
fn keys(page: &Page) -> [f64; 5] {
    ["open", "half_open", "forced_open", "disabled", "shadow"]
        .map(|state| page.value(&format!("breaker_keys breaker=hosts,state={state}")))
}

#[tokio::test]
async fn each_state_has_its_number() {
    let scope = test::scope();
    let (exporter, recorder) = Exporter::start();
    let _installed = observe::install(MetricsObserver::to(recorder));
    let pms = Breaker::new("pms", settings().must());
    let state = async || exporter.page().await.value("breaker_state breaker=pms");
    let _ = pms.admit().unwrap().failure();
    assert_eq!(state().await, 1.0);
    scope.advance(RESET);
    let probe = pms.admit().unwrap();
    assert_eq!(state().await, 2.0);
    probe.success();
    assert_eq!(state().await, 0.0);
    pms.force_open();
    assert_eq!(state().await, 3.0);
    pms.disable();
    assert_eq!(state().await, 4.0);
    pms.shadow();
    assert_eq!(state().await, 5.0);
    let _ = pms.admit().unwrap().failure();
    let page = exporter.page().await;
    assert_eq!(page.value("breaker_would_trip_total breaker=pms"), 1.0);
    assert_eq!(page.value("breaker_state breaker=pms"), 5.0);
}

#[tokio::test]
async fn what_was_opened_before_is_known() {
    let _scope = test::scope();
    let (exporter, recorder) = Exporter::start();
    let listed = Breaker::shared("listed", settings().must());
    listed.disable();
    let unlisted = Breaker::new("unlisted", settings().must());
    unlisted.force_open();
    let hosts: KeyedBreakers<u64> = KeyedBreakers::new("hosts", settings().must());
    fail(&hosts, 1);
    fail(&hosts, 2);

    let _installed = observe::install(MetricsObserver::to(recorder));
    let _ = listed.call_sync(|| Ok::<_, ()>(()));
    assert!(unlisted.admit().is_err());
    fail(&hosts, 1);
    fail(&hosts, 1);
    succeed(&hosts, 3);
    let page = exporter.page().await;
    assert_eq!(page.value("breaker_state breaker=listed"), 4.0);
    assert_eq!(page.value("breaker_state breaker=unlisted"), 3.0);
    assert_eq!(keys(&page)[0], 1.0, "2 has not been heard of");
}

/// What a refusal says, of one that nobody has heard of, and however many calls it stands for.
#[tokio::test]
async fn what_only_refuses_is_known_too() {
    let scope = test::scope();
    let (exporter, recorder) = Exporter::start();
    let pms = Breaker::new("pms", settings().must());
    let _ = pms.admit().unwrap().failure();
    scope.advance(RESET);
    let _probe = pms.admit().unwrap();
    let counts = Arc::new(FirstThenCounts::new(MetricsObserver::to(recorder)));
    let _installed = observe::install(Arc::clone(&counts));
    for _ in 0..5 {
        assert!(pms.admit().is_err());
    }
    counts.flush();
    let page = exporter.page().await;
    assert_eq!(page.value("breaker_state breaker=pms"), 2.0);
    let refused = "breaker_calls_total breaker=pms,outcome=rejected";
    assert_eq!(page.value(refused), 5.0);
}

#[tokio::test]
async fn keys_are_counted_and_are_no_label() {
    let scope = test::scope();
    let (exporter, recorder) = Exporter::start();
    let _installed = observe::install(MetricsObserver::to(recorder));
    let hosts: KeyedBreakers<u64> = KeyedBreakers::new("hosts", settings().must()).max_keys(4);
    succeed(&hosts, 1);
    assert_eq!(keys(&exporter.page().await), [0.0; 5]);
    for key in 1..=3 {
        fail(&hosts, key);
    }
    fail(&hosts, 3);
    assert_eq!(keys(&exporter.page().await), [3.0, 0.0, 0.0, 0.0, 0.0]);
    scope.advance(RESET);
    succeed(&hosts, 1);
    let two = hosts.get(&2_u64);
    let probe = two.admit().unwrap();
    assert_eq!(keys(&exporter.page().await), [1.0, 1.0, 0.0, 0.0, 0.0]);
    probe.success();
    drop(two);
    // 1, 2 and 4 are given up, one after the other.
    for key in 4..=6 {
        succeed(&hosts, key);
    }
    let page = exporter.page().await;
    assert_eq!(keys(&page), [1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(page.value("breaker_keys_evicted_total breaker=hosts"), 2.0);
    assert!(!page.samples().any(|sample| sample.contains("key=")));
    assert!(
        !page
            .samples()
            .any(|sample| sample.starts_with("breaker_state "))
    );
    assert_eq!(
        page.counted("breaker_calls_total"),
        [
            ("breaker=hosts,outcome=failure", 3.0),
            ("breaker=hosts,outcome=rejected", 1.0),
            ("breaker=hosts,outcome=success", 6.0),
        ]
    );
}

#[tokio::test]
async fn keys_that_are_not_kept_are_not_counted_for_ever() {
    let scope = test::scope();
    let (exporter, recorder) = Exporter::start();
    let _installed = observe::install(MetricsObserver::to(recorder));
    let hosts: KeyedBreakers<u64> = KeyedBreakers::new("hosts", settings().must()).max_keys(1);
    fail(&hosts, 1);
    for key in 2..20 {
        // It trips, and nobody will ever see it again.
        fail(&hosts, key);
    }
    let page = exporter.page().await;
    assert_eq!(page.value("breaker_keys_full_total breaker=hosts"), 18.0);
    assert_eq!(keys(&page), [1.0, 0.0, 0.0, 0.0, 0.0]);
    scope.advance(RESET);
    succeed(&hosts, 1);
    assert_eq!(keys(&exporter.page().await), [0.0; 5]);
}

#[tokio::test]
async fn keys_are_a_label_where_that_is_asked_for() {
    let _scope = test::scope();
    let (exporter, recorder) = Exporter::start();
    let _installed = observe::install(MetricsObserver::to(recorder).with_keys());
    let hosts: KeyedBreakers<u64> = KeyedBreakers::new("hosts", settings().must()).max_keys(2);
    succeed(&hosts, 1);
    fail(&hosts, 2);
    fail(&hosts, 2);
    let page = exporter.page().await;
    assert_eq!(page.value("breaker_state breaker=hosts,key=1"), 0.0);
    assert_eq!(page.value("breaker_state breaker=hosts,key=2"), 1.0);
    assert_eq!(keys(&page), [1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(
        page.counted("breaker_calls_total"),
        [
            ("breaker=hosts,key=1,outcome=success", 1.0),
            ("breaker=hosts,key=2,outcome=failure", 1.0),
            ("breaker=hosts,key=2,outcome=rejected", 1.0),
        ]
    );
    succeed(&hosts, 3);
    let page = exporter.page().await;
    assert_eq!(page.value("breaker_keys_evicted_total breaker=hosts"), 1.0);
    // And one that isn't by key has no key.
    let _ = Breaker::new("pms", settings().must()).call_sync(|| Ok::<_, ()>(()));
    let page = exporter.page().await;
    assert_eq!(
        page.value("breaker_calls_total breaker=pms,outcome=success"),
        1.0
    );
}

/// Holds each change back until another thread's has been told.
struct Crossing(Barrier);

impl Observer for Crossing {
    fn state_changed(&self, event: &StateChange<'_>) {
        if event.change.to == breakerbox::State::Disabled {
            self.0.wait();
            self.0.wait();
        }
    }
}

#[tokio::test]
async fn changes_that_overtake_each_other_end_with_the_last_one() {
    let (exporter, recorder) = Exporter::start();
    let crossing = Arc::new(Crossing(Barrier::new(2)));
    // Told first, so that it holds back what the other is told.
    let first = observe::install(Arc::clone(&crossing));
    let second = observe::install(MetricsObserver::to(recorder));
    let hosts: KeyedBreakers<u64> = KeyedBreakers::new("overtaken-hosts", settings().must());
    let pms = Breaker::new("overtaken", settings().must());
    let host = hosts.get(&1_u64);
    let host: &dyn breakerbox::AnyBreaker = &host;
    for breaker in [&pms as &dyn breakerbox::AnyBreaker, host] {
        std::thread::scope(|threads| {
            threads.spawn(|| breaker.disable());
            crossing.0.wait();
            breaker.force_open();
            breaker.close();
            crossing.0.wait();
        });
    }
    drop((first, second));
    let page = exporter.page().await;
    assert_eq!(page.value("breaker_state breaker=overtaken"), 0.0);
    let of_key = |state| {
        page.value(&format!(
            "breaker_keys breaker=overtaken-hosts,state={state}"
        ))
    };
    assert_eq!([of_key("disabled"), of_key("forced_open")], [0.0, 0.0]);
    let disabled = "from=closed,to=disabled,trigger=operator";
    for breaker in ["overtaken", "overtaken-hosts"] {
        let changes = format!("breaker_state_changes_total breaker={breaker},{disabled}");
        assert_eq!(page.value(&changes), 1.0);
    }
}

#[tokio::test]
async fn what_is_dropped_is_in_no_state() {
    let _scope = test::scope();
    let (exporter, recorder) = Exporter::start();
    let _installed = observe::install(MetricsObserver::to(recorder).with_keys());
    let client = Breaker::shared("client", settings().must());
    let hosts: Arc<KeyedBreakers<u64>> =
        KeyedBreakers::shared("hosts", settings().must(), 9).unwrap();
    let _ = client.admit().unwrap().failure();
    fail(&hosts, 1);
    let page = exporter.page().await;
    assert_eq!(page.value("breaker_state breaker=client"), 1.0);
    assert_eq!(keys(&page)[0], 1.0);
    drop((client, hosts));
    let page = exporter.page().await;
    assert_eq!(page.value("breaker_state breaker=client"), 0.0);
    assert_eq!(page.value("breaker_state breaker=hosts,key=1"), 0.0);
    assert_eq!(keys(&page), [0.0; 5]);
    assert_eq!(
        page.value("breaker_calls_total breaker=client,outcome=failure"),
        1.0
    );
    // The next one of that name may stand where it stood, and begins anew.
    let client = Breaker::shared("client", settings().must());
    let _ = client.admit().unwrap().failure();
    let page = exporter.page().await;
    assert_eq!(page.value("breaker_state breaker=client"), 1.0);
    assert_eq!(
        page.value("breaker_calls_total breaker=client,outcome=failure"),
        2.0
    );
}

#[tokio::test]
async fn clients_that_come_and_go_are_no_label_each() {
    let _scope = test::scope();
    let (exporter, recorder) = Exporter::start();
    let _installed = observe::install(MetricsObserver::to(recorder));
    let mut clients = Vec::new();
    for _ in 0..50 {
        clients.push(Breaker::shared("client", settings().must()));
    }
    assert!(clients[49].name().contains('#'), "{}", clients[49].name());
    for client in &clients {
        let _ = client.call_sync(|| Ok::<_, ()>(()));
    }
    let own = Breaker::new("orders#7", settings().must());
    let _ = own.call_sync(|| Ok::<_, ()>(()));
    let page = exporter.page().await;
    let calls: Vec<_> = page
        .counted("breaker_calls_total")
        .into_iter()
        .map(|(labels, calls)| (labels.split(['=', '@', ',']).nth(1).unwrap(), calls))
        .collect();
    assert_eq!(
        calls,
        [("client", 1.0), ("client", 49.0), ("orders#7", 1.0)]
    );
}
