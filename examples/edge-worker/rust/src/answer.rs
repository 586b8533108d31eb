//! What the worker answers.

use serde::Serialize;
use worker::{Response, ResponseBuilder, Result};

use crate::pms::{BREAKER, Hotel, Inventory, PmsError};

/// Where nothing else says when to come back, in seconds.
const RETRY_AFTER: u64 = 1;

#[derive(Serialize)]
struct Rooms<'a> {
    hotel: &'a str,
    rooms: u32,
    stale: bool,
    breaker: String,
}

#[derive(Serialize)]
struct Failure {
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    breaker: Option<String>,
}

pub(crate) fn of(hotel: Hotel<'_>, inventory: Result<Inventory, PmsError>) -> Result<Response> {
    match inventory {
        Ok(Inventory { rooms, stale }) => {
            let rooms = Rooms {
                hotel: hotel.name(),
                rooms,
                stale,
                breaker: breaker(),
            };
            let stale = if stale { "true" } else { "false" };
            let builder = ResponseBuilder::new().with_header("x-stale", stale)?;
            builder.from_json(&rooms)
        }
        Err(error @ PmsError::UnknownHotel) => failure(404, error.to_string(), Some(breaker())),
        Err(error) => {
            let after = match &error {
                PmsError::Open(open) => open.retry_after().map(|after| after.as_secs() + 1),
                _ => None,
            };
            let response = failure(503, error.to_string(), Some(breaker()))?;
            let headers = response.headers();
            headers.set("retry-after", &after.unwrap_or(RETRY_AFTER).to_string())?;
            Ok(response)
        }
    }
}

pub(crate) fn bad_request(expected: &str) -> Result<Response> {
    failure(400, expected.to_owned(), None)
}

pub(crate) fn misconfigured(variable: &str) -> Result<Response> {
    let expected = format!("the variable `{variable}` is not set to a URL: `https://pms.example`");
    failure(500, expected, None)
}

fn failure(status: u16, error: String, breaker: Option<String>) -> Result<Response> {
    let failure = Failure { error, breaker };
    ResponseBuilder::new()
        .with_status(status)
        .from_json(&failure)
}

/// The breaker's state. It is listed from its first call on.
fn breaker() -> String {
    breakerbox::find(BREAKER).map_or_else(String::new, |breaker| breaker.state().to_string())
}
