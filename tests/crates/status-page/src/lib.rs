//! A service with circuits to look at, as a user would write it; what its circuits do is told to
//! it by the tests.

pub mod circuits;
pub mod users;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use breakerbox::status_page::{Actions, StatusPage};
use circuits::{Circuits, Command};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tower_http::cors::CorsLayer;

/// The page is looked at as often as it can be: tests wait for what it shows.
pub const REFRESH: Duration = Duration::from_millis(50);

/// A page that anybody may look at and users may act on.
pub fn page() -> StatusPage {
    StatusPage::new()
        .title("booking")
        .refresh(REFRESH)
        .actions(Actions::new(users::guard))
}

/// The service.
pub fn app(circuits: Arc<Circuits>) -> Router {
    let only_shows = StatusPage::new().title("booking <only shows>");
    Router::new()
        .nest("/circuits", only_shows.refresh(REFRESH).router())
        .nest("/ops", page().router())
        .nest("/a/{tenant}/circuits/", page().router())
        .nest_service("/service", page().router::<()>().with_state(()))
        // A mistake that users make: anybody's scripts may ask anything.
        .nest("/cors", page().router().layer(CorsLayer::very_permissive()))
        .nest("/named", page_of_name().router())
        .layer(middleware::from_fn(users::recognise))
        .route("/login/{name}", get(users::login))
        .route("/control", post(control))
        .route(
            "/elsewhere",
            get(async || Html("<!doctype html><title>elsewhere</title>")),
        )
        .with_state(circuits)
}

fn page_of_name() -> StatusPage {
    let actions = Actions::new(users::guard).at("https://ops.example.com");
    StatusPage::new().refresh(REFRESH).actions(actions)
}

async fn control(
    State(circuits): State<Arc<Circuits>>,
    Json(commands): Json<Vec<Command>>,
) -> Result<StatusCode, (StatusCode, String)> {
    for command in commands {
        let done = circuits.obey(command);
        done.map_err(|why| (StatusCode::BAD_REQUEST, why))?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// A service that runs until this is dropped.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Running {
    /// Serves a router on loopback; port 0: any.
    ///
    /// # Errors
    /// If it can't listen there.
    pub async fn start(port: u16, app: Router) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, app).await {
                eprintln!("the server ended: {error}");
            }
        });
        Ok(Self { address, task })
    }

    /// The address of a path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}
