//! The PMS's client: one guarded function, and its unguarded twin for comparison.

use std::net::SocketAddr;
use std::time::Duration;

use breakerbox::{CircuitOpenError, LastGood, Served, TimeoutError, circuit_breaker};
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

/// Past this, what was left of a room says nothing of what is.
const TOO_OLD: Duration = Duration::from_secs(15 * 60);

/// A client with its connections and its last good answers.
#[derive(Debug)]
pub(crate) struct Pms {
    http: reqwest::Client,
    rooms: String,
    last_good: LastGood<u32, Inventory>,
}

/// The function this is all about.
#[circuit_breaker(
    name = "pms",
    threshold = THRESHOLD,
    reset = RESET,
    timeout = TIMEOUT,
    classify = is_outage,
    last_good = pms.last_good,
    last_good_key = room.0
)]
pub(crate) async fn inventory(pms: &Pms, room: Room) -> Answer {
    pms.fetch(room).await
}

/// The same without a breaker, as most clients are: the same timeout, the same last-good answers.
pub(crate) async fn unguarded_inventory(pms: &Pms, room: Room) -> Answer {
    match pms.fetch(room).await {
        Ok(served) => {
            let Ok(()) = pms.last_good.store_now(&room.0, &served.value);
            Ok(served)
        }
        Err(error) if is_outage(&error) => {
            let Ok(last_good) = pms.last_good.load_now(&room.0);
            last_good.ok_or(error)
        }
        Err(error) => Err(error),
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
            last_good: LastGood::new(TOO_OLD),
        })
    }

    async fn fetch(&self, room: Room) -> Answer {
        let request = self
            .http
            .get(format!("{}/{}", self.rooms, room.0))
            .header(CALL_HEADER, CALL.get());
        let response = request.send().await?;
        match response.status() {
            StatusCode::OK => Ok(Served::fresh(response.json().await?)),
            StatusCode::NOT_FOUND => Err(PmsError::UnknownRoom(room)),
            status => Err(PmsError::Status(status)),
        }
    }
}
