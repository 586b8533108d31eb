//! `classify::response`, above functions that return what hyper's client gives.

use breakerbox::{CallError, circuit_breaker, classify};
use http::Response;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::TokioExecutor;

use crate::server::{Reply, Server};
use crate::verdict::{Counted, PMS, WAITS, counted, headers, of_status, prepare};

type Answer<T> = Result<T, CallError<Error>>;

#[circuit_breaker(breaker = PMS, classify_output = classify::response)]
async fn get(url: String) -> Answer<Response<Incoming>> {
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    client
        .get(url.parse().unwrap())
        .await
        .map_err(CallError::Call)
}

/// Without a `Result`.
#[circuit_breaker(
    breaker = PMS,
    classify_output = classify::response,
    open_error = |_| Response::default(),
)]
async fn infallible(url: String) -> Response<String> {
    let (head, body) = get_unguarded(url).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Response::from_parts(head, String::from_utf8_lossy(&body).into_owned())
}

async fn get_unguarded(url: String) -> Response<Incoming> {
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    client.get(url.parse().unwrap()).await.unwrap()
}

#[tokio::test]
async fn by_status() {
    let _scope = breakerbox::test::scope();
    let server = Server::by_path(|path| Reply::new(&format!("{path} Whatever"), "3"));
    for status in 200..1000 {
        prepare();
        let answer = get(server.url(&status.to_string())).await;
        assert_eq!(answer.unwrap().status(), status);
        assert_eq!(counted(), of_status(status), "{status}");
    }
}

#[tokio::test]
async fn by_how_long_it_says() {
    let _scope = breakerbox::test::scope();
    for status in [429, 503] {
        for &(wait, date, expected) in WAITS {
            let head = format!("{status} Busy\r\n{}", headers(wait, date));
            let server = Server::new(Reply::new(&head, "3"));
            prepare();
            assert_eq!(get(server.url("")).await.unwrap().status(), status);
            assert_eq!(counted(), expected, "{head}");
            prepare();
            assert_eq!(infallible(server.url("")).await.body(), "3");
            assert_eq!(counted(), expected, "{head}");
        }
    }
}

/// The first of two counts, whatever the second is.
#[tokio::test]
async fn of_two_waits_the_first_is_read() {
    let _scope = breakerbox::test::scope();
    for (first, second, expected) in [
        (
            "20",
            "30",
            Counted::Overloaded(std::time::Duration::from_secs(20)),
        ),
        ("soon", "30", Counted::Failure),
    ] {
        let head = format!("503 Busy\r\nRetry-After: {first}\r\nRetry-After: {second}");
        let server = Server::new(Reply::new(&head, ""));
        prepare();
        assert!(get(server.url("")).await.is_ok());
        assert_eq!(counted(), expected, "{head}");
    }
}

#[tokio::test]
async fn without_an_answer_it_is_a_failure() {
    let _scope = breakerbox::test::scope();
    prepare();
    assert!(matches!(get(Server::gone()).await, Err(CallError::Call(_))));
    assert_eq!(counted(), Counted::Failure);
    for reply in [Reply::Reset, Reply::raw(""), Reply::raw("gopher\r\n")] {
        let server = Server::new(reply);
        prepare();
        assert!(matches!(get(server.url("")).await, Err(CallError::Call(_))));
        assert_eq!(counted(), Counted::Failure);
    }
}
