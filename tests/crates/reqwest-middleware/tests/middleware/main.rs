//! The middleware in real clients.

#[path = "../../../block_on.rs"]
mod block_on;
mod bodies;
mod calls;
mod classifying;
mod layer;
mod retries;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use block_on::block_on;
use breakerbox::reqwest_middleware::CircuitBreakerMiddleware;
use breakerbox::{Breaker, Settings};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Middleware};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const RESET: Duration = Duration::from_secs(30);

/// It gives up after one failure.
fn breaker(settings: Settings) -> Arc<Breaker> {
    let settings = settings.threshold(1).reset(RESET).jitter(0.0);
    Arc::new(Breaker::new("pms", settings.must()))
}

fn guard(pms: &Arc<Breaker>) -> CircuitBreakerMiddleware<Arc<Breaker>> {
    CircuitBreakerMiddleware::new(Arc::clone(pms))
}

fn client(guard: impl Middleware) -> ClientWithMiddleware {
    ClientBuilder::new(reqwest::Client::new())
        .with(guard)
        .build()
}

/// Its next call is a probe, the only one.
fn half_open(scope: &breakerbox::test::TestScope, pms: &Breaker) {
    pms.close();
    pms.open_for(RESET);
    scope.advance(RESET);
}

/// Serves on loopback, and says where; and counts what comes.
async fn serve() -> (String, Arc<AtomicU32>) {
    let status = |status: StatusCode| get(move || async move { status });
    let busy = || async { (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "7")], "") };
    let served = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&served);
    let router = Router::new()
        .route("/ok", get(|| async { "rooms" }))
        .route("/empty", status(StatusCode::NO_CONTENT))
        .route("/missing", status(StatusCode::NOT_FOUND))
        .route("/broken", status(StatusCode::INTERNAL_SERVER_ERROR))
        .route("/busy", get(busy))
        .layer(axum::middleware::map_request(
            move |request: axum::extract::Request| {
                count.fetch_add(1, Ordering::Relaxed);
                async { request }
            },
        ));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
    (host, served)
}

/// Answers each connection's first request with these bytes, and closes it, or keeps it open.
async fn serve_bytes(answer: &'static str, closes: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut open = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let read = stream.read(&mut request).await.unwrap();
            assert!(request[..read].ends_with(b"\r\n\r\n"), "all of it");
            stream.write_all(answer.as_bytes()).await.unwrap();
            if !closes {
                open.push(stream);
            }
        }
    });
    host
}

/// A host where nobody listens.
async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}
