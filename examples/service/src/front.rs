//! What guests' browsers ask: the front's own API. Each request is one call of a dependency.

mod answer;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::clients::Clients;

/// Its routes.
pub fn router(clients: Arc<Clients>) -> Router {
    Router::new()
        .route("/hotels/{hotel}/rooms", get(rooms))
        .route("/hotels/{hotel}/rates/{source}", get(rate))
        .route("/hotels/{hotel}/bookings", post(book))
        .route("/hotels/{hotel}/reviews", get(reviews))
        .route("/health", get(async || "well\n"))
        .with_state(clients)
}

type Front = State<Arc<Clients>>;

async fn rooms(State(clients): Front, Path(hotel): Path<String>) -> Response {
    answer::served(clients.rooms(&hotel).await)
}

async fn rate(State(clients): Front, Path((hotel, source)): Path<(String, String)>) -> Response {
    match clients.source(&source) {
        Some(source) => answer::served(clients.rate(source, &hotel).await),
        // Before any breaker: what a request makes up gets no circuit.
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn book(State(clients): Front, Path(hotel): Path<String>) -> Response {
    answer::of(clients.book(&hotel).await, |_| answer::FRESH)
}

async fn reviews(State(clients): Front, Path(hotel): Path<String>) -> Response {
    answer::of(clients.reviews(&hotel).await, |reviews| {
        match reviews.points {
            Some(_) => answer::FRESH,
            None => answer::PLACEHOLDER,
        }
    })
}
