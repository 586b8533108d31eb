//! Answers, as the front gives them: a stale one is never taken for a fresh one. The header `x-answer` says
//! `fresh`, `stale` (then `age` says how many seconds ago it was fresh) or `placeholder`; the body says the
//! same.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use breakerbox::{CallError, CircuitOpenError};
use serde::Serialize;

use crate::clients::{Answer, Failed};

/// How an answer came about.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-answer");

pub(super) const FRESH: &str = "fresh";
pub(super) const STALE: &str = "stale";
pub(super) const PLACEHOLDER: &str = "placeholder";

/// The body of an answer.
#[derive(Debug, Serialize)]
struct Body<T> {
    /// As the header says.
    answer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    age_ms: Option<u64>,
    #[serde(flatten)]
    value: T,
}

/// The body where there is none.
#[derive(Debug, Serialize)]
struct Problem {
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    circuit: Option<String>,
}

/// An answer that says itself whether it is fresh.
pub(super) fn served<T: Serialize>(answer: Answer<T>) -> Response {
    match answer {
        Ok(served) if served.stale => {
            let age = [(header::AGE, served.age.as_secs().to_string())];
            (age, body(STALE, Some(served.age), served.value)).into_response()
        }
        Ok(served) => body(FRESH, None, served.value),
        Err(error) => problem(&error),
    }
}

/// An answer that is what `how` says.
pub(super) fn of<T: Serialize>(
    answer: Result<T, Failed>,
    how: impl FnOnce(&T) -> &'static str,
) -> Response {
    match answer {
        Ok(value) => body(how(&value), None, value),
        Err(error) => problem(&error),
    }
}

fn body<T: Serialize>(answer: &'static str, age: Option<Duration>, value: T) -> Response {
    let age_ms = age.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
    let body = Json(Body {
        answer,
        age_ms,
        value,
    });
    ([(HEADER, answer)], body).into_response()
}

fn problem(error: &Failed) -> Response {
    let status = match error {
        CallError::Open(open) => return refused(open),
        CallError::TimedOut(_) => StatusCode::GATEWAY_TIMEOUT,
        CallError::Call(call) => status_of(call.error()),
    };
    let problem = Problem {
        error: told(status).to_owned(),
        circuit: None,
    };
    (status, Json(problem)).into_response()
}

/// The error itself names addresses that are nobody's outside, and what they answered.
fn told(status: StatusCode) -> &'static str {
    match status {
        StatusCode::GATEWAY_TIMEOUT => "who knows the answer took too long",
        StatusCode::BAD_GATEWAY => "who knows the answer gave none",
        other => other
            .canonical_reason()
            .unwrap_or("the question was refused"),
    }
}

/// What the dependency says of the question is said on; what went wrong with it is not the guest's.
fn status_of(error: &reqwest::Error) -> StatusCode {
    match error.status() {
        Some(status) if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS => {
            status
        }
        _ if error.is_timeout() => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    }
}

/// 503, and when to come again: in whole seconds, rounded up.
fn refused(open: &CircuitOpenError) -> Response {
    let problem = Json(Problem {
        error: open.to_string(),
        circuit: Some(open.name().to_owned()),
    });
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, problem).into_response();
    if let Some(wait) = open.retry_after() {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, seconds.into());
    }
    response
}
