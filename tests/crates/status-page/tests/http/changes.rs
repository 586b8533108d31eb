//! Only what changed is told, to whoever has seen the rest.

use crate::{Service, circuit};
use reqwest::header::{ACCEPT, ETAG, IF_NONE_MATCH};
use serde_json::Value;
use test_status_page::circuits::Command;

fn since(document: &Value) -> String {
    let process = document["process"].as_str().unwrap();
    format!("/circuits?since={process}.{}", document["version"])
}

#[tokio::test]
async fn what_was_seen_is_not_told_again() {
    let service = Service::start().await;
    service.make("seen");
    service.make("changing");
    service.make("leaving");
    let all = service.sees("/circuits", "leaving", |_| true).await;
    let leaving = all["id"].clone();
    let seen = service.json("/circuits").await;
    assert!(circuit(&seen, "seen", None).is_some());
    service.fail("changing", 3);
    service.tell(Command::Drop("leaving".to_owned()));
    let mut gone = false;
    let mut opened = false;
    let mut before = seen;
    while !(gone && opened) {
        let news = service.json(&since(&before)).await;
        assert_eq!(news["complete"], false);
        assert_eq!(news["process"], before["process"]);
        // Other tests' circuits may change too; this one doesn't.
        assert!(circuit(&news, "seen", None).is_none());
        gone |= news["gone"].as_array().unwrap().contains(&leaving);
        opened |= circuit(&news, "changing", None).is_some_and(|it| it["state"] == "open");
        before = news;
    }
}

#[tokio::test]
async fn what_cannot_have_been_seen_is_told_in_full() {
    let service = Service::start().await;
    service.make("in-full");
    let document = service.json("/circuits").await;
    let process = document["process"].as_str().unwrap();
    let future = format!("since={process}.{}", u64::MAX);
    for query in [
        "since=other.1",
        "since=",
        "since=1",
        "since=a.b",
        &future,
        "x=1",
    ] {
        let told = service.json(&format!("/circuits?{query}")).await;
        assert_eq!(told["complete"], true, "{query}");
        assert!(circuit(&told, "in-full", None).is_some(), "{query}");
    }
}

#[tokio::test]
async fn each_page_counts_versions_of_its_own() {
    let service = Service::start().await;
    let (one, other) = (service.json("/circuits").await, service.json("/ops").await);
    assert_ne!(one["process"], other["process"]);
}

#[tokio::test]
async fn a_version_that_is_known_is_not_sent() {
    let service = Service::start().await;
    service.make("tagged");
    let mut known = None;
    let mut unmodified = false;
    // Other tests' circuits change meanwhile.
    for _ in 0..1000 {
        let request = service.get("/circuits").header(ACCEPT, "application/json");
        let request = match &known {
            Some(tag) => request.header(IF_NONE_MATCH, tag),
            None => request,
        };
        let response = request.send().await.unwrap();
        let tag = response.headers()[ETAG].clone();
        assert_eq!(response.headers()["vary"], "Accept");
        if response.status() == 304 {
            assert_eq!(Some(&tag), known.as_ref());
            assert!(response.bytes().await.unwrap().is_empty());
            unmodified = true;
            break;
        }
        assert_eq!(response.status(), 200);
        known = Some(tag);
    }
    assert!(unmodified);
}
