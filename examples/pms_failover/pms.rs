//! The PMS's client: one guarded function, and its unguarded twin for comparison.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use breakerbox::{CircuitOpenError, Served, TimeoutError, circuit_breaker};
use reqwest::StatusCode;
use serde::Deserialize;

use crate::script::{RESET, Room, THRESHOLD, TIMEOUT};
use crate::server::CALL_HEADER;

tokio::task_local! {
    /// The number of the call that the present task is in.
    pub(crate) static CALL: u64;
}

/// What the PMS knows of a room.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Inventory {
    pub(crate) nights_left: u32,
}

/// Why there is no inventory.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PmsError {
    #[error("no room {}", .0.0)]
    UnknownRoom(Room),
    #[error("the PMS answered {0}")]
    Status(StatusCode),
    #[error("the PMS could not be reached: {0}")]
    Transport(#[from] reqwest::Error),
    #[error(transparent)]
    TimedOut(#[from] TimeoutError),
    #[error(transparent)]
    Refused(#[from] CircuitOpenError),
}

type Answer = Result<Served<Inventory>, PmsError>;

/// A client with its connections and its last good answers.
#[derive(Debug)]
pub(crate) struct Pms {
    http: reqwest::Client,
    rooms: String,
    last_good: Mutex<HashMap<Room, (Inventory, Instant)>>,
}

/// The function this is all about.
#[circuit_breaker(
    name = "pms",
    threshold = THRESHOLD,
    reset = RESET,
    timeout = TIMEOUT,
    classify = is_outage,
    fallback = cached
)]
pub(crate) async fn inventory(pms: &Pms, room: Room) -> Answer {
    pms.fetch(room).await
}

/// The same without a breaker, as most clients are: the same timeout, the same last-good answers.
pub(crate) async fn unguarded_inventory(pms: &Pms, room: Room) -> Answer {
    match pms.fetch(room).await {
        Err(error) if is_outage(&error) => cached(pms, room).unwrap_or(Err(error)),
        answer => answer,
    }
}

/// A fault of the PMS counts; that it does not know a room is an answer.
fn is_outage(error: &PmsError) -> bool {
    match error {
        PmsError::Status(status) => status.is_server_error(),
        PmsError::Transport(_) | PmsError::TimedOut(_) => true,
        PmsError::UnknownRoom(_) | PmsError::Refused(_) => false,
    }
}

/// The last good answer, flagged stale; `None` if there never was one.
fn cached(pms: &Pms, room: Room) -> Option<Answer> {
    let kept = pms.last_good();
    let (inventory, at) = kept.get(&room)?;
    Some(Ok(Served::stale(*inventory, at.elapsed())))
}

impl Pms {
    /// A client of the PMS at an address. `timeout` is for the unguarded: the guarded one has the breaker's.
    pub(crate) fn connect(address: SocketAddr, timeout: Option<Duration>) -> reqwest::Result<Self> {
        // Loopback is never behind a proxy, whatever the environment says.
        let mut http = reqwest::Client::builder().no_proxy();
        if let Some(timeout) = timeout {
            http = http.timeout(timeout);
        }
        Ok(Self {
            http: http.build()?,
            rooms: format!("http://{address}/rooms"),
            last_good: Mutex::default(),
        })
    }

    async fn fetch(&self, room: Room) -> Answer {
        let request = self
            .http
            .get(format!("{}/{}", self.rooms, room.0))
            .header(CALL_HEADER, CALL.get());
        let response = request.send().await?;
        match response.status() {
            StatusCode::OK => {
                let inventory = response.json().await?;
                self.last_good().insert(room, (inventory, Instant::now()));
                Ok(Served::fresh(inventory))
            }
            StatusCode::NOT_FOUND => Err(PmsError::UnknownRoom(room)),
            status => Err(PmsError::Status(status)),
        }
    }

    fn last_good(&self) -> std::sync::MutexGuard<'_, HashMap<Room, (Inventory, Instant)>> {
        self.last_good
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
