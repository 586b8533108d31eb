//! What is wrong with the request, or is not the dependency's doing.

use std::io::{Error, ErrorKind};
use std::sync::Arc;

use breakerbox::{Breaker, CallError, Config};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Body, Client};

use super::{client, counted_at, counted_for, counted_from};
use crate::server::{Reply, Server};
use crate::verdict::Counted;

#[tokio::test]
async fn a_request_that_can_t_be_built_is_the_caller_s_mistake() {
    let _scope = breakerbox::test::scope();
    let client = client();
    for url in [
        "not a URL",
        "",
        "http://",
        "http://[::1",
        "/rooms",
        "ftp://127.0.0.1/rooms",
    ] {
        assert_eq!(counted_at(&client, url).await, Counted::Ignored, "{url:?}");
    }
    let bad_header = || {
        client
            .get(Server::gone())
            .header("x", "line\nbreak")
            .build()
    };
    assert_eq!(counted_for(&client, bad_header).await, Counted::Ignored);
}

#[tokio::test]
async fn redirects_that_lead_nowhere_are_an_answer() {
    let _scope = breakerbox::test::scope();
    let server = Server::new(Reply::new("302 Found\r\nLocation: /", ""));
    assert_eq!(counted_from(&server).await, Counted::Ignored);
    assert_eq!(server.requests(), 2 * 11);

    let refusing = Policy::custom(|attempt| attempt.error("not there"));
    let client = Client::builder()
        .no_proxy()
        .redirect(refusing)
        .build()
        .unwrap();
    assert_eq!(counted_at(&client, &server.url("")).await, Counted::Ignored);
}

#[tokio::test]
async fn a_redirect_to_nobody_is_a_failure() {
    let _scope = breakerbox::test::scope();
    let away = format!("302 Found\r\nLocation: {}", Server::gone());
    let server = Server::new(Reply::new(&away, ""));
    assert_eq!(counted_from(&server).await, Counted::Failure);
}

#[tokio::test]
async fn a_body_that_fails_while_it_is_sent_is_not_the_server_s() {
    let _scope = breakerbox::test::scope();
    let server = Server::new(Reply::new("200 OK", "{\"free\":3}"));
    let client = client();
    let chunk = || Ok::<_, Error>("half of it");
    // Late it may be too: what is sent on from another server, say.
    for failing in [None, Some(ErrorKind::Other), Some(ErrorKind::TimedOut)] {
        let request = || {
            let end = failing.map_or_else(chunk, |kind| Err(kind.into()));
            let body = futures_util::stream::iter([chunk(), end]);
            client
                .post(server.url(""))
                .body(Body::wrap_stream(body))
                .build()
        };
        let expected = failing.map_or(Counted::Success, |_| Counted::Ignored);
        assert_eq!(counted_for(&client, request).await, expected, "{failing:?}");
    }
}

/// A resolver with a circuit of its own.
struct Guarded<E>(fn() -> E);

impl<E> Resolve for Guarded<E>
where
    E: std::error::Error + Send + Sync + 'static,
{
    fn resolve(&self, _: Name) -> Resolving {
        let error = (self.0)();
        Box::pin(async { Err::<Addrs, _>(error.into()) })
    }
}

async fn counted_by(resolver: impl Resolve + 'static) -> Counted {
    let client = Client::builder()
        .no_proxy()
        .dns_resolver(Arc::new(resolver));
    counted_at(&client.build().unwrap(), "http://pms.example/").await
}

#[tokio::test]
async fn a_circuit_further_in_that_refuses_is_ignored() {
    fn refused() -> breakerbox::CircuitOpenError {
        let resolver = Breaker::new("resolver", Config::DEFAULT);
        resolver.force_open();
        resolver.admit().unwrap_err()
    }

    let _scope = breakerbox::test::scope();
    assert_eq!(counted_by(Guarded(refused)).await, Counted::Ignored);
    assert_eq!(
        counted_by(Guarded(|| Error::other(refused()))).await,
        Counted::Ignored
    );
    let wrapped = || CallError::<Error>::Open(refused());
    assert_eq!(counted_by(Guarded(wrapped)).await, Counted::Ignored);
    let not_found = || Error::other("no such host");
    assert_eq!(counted_by(Guarded(not_found)).await, Counted::Failure);
    let not_found = || CallError::Call(Error::other("no such host"));
    assert_eq!(counted_by(Guarded(not_found)).await, Counted::Failure);
}
