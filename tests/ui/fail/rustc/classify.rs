//! What can't classify.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<std::io::Error>>;

#[circuit_breaker(classify = |error| 5)]
async fn a_number() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = |error| ())]
fn nothing() -> Answer {
    Ok(1)
}

fn of_something_else(error: &str) -> bool {
    error.is_empty()
}

#[circuit_breaker(classify = of_something_else)]
async fn another_type() -> Answer {
    Ok(1)
}

fn by_value(error: CallError<std::io::Error>) -> bool {
    true
}

#[circuit_breaker(classify = by_value)]
async fn not_by_reference() -> Answer {
    Ok(1)
}

fn nothing_at_all() -> bool {
    true
}

#[circuit_breaker(classify = nothing_at_all)]
async fn no_parameter() -> Answer {
    Ok(1)
}

async fn waits(error: &CallError<std::io::Error>) -> bool {
    true
}

#[circuit_breaker(classify = waits)]
async fn a_future() -> Answer {
    Ok(1)
}

const ALWAYS: bool = true;

#[circuit_breaker(classify = ALWAYS)]
async fn a_value() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = breakerbox::Outcome::Failure)]
async fn an_outcome() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = |error| error.no_such_method())]
async fn wrong_inside() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = no_such_function)]
async fn not_found() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = |error| true, open_error = |_| None)]
async fn not_a_result() -> Option<u8> {
    None
}

struct Client;

impl Client {
    fn counts(&self, error: &CallError<std::io::Error>) -> bool {
        true
    }

    #[circuit_breaker(shared, classify = Self::counts)]
    async fn a_method(&self) -> Answer {
        Ok(1)
    }
}

fn main() {}
