//! A hotel's system: what the clients ask. It can be down.

use crate::Failed;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tokio::net::TcpListener;

/// Its state, and how often it was asked.
#[derive(Clone, Default)]
pub(crate) struct Hotel {
    down: Arc<AtomicBool>,
    asked: Arc<AtomicU32>,
}

impl Hotel {
    pub(crate) fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::Relaxed);
    }

    pub(crate) fn asked(&self) -> u32 {
        self.asked.load(Ordering::Relaxed)
    }

    /// `/rooms`: how many are left, or 502.
    pub(crate) fn router(&self) -> Router {
        let hotel = self.clone();
        let rooms = move || async move {
            hotel.asked.fetch_add(1, Ordering::Relaxed);
            match hotel.down.load(Ordering::Relaxed) {
                false => Ok("7 rooms"),
                true => Err(StatusCode::BAD_GATEWAY),
            }
        };
        Router::new().route("/rooms", get(rooms))
    }
}

/// Serves on loopback as long as the program runs, and says where.
pub(crate) async fn serve(router: Router) -> Result<SocketAddr, Failed> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async { axum::serve(listener, router).await });
    Ok(address)
}
