//! `classify::reqwest`, above functions as they are written with reqwest.

mod answers;
mod connections;
mod proxies;
mod requests;

use std::time::Duration;

use breakerbox::classify::{self, ErrorWithRetryAfter, WithRetryAfter};
use breakerbox::{CallError, circuit_breaker};
use reqwest::{Client, Error, Request, Response};
use serde::Deserialize;

use crate::server::Server;
use crate::verdict::{Counted, PMS, counted, prepare};

/// What is asked for.
#[derive(Debug, Deserialize)]
struct Rooms {
    free: u32,
}

type Answer<E> = Result<Rooms, CallError<E>>;

/// With what a response's headers say.
#[circuit_breaker(breaker = PMS, classify = classify::reqwest)]
async fn rooms(client: &Client, request: Result<Request, Error>) -> Answer<WithRetryAfter<Error>> {
    let response = client.execute(request?).await?;
    Ok(response.error_with_retry_after()?.json().await?)
}

/// The same without.
#[circuit_breaker(breaker = PMS, classify = classify::reqwest)]
async fn rooms_by_status(client: &Client, request: Result<Request, Error>) -> Answer<Error> {
    let response = client.execute(request?).await?;
    Ok(response.error_for_status()?.json().await?)
}

/// The whole response, whatever it is.
#[circuit_breaker(
    breaker = PMS,
    classify_output = classify::result(classify::response, classify::reqwest),
)]
async fn response(
    client: &Client,
    request: Result<Request, Error>,
) -> Result<Response, CallError<Error>> {
    Ok(client.execute(request?).await?)
}

/// Gives up soon.
fn client() -> Client {
    Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(60))
        .build()
        .unwrap()
}

/// What one call of each kind counts as, which is the same.
async fn counted_for(client: &Client, request: impl Fn() -> Result<Request, Error>) -> Counted {
    prepare();
    let with_wait = rooms(client, request()).await;
    let first = counted();
    prepare();
    let without = rooms_by_status(client, request()).await;
    assert_eq!(counted(), first, "{with_wait:?}, {without:?}");
    match (with_wait, without) {
        (Ok(with_wait), Ok(without)) => assert_eq!(with_wait.free, without.free),
        (Err(CallError::Call(with_wait)), Err(CallError::Call(without))) => {
            assert_eq!(with_wait.to_string(), without.to_string());
        }
        other => panic!("{other:?}"),
    }
    first
}

/// Of a GET.
async fn counted_at(client: &Client, url: &str) -> Counted {
    counted_for(client, || client.get(url).build()).await
}

async fn counted_from(server: &Server) -> Counted {
    counted_at(&client(), &server.url("")).await
}
