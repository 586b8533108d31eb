//! The client of the property-management system.

use breakerbox::{CircuitOpenError, TimeoutError, circuit_breaker};
use serde::Deserialize;
use thiserror::Error;
use worker::{Fetch, Method, Request, Response, Url};

use crate::abort::AbortOnDrop;
use crate::last_good;

/// The breaker's name.
pub(crate) const BREAKER: &str = "pms";

/// Where the PMS is.
#[derive(Clone, Debug)]
pub(crate) struct Pms(Url);

impl Pms {
    pub(crate) fn at(url: &str) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        matches!(url.scheme(), "http" | "https").then_some(Self(url))
    }
}

/// The name of a hotel, as it goes into a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hotel<'a>(&'a str);

impl<'a> Hotel<'a> {
    pub(crate) const EXPECTED: &'static str =
        "a hotel's name is 1 to 40 letters, digits, `-` or `_`";

    pub(crate) fn named(name: &'a str) -> Option<Self> {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        ((1..=40).contains(&name.len()) && name.bytes().all(legal)).then_some(Self(name))
    }

    pub(crate) fn name(self) -> &'a str {
        self.0
    }
}

/// What is free in a hotel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inventory {
    pub(crate) rooms: u32,
    /// Not of now: the last that the PMS said.
    pub(crate) stale: bool,
}

#[derive(Debug, Error)]
pub(crate) enum PmsError {
    #[error("the PMS knows no such hotel")]
    UnknownHotel,
    #[error("the PMS answered {0}")]
    Status(u16),
    #[error("the PMS can't be reached: {0}")]
    Unreachable(worker::Error),
    #[error("the PMS answered what is no inventory: {0}")]
    NoInventory(worker::Error),
    #[error(transparent)]
    Open(#[from] CircuitOpenError),
    #[error(transparent)]
    TimedOut(#[from] TimeoutError),
}

/// What is an outage. A hotel that isn't there, and other mistakes of the caller's,
/// are answers.
fn is_outage(error: &PmsError) -> bool {
    match error {
        PmsError::UnknownHotel => false,
        PmsError::Status(status) => *status >= 500 || *status == 429,
        _ => true,
    }
}

/// What is free in a hotel now, or was when the PMS last said so.
///
/// The breaker is one per isolate. `probe_timeout` is for a probe whose request is
/// aborted: the isolate is told nothing of it.
#[circuit_breaker(
    name = BREAKER,
    threshold = 3,
    reset = "10s",
    probe_timeout = "20s",
    timeout = "2s",
    classify = is_outage,
    fallback = last_good::of(hotel)
)]
pub(crate) async fn inventory(pms: &Pms, hotel: Hotel<'_>) -> Result<Inventory, PmsError> {
    #[derive(Deserialize)]
    struct Said {
        rooms: u32,
    }

    let mut response = get(pms, &["hotels", hotel.name()]).await?;
    match response.status_code() {
        200 => {}
        404 => return Err(PmsError::UnknownHotel),
        status => return Err(PmsError::Status(status)),
    }
    let said: Said = response.json().await.map_err(PmsError::NoInventory)?;
    last_good::keep(hotel, said.rooms);
    Ok(Inventory {
        rooms: said.rooms,
        stale: false,
    })
}

async fn get(pms: &Pms, path: &[&str]) -> Result<Response, PmsError> {
    let mut url = pms.0.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    let request = Request::new(url.as_str(), Method::Get).map_err(PmsError::Unreachable)?;
    let (abort, signal) = AbortOnDrop::new();
    let sent = Fetch::Request(request).send_with_signal(&signal).await;
    abort.defuse();
    sent.map_err(PmsError::Unreachable)
}
