//! Circuits that come and go: what the page keeps of them goes too.

use crate::{Service, circuit};
use breakerbox::{Breaker, Config};
use test_status_page::circuits::Command;

#[tokio::test]
async fn short_lived_breakers_leave_nothing() {
    let service = Service::start().await;
    service.make("stays");
    for client in 0..20_000 {
        let breaker = Breaker::shared(format!("client-{client}"), Config::DEFAULT);
        let _ = breaker.call_sync(|| Err::<(), _>("no answer"));
        breaker.force_open();
    }
    // Those of other tests may be listed too, and these while they were there.
    let listed = |document: &serde_json::Value| {
        let circuits = document["circuits"].as_array().unwrap().clone();
        let name = |it: &serde_json::Value| it["breaker"].as_str().unwrap_or("").to_owned();
        circuits
            .iter()
            .filter(|it| name(it).starts_with("client-"))
            .count()
    };
    while listed(&service.json("/circuits").await) > 0 {}
    let document = service.json("/circuits").await;
    assert!(circuit(&document, "stays", None).is_some());
}

#[tokio::test]
async fn ten_thousand_keys_are_told_and_then_only_what_changes() {
    let service = Service::start().await;
    service.tell(Command::Keys("many".to_owned(), 10_000));
    let mut document = service.json("/circuits").await;
    while circuit(&document, "many", Some("key-9999")).is_none() {
        document = service.json("/circuits").await;
    }
    let keys = |document: &serde_json::Value| {
        let circuits = document["circuits"].as_array().unwrap();
        circuits.iter().filter(|it| it["breaker"] == "many").count()
    };
    assert_eq!(keys(&document), 10_000);
    let which = test_status_page::circuits::Which::Key("many".to_owned(), "key-77".to_owned());
    service.tell(Command::Fail(which, 3));
    loop {
        let process = document["process"].as_str().unwrap();
        let url = format!("/circuits?since={process}.{}", document["version"]);
        let news = service.json(&url).await;
        assert!(keys(&news) <= 1);
        if let Some(found) = circuit(&news, "many", Some("key-77")) {
            assert_eq!(found["state"], "open");
            break;
        }
        document = news;
    }
}

#[tokio::test]
async fn a_name_that_is_used_again_is_another_circuit() {
    let service = Service::start().await;
    service.make("again");
    service.fail("again", 3);
    let first = service
        .sees("/circuits", "again", |it| it["state"] == "open")
        .await;
    service.tell(Command::Drop("again".to_owned()));
    service.make("again");
    let second = service
        .sees("/circuits", "again", |it| it["state"] == "closed")
        .await;
    assert_ne!(first["id"], second["id"]);
    assert_eq!(second["why"], serde_json::Value::Null);
}
