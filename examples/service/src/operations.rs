//! What operators look at: the status page and the metrics. On a port of its own, which guests don't reach.

use axum::Router;
use axum::routing::get;

/// What the pages need.
#[derive(Clone, Debug, Default)]
pub struct Operations {}

/// The pages.
pub fn router(_operations: Operations) -> Router {
    Router::new().route("/health", get(async || "well\n"))
}
