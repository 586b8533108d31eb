//! In an axum server, in front of handlers that depend on something: while the circuit is open they
//! aren't called, and clients hear when to come again.

use crate::hotel::{Hotel, serve};
use crate::{Failed, RESET_IS_OVER, expect};
use axum::Router;
use axum::body::Bytes;
use axum::http::Request;
use axum::routing::get;
use breakerbox::breaker;
use breakerbox::tower::{CircuitBreakerLayer, unavailable};
use http_body_util::Empty;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

breaker! {
    static ROOMS = { name: "rooms", threshold: 3, reset: "1s" }
}

pub(crate) async fn show() -> Result<(), Failed> {
    let hotel = Hotel::default();
    let guard = CircuitBreakerLayer::new(&ROOMS)
        .http()
        .when_open(unavailable);
    let well = Router::new().route("/health", get(|| async { "well" }));
    let server = serve(hotel.router().layer(guard).merge(well)).await?;

    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let ask = async |path: &str| -> Result<String, Failed> {
        let request = Request::get(format!("http://{server}{path}")).body(Empty::new())?;
        let response = client.request(request).await?;
        let wait = response.headers().get("retry-after");
        let wait = wait.map(|wait| format!(", Retry-After: {wait:?}"));
        Ok(format!("{}{}", response.status(), wait.unwrap_or_default()))
    };
    hotel.set_down(true);
    for _ in 0..3 {
        expect("axum", ask("/rooms").await?, "502")?;
    }
    let refused = "503 Service Unavailable, Retry-After: \"";
    for _ in 0..3 {
        expect("axum", ask("/rooms").await?, refused)?;
    }
    expect(
        "axum",
        format_args!("handled {} requests", hotel.asked()),
        "handled 3 requests",
    )?;
    expect("axum, /health", ask("/health").await?, "200")?; // outside of the layer

    hotel.set_down(false);
    tokio::time::sleep(RESET_IS_OVER).await;
    expect("axum", ask("/rooms").await?, "200")
}
