//! In an axum server, in front of its handlers.

use super::clients::{client, get, serve};
use super::*;
use axum::Router;
use axum::error_handling::HandleErrorLayer;
use axum::http::StatusCode;
use axum::routing::get as route;
use breakerbox::tower::unavailable;
use breakerbox::{State, test};
use std::convert::Infallible;
use tower::ServiceBuilder;

/// Asks the dependency, which is down as long as `down` is 1.
fn pms_of(down: &Arc<AtomicU32>) -> Router {
    let down = Arc::clone(down);
    let rooms = move || async move {
        match down.load(Ordering::Relaxed) {
            0 => Ok("rooms"),
            _ => Err(StatusCode::BAD_GATEWAY),
        }
    };
    let missing = || async { StatusCode::NOT_FOUND };
    Router::new()
        .route("/rooms", route(rooms))
        .route("/missing", route(missing))
}

#[test]
fn a_server_answers_for_a_dependency_that_is_down() {
    let scope = test::scope();
    block_on(async {
        let (pms, down) = (breaker(Settings::new()), Arc::new(AtomicU32::new(1)));
        let guard = layer(&pms).http().when_open(unavailable);
        let health = Router::new().route("/health", route(|| async { "well" }));
        let host = serve(pms_of(&down).layer(guard).merge(health)).await;
        let client = client();
        assert_eq!(get(&client, &host, "/missing").await.status(), 404);
        assert_eq!(get(&client, &host, "/rooms").await.status(), 502);
        assert_eq!(pms.state(), State::Open);
        for path in ["/rooms", "/missing"] {
            let refused = get(&client, &host, path).await;
            assert_eq!(refused.status(), 503);
            assert_eq!(refused.headers()["retry-after"], "30");
        }
        assert_eq!(get(&client, &host, "/health").await.status(), 200);
        scope.advance(Duration::from_millis(28_500));
        let refused = get(&client, &host, "/rooms").await;
        assert_eq!(refused.headers()["retry-after"], "2", "rounded up");
        down.store(0, Ordering::Relaxed);
        scope.advance(Duration::from_millis(1_500));
        assert_eq!(get(&client, &host, "/rooms").await.status(), 200);
        assert_eq!(pms.state(), State::Closed);
    });
}

#[test]
fn a_server_may_make_its_own_answer_of_the_error() {
    let _scope = test::scope();
    block_on(async {
        let (pms, down) = (breaker(Settings::new()), Arc::new(AtomicU32::new(1)));
        let answer = |error: CallError<Infallible>| async move {
            (StatusCode::TOO_MANY_REQUESTS, error.to_string())
        };
        let guard = ServiceBuilder::new()
            .layer(HandleErrorLayer::new(answer))
            .layer(layer(&pms).http().at_end_of_body());
        let host = serve(pms_of(&down).layer(guard)).await;
        let client = client();
        assert_eq!(get(&client, &host, "/rooms").await.status(), 502);
        let refused = get(&client, &host, "/rooms").await;
        assert_eq!(refused.status(), 429);
        assert_eq!(refused.into_body(), "circuit `pms` is open: retry in 30s");
    });
}
