//! One breaker for each key of a request.

use super::*;
use axum::http::Request as HttpRequest;
use breakerbox::{AnyBreaker, KeyedBreakers, State, test};
use std::future::ready;

fn settings() -> breakerbox::Config {
    Settings::new().threshold(1).reset(RESET).must()
}

struct Query {
    account: String,
    region: u8,
    answer: Answer,
}

fn query(account: &str, region: u8, answer: Answer) -> Query {
    Query {
        account: account.into(),
        region,
        answer,
    }
}

#[test]
fn a_key_of_the_request_has_a_breaker_of_its_own() {
    let scope = test::scope();
    let accounts = Arc::new(KeyedBreakers::<String>::new("accounts", settings()));
    let mut service = CircuitBreakerLayer::by_key(Arc::clone(&accounts), |query: &Query| {
        query.account.as_str()
    })
    .layer(tower::service_fn(|query: Query| ready(query.answer)));
    assert!(poll_ready(&mut service).is_ready());
    assert!(now(service.call(query("a", 0, Err(DOWN)))).is_err());
    let Err(CallError::Open(refused)) = now(service.call(query("a", 1, Ok(1)))) else {
        panic!("it is open");
    };
    assert_eq!(
        refused.to_string(),
        "circuit `accounts[a]` is open: retry in 30s"
    );
    assert_eq!(now(service.call(query("b", 0, Ok(2)))), Ok(2));
    let mut clone = service.clone();
    assert!(
        is_open(now(clone.call(query("a", 0, Ok(1))))),
        "of the same breakers"
    );
    scope.advance(RESET);
    drop(clone.call(query("a", 0, Ok(1))));
    assert_eq!(now(service.call(query("a", 0, Ok(3)))), Ok(3));
    assert_eq!(accounts.get("a").state(), State::Closed);
    assert_eq!(accounts.len(), 2);
}

#[test]
fn a_key_may_be_made_of_the_request() {
    let _scope = test::scope();
    static SHARDS: KeyedBreakers<(String, u8)> =
        KeyedBreakers::new("shards", Settings::new().threshold(1).must());
    let mut service = CircuitBreakerLayer::by_owned_key(&SHARDS, |query: &Query| {
        (query.account.clone(), query.region)
    })
    .layer(tower::service_fn(|query: Query| ready(query.answer)));
    assert!(now(service.call(query("a", 1, Err(DOWN)))).is_err());
    assert!(is_open(now(service.call(query("a", 1, Ok(1))))));
    assert_eq!(now(service.call(query("a", 2, Ok(1)))), Ok(1));
}

#[test]
fn readiness_belongs_to_no_key() {
    let _scope = test::scope();
    let all = Arc::new(KeyedBreakers::<bool>::new("readiness", settings()));
    let inner = Pms::default();
    let mut service = CircuitBreakerLayer::by_owned_key(Arc::clone(&all), |_: &Request| true)
        .layer(inner.clone());
    inner.becomes(DEAD);
    assert_eq!(
        poll_ready(&mut service),
        Poll::Ready(Err(CallError::Call(DIED)))
    );
    assert!(all.is_empty());
    inner.becomes(NOT_READY);
    assert!(poll_ready(&mut service).is_pending());
    inner.becomes(READY);
    assert_eq!(now(service.call(answered(Ok(1)))), Ok(1));
    assert_eq!(all.get(&true).snapshot().consecutive, 0);
}

#[test]
fn a_host_is_a_key() {
    let _scope = test::scope();
    let hosts = Arc::new(KeyedBreakers::<String>::new("hosts", settings()));
    let mut service = CircuitBreakerLayer::by_host(Arc::clone(&hosts)).layer(tower::service_fn(
        |_: HttpRequest<()>| ready(Err::<(), _>("down")),
    ));
    let mut call = |uri: &str, host: Option<&str>| {
        let mut request = HttpRequest::get(uri);
        if let Some(host) = host {
            request = request.header("host", host);
        }
        match now(service.call(request.body(()).unwrap())) {
            Err(CallError::Open(refused)) => Some(refused.key().unwrap().to_string()),
            _ => None,
        }
    };
    assert_eq!(call("https://pms.example/a", None), None);
    for same in [
        "https://pms.example/b",
        "https://PMS.Example/",
        "https://pms.example:443",
        "https://pms.example:/rooms",
        "http://pms.example:80/",
        "http://somebody:secret@pms.example/",
    ] {
        assert_eq!(call(same, None).as_deref(), Some("pms.example"), "{same}");
    }
    for other in [
        "https://pms.example:80/",
        "http://[::1]/",
        "http://[::1]:8080/",
    ] {
        assert_eq!(call(other, None), None, "{other}");
        assert!(call(other, None).is_some(), "{other}");
    }
    // As a server or a connection sees it.
    assert_eq!(
        call("/rooms", Some("pms.example")).as_deref(),
        Some("pms.example")
    );
    assert_eq!(call("/rooms", None), None);
    assert_eq!(call("/rooms", None).as_deref(), Some(""));
}
