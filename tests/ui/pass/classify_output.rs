//! `classify_output`: over the whole output, whatever it is.

use breakerbox::{CallError, Outcome, circuit_breaker};

struct Response {
    status: u16,
}

#[circuit_breaker(classify_output = |answer| match answer {
    Ok(response) => response.status >= 500,
    Err(_) => true,
})]
async fn a_status_inside_ok() -> Result<Response, CallError<()>> {
    Ok(Response { status: 503 })
}

#[circuit_breaker(classify_output = Option::is_none, open_error = |_| None, threshold = 1)]
fn an_option(found: Option<u8>) -> Option<u8> {
    found
}

fn by_status(response: &Response) -> Outcome {
    match response.status {
        500.. => Outcome::Failure,
        400.. => Outcome::Ignored,
        _ => Outcome::Success,
    }
}

#[circuit_breaker(classify_output = by_status, open_error = |_| Response { status: 503 })]
async fn of_outcome() -> Response {
    Response { status: 200 }
}

#[circuit_breaker(classify_output = |()| false, open_error = |_| ())]
async fn nothing() {}

#[circuit_breaker(classify_output = by_status, fallback = |_| Response { status: 200 })]
async fn with_a_fallback() -> Response {
    Response { status: 503 }
}

#[circuit_breaker(classify_output = |n| *n > limit, open_error = |_| 0)]
fn over_a_parameter(limit: u8) -> u8 {
    limit
}

fn main() {
    drop((a_status_inside_ok(), of_outcome(), nothing()));
    drop(with_a_fallback());
    let _ = over_a_parameter(1);
    assert_eq!(an_option(None), None);
    assert_eq!(an_option(Some(1)), None);
}
