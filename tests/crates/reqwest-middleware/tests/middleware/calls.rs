//! Which breaker, and what becomes of a call.

use super::*;
use breakerbox::reqwest_middleware::refusal;
use breakerbox::{KeyedBreakers, OnCancel, Reason, State, test};
use reqwest_middleware::Error;
use std::pin::Pin;

#[test]
fn requests_are_refused_while_the_circuit_is_open() {
    let scope = test::scope();
    block_on(async {
        let (host, served) = serve().await;
        let pms = breaker(Settings::new());
        let client = client(guard(&pms));
        let get = async |path| client.get(format!("{host}{path}")).send().await;
        assert_eq!(get("/ok").await.unwrap().text().await.unwrap(), "rooms");
        assert_eq!(get("/missing").await.unwrap().status(), 404);
        assert_eq!(pms.state(), State::Closed);
        assert_eq!(get("/broken").await.unwrap().status(), 500);
        assert_eq!(served.swap(0, Ordering::Relaxed), 3);

        let error = get("/ok").await.unwrap_err();
        assert!(error.is_middleware());
        assert_eq!(error.to_string(), "circuit `pms` refused the request");
        let refused = refusal(&error).unwrap();
        assert_eq!((refused.name(), refused.reason()), ("pms", Reason::Open));
        assert_eq!(refused.retry_after(), Some(RESET));
        assert_eq!(served.load(Ordering::Relaxed), 0);

        scope.advance(RESET);
        assert_eq!(get("/busy").await.unwrap().status(), 503);
        assert_eq!(pms.snapshot().time_left, Duration::from_secs(7));
        scope.advance(Duration::from_secs(7));
        assert_eq!(get("/ok").await.unwrap().status(), 200);
        assert_eq!(pms.state(), State::Closed);
    });
}

#[test]
fn each_host_has_a_circuit_of_its_own() {
    let _scope = test::scope();
    block_on(async {
        let settings = Settings::new().threshold(1).must();
        let hosts = Arc::new(KeyedBreakers::<String>::new("hosts", settings));
        let client = client(CircuitBreakerMiddleware::by_host(Arc::clone(&hosts)));
        let ((up, _), down) = (serve().await, nobody().await);
        let error = client.get(&down).send().await.unwrap_err();
        assert!(error.is_connect() && refusal(&error).is_none());
        let error = client.get(format!("{down}/else")).send().await.unwrap_err();
        let key = refusal(&error).unwrap().key().unwrap().to_string();
        assert_eq!(format!("http://{key}"), down);
        assert!(client.get(format!("{up}/ok")).send().await.is_ok());
        // What a name or a scheme leaves out is the same host.
        for url in [
            "http://LOCALHOST:80/",
            "http://me:secret@localhost/",
            "https://localhost:443",
        ] {
            let _ = client.get(url).send().await;
        }
        let mut keys: Vec<_> = hosts
            .breakers()
            .iter()
            .map(|host| host.key().clone())
            .collect();
        keys.retain(|key| !key.starts_with("127."));
        assert_eq!(keys, ["localhost"]);
    });
}

#[test]
fn a_key_may_be_anything_of_the_request() {
    let _scope = test::scope();
    block_on(async {
        let (host, _) = serve().await;
        let settings = Settings::new().threshold(1).must();
        let paths = Arc::new(KeyedBreakers::<String>::new("paths", settings));
        let by_path = client(CircuitBreakerMiddleware::by_key(paths, |request| {
            request.url().path()
        }));
        let pairs = Arc::new(KeyedBreakers::<(String, bool)>::new("pairs", settings));
        let by_pair = client(CircuitBreakerMiddleware::by_owned_key(pairs, |request| {
            (request.url().path().to_owned(), request.body().is_some())
        }));
        for client in [by_path, by_pair] {
            let get = async |path| client.get(format!("{host}{path}")).send().await;
            assert!(get("/broken").await.is_ok());
            assert!(get("/broken").await.is_err());
            assert!(get("/ok").await.is_ok());
        }
    });
}

#[test]
fn clones_and_requests_side_by_side_have_one_breaker_and_one_probe() {
    let scope = test::scope();
    block_on(async {
        let (host, served) = serve().await;
        let pms = breaker(Settings::new());
        let client = client(guard(&pms));
        half_open(&scope, &pms);
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let (client, url) = (client.clone(), format!("{host}/ok"));
                let request = client.get(url).try_clone().unwrap();
                tokio::spawn(async move { request.send().await })
            })
            .collect();
        let mut refused = 0;
        for task in tasks {
            match task.await.unwrap() {
                Ok(answer) => assert_eq!(answer.status(), 200),
                Err(error) => {
                    assert!(refusal(&error).is_some());
                    refused += 1;
                }
            }
        }
        let served = served.load(Ordering::Relaxed);
        assert_eq!(served + refused, 50);
        // All were asked before the probe could end.
        assert_eq!(served, 1);
        assert_eq!(pms.state(), State::Closed);
    });
}

#[test]
fn a_request_that_is_given_up_settles_as_dropped() {
    let scope = test::scope();
    block_on(async {
        let host = serve_bytes("", false).await;
        for (on_cancel, state) in [
            (OnCancel::Ignore, State::HalfOpen),
            (OnCancel::Failure, State::Open),
        ] {
            let pms = breaker(Settings::new().on_cancel(on_cancel));
            let client = client(guard(&pms));
            half_open(&scope, &pms);
            tokio::select! {
                biased;
                answer = client.get(&host).send() => panic!("{answer:?}"),
                () = tokio::task::yield_now() => {}
            }
            assert_eq!(pms.state(), state);
            scope.advance(RESET);
            assert!(pms.admit().is_ok(), "the place is free");
        }
    });
}

#[test]
fn a_panic_of_a_middleware_further_in_counts() {
    struct Panics;

    #[async_trait::async_trait]
    impl Middleware for Panics {
        async fn handle(
            &self,
            _: reqwest::Request,
            _: &mut http::Extensions,
            _: reqwest_middleware::Next<'_>,
        ) -> reqwest_middleware::Result<reqwest::Response> {
            panic!("of a middleware")
        }
    }

    /// Without the attribute: it never comes to its future.
    struct PanicsAtOnce;

    impl Middleware for PanicsAtOnce {
        fn handle<'a, 'b, 'c, 'd>(
            &'a self,
            _: reqwest::Request,
            _: &'b mut http::Extensions,
            _: reqwest_middleware::Next<'c>,
        ) -> Pin<Box<dyn Future<Output = reqwest_middleware::Result<reqwest::Response>> + Send + 'd>>
        where
            'a: 'd,
            'b: 'd,
            'c: 'd,
            Self: 'd,
        {
            panic!("of a middleware, at once")
        }
    }

    let panics: [Arc<dyn Middleware>; 2] = [Arc::new(Panics), Arc::new(PanicsAtOnce)];
    for panics in panics {
        // By default a call that is dropped counts as nothing.
        let pms = breaker(Settings::new());
        let client = ClientBuilder::new(reqwest::Client::new())
            .with(guard(&pms))
            .with_arc(panics)
            .build();
        block_on(async {
            let task = tokio::spawn(client.get("http://localhost/").send());
            assert!(task.await.unwrap_err().is_panic());
        });
        assert_eq!(pms.state(), State::Open);
    }
}

#[test]
fn other_errors_hold_no_refusal() {
    assert!(refusal(&Error::middleware(std::io::Error::other("not one"))).is_none());
}
