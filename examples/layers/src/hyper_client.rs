//! Around hyper's client: a circuit for each host.

use crate::hotel::{Hotel, serve};
use crate::{Failed, RESET_IS_OVER, expect};
use axum::body::Bytes;
use axum::http::{Request, Response};
use breakerbox::tower::CircuitBreakerLayer;
use breakerbox::{CallError, KeyedBreakers, Settings};
use http_body_util::Empty;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::net::SocketAddr;
use std::time::Duration;
use tower::{Service, ServiceBuilder, ServiceExt};

const SETTINGS: Settings = Settings::new().threshold(3).reset(Duration::from_secs(1));

static HOSTS: KeyedBreakers<String> = KeyedBreakers::new("hosts", SETTINGS.must()).max_keys(1_000);

type Asks = Request<Empty<Bytes>>;

pub(crate) async fn show() -> Result<(), Failed> {
    let client = Client::builder(TokioExecutor::new()).build_http();
    // The limit of time stands inside: a request that takes too long counts.
    let mut client = ServiceBuilder::new()
        .layer(CircuitBreakerLayer::by_host(&HOSTS).http())
        .timeout(Duration::from_secs(2))
        .service(client);

    let (adlon, ritz) = (Hotel::default(), Hotel::default());
    let (at_adlon, at_ritz) = (serve(adlon.router()).await?, serve(ritz.router()).await?);
    adlon.set_down(true);
    for _ in 0..3 {
        expect("hyper, Adlon", ask(&mut client, at_adlon).await, "502")?;
    }
    for _ in 0..3 {
        let refused = ask(&mut client, at_adlon).await;
        expect(
            "hyper, Adlon",
            refused,
            &format!("circuit `hosts[{at_adlon}]` is open"),
        )?;
    }
    expect("hyper, Ritz", ask(&mut client, at_ritz).await, "200")?;
    expect(
        "hyper, Adlon",
        format_args!("was asked {} times", adlon.asked()),
        "was asked 3 times",
    )?;

    adlon.set_down(false);
    tokio::time::sleep(RESET_IS_OVER).await;
    expect("hyper, Adlon", ask(&mut client, at_adlon).await, "200")
}

/// What came of a request.
async fn ask<S, B, E>(client: &mut S, host: SocketAddr) -> String
where
    S: Service<Asks, Response = Response<B>, Error = CallError<E>>,
    E: std::fmt::Display,
{
    let request = Request::get(format!("http://{host}/rooms")).body(Empty::new());
    let Ok(request) = request else {
        return "no request".into();
    };
    let answer = async { client.ready().await?.call(request).await };
    match answer.await {
        Ok(response) => response.status().to_string(),
        Err(CallError::Open(refused)) => refused.to_string(), // here a last-good answer would do
        Err(CallError::Call(error)) => error.to_string(),
        Err(CallError::TimedOut(late)) => late.to_string(),
    }
}
