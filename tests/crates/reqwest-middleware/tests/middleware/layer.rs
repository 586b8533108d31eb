//! Tower's layer, around a client without middlewares: it is a service.

use super::*;
use breakerbox::tower::CircuitBreakerLayer;
use breakerbox::{CallError, KeyedBreakers, OnCancel, State, classify, test};
use reqwest::{Client, Method, Request};
use tower::{Service, ServiceExt};

fn get(host: &str, path: &str) -> Request {
    Request::new(Method::GET, format!("{host}{path}").parse().unwrap())
}

#[test]
fn its_responses_and_errors_count_by_its_classifiers() {
    let _scope = test::scope();
    block_on(async {
        let (host, _) = serve().await;
        let pms = breaker(Settings::new());
        let mut client = CircuitBreakerLayer::new(Arc::clone(&pms))
            .classify(classify::reqwest::<reqwest::Error>)
            .http()
            .layer(Client::new());
        let mut call = async |request| client.ready().await.unwrap().call(request).await;
        assert!(call(get("ftp://localhost", "/")).await.is_err());
        assert_eq!(call(get(&host, "/missing")).await.unwrap().status(), 404);
        assert_eq!(pms.state(), State::Closed);
        assert_eq!(call(get(&host, "/busy")).await.unwrap().status(), 503);
        let Err(CallError::Open(refused)) = call(get(&host, "/ok")).await else {
            panic!("it is open");
        };
        assert_eq!(refused.retry_after(), Some(Duration::from_secs(7)));
        pms.close();
        assert!(call(get(&nobody().await, "/ok")).await.is_err());
        assert_eq!(pms.state(), State::Open);
    });
}

#[test]
fn its_hosts_are_keys() {
    let _scope = test::scope();
    block_on(async {
        let hosts = Arc::new(KeyedBreakers::<String>::new(
            "hosts",
            Settings::new().threshold(1).must(),
        ));
        let mut client = CircuitBreakerLayer::by_host(hosts)
            .http()
            .layer(Client::new());
        let ((up, _), down) = (serve().await, nobody().await);
        let mut call = async |request| client.ready().await.unwrap().call(request).await;
        assert!(matches!(
            call(get(&down, "/")).await,
            Err(CallError::Call(_))
        ));
        assert!(matches!(
            call(get(&down, "/")).await,
            Err(CallError::Open(_))
        ));
        assert_eq!(call(get(&up, "/ok")).await.unwrap().status(), 200);
    });
}

#[test]
fn a_host_is_what_its_address_says() {
    let _scope = test::scope();
    let hosts = Arc::new(KeyedBreakers::<String>::new(
        "hosts",
        Settings::new().must(),
    ));
    let mut service =
        CircuitBreakerLayer::by_host(Arc::clone(&hosts)).layer(tower::service_fn(|_: Request| {
            std::future::ready(Ok::<_, std::convert::Infallible>(()))
        }));
    block_on(async {
        for address in [
            "http://PMS.example/rooms?at=somebody@else.example",
            "http://me:p%40ss@pms.example:80/",
            "https://pms.example:443#top@home",
            "https://pms.example:8443/",
            "http://[::1]:8080",
            "http://[::1]/",
        ] {
            assert!(service.call(get(address, "")).await.is_ok());
        }
    });
    let mut keys: Vec<_> = hosts
        .breakers()
        .iter()
        .map(|host| host.key().clone())
        .collect();
    keys.sort();
    assert_eq!(
        keys,
        ["[::1]", "[::1]:8080", "pms.example", "pms.example:8443"]
    );
}

#[test]
fn around_a_client_with_middlewares_it_settles_at_the_end_of_bodies_too() {
    let scope = test::scope();
    block_on(async {
        let (host, _) = serve().await;
        let pms = breaker(Settings::new().on_cancel(OnCancel::Failure));
        let mut client = CircuitBreakerLayer::new(Arc::clone(&pms))
            .http()
            .at_end_of_body()
            .layer(ClientBuilder::new(Client::new()).build());
        let mut call = async |request| {
            half_open(&scope, &pms);
            client.ready().await.unwrap().call(request).await.unwrap()
        };
        let answer = call(get(&host, "/ok")).await;
        assert_eq!(pms.state(), State::HalfOpen);
        assert_eq!(answer.text().await.unwrap(), "rooms");
        assert_eq!(pms.state(), State::Closed);
        drop(call(get(&host, "/ok")).await);
        assert_eq!(pms.state(), State::Open, "given up");
        let head = Request::new(Method::HEAD, format!("{host}/ok").parse().unwrap());
        drop(call(head).await);
        assert_eq!(pms.state(), State::Closed);
    });
}
