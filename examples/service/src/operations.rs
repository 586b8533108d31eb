//! What operators look at: the status page and the metrics. On a port of its own, which guests don't reach.

mod login;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use breakerbox::status_page::{Actions, StatusPage};

use crate::telemetry::Metrics;
pub use login::Token;

/// Where the status page is.
pub const PAGE: &str = "/circuits";

/// The content type of Prometheus' pages.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The pages. Whoever has the token may operate circuits.
pub fn router(metrics: Metrics, token: Token) -> Router {
    let guard = {
        let token = token.clone();
        move |attempt| login::decide(token.clone(), attempt)
    };
    let page = StatusPage::new()
        .title("booking front")
        .actions(Actions::new(guard));
    let metrics = async move || ([(CONTENT_TYPE, PROMETHEUS)], metrics.page());
    Router::new()
        .nest(PAGE, page.router())
        .route("/metrics", get(metrics))
        .merge(login::router(token))
        .merge(health())
}

/// Without pages: whether the process is there at all.
pub fn health() -> Router {
    Router::new().route("/health", get(async || "well\n"))
}
