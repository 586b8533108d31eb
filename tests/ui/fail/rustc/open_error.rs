//! What a refused call gives: a missing `From`, an `open_error` of the wrong type.

#![allow(unused)]

use breakerbox::{CircuitOpenError, circuit_breaker};

#[derive(Debug, Default)]
struct PmsError;

#[circuit_breaker]
async fn no_from() -> Result<u8, PmsError> {
    Ok(1)
}

#[circuit_breaker]
fn no_from_plain() -> Result<Vec<u8>, std::io::Error> {
    Ok(Vec::new())
}

type Answer<T> = Result<T, PmsError>;

#[circuit_breaker]
async fn no_from_behind_an_alias() -> Answer<u8> {
    Ok(1)
}

#[circuit_breaker]
async fn no_from_behind_an_opaque_type() -> Result<impl Iterator<Item = u8>, PmsError> {
    Ok(0..4)
}

#[circuit_breaker(open_error = |refused| refused.to_string())]
async fn another_error() -> Result<u8, PmsError> {
    Ok(1)
}

#[circuit_breaker(open_error = |_| Err(PmsError))]
async fn the_whole_result() -> Result<u8, PmsError> {
    Ok(1)
}

fn from_nothing() -> PmsError {
    PmsError
}

#[circuit_breaker(open_error = from_nothing)]
async fn without_parameter() -> Result<u8, PmsError> {
    Ok(1)
}

enum Unit {
    Refused,
}

#[circuit_breaker(open_error = Unit::Refused)]
async fn a_value() -> Result<u8, Unit> {
    Ok(1)
}

fn text(refused: CircuitOpenError) -> String {
    refused.to_string()
}

#[circuit_breaker(open_error = text)]
async fn another_error_by_a_function() -> Result<u8, PmsError> {
    Ok(1)
}

fn from_late(late: breakerbox::TimeoutError) -> PmsError {
    PmsError
}

#[circuit_breaker(open_error = from_late)]
async fn another_parameter() -> Result<u8, PmsError> {
    Ok(1)
}

struct Refused {
    by: &'static str,
}

#[circuit_breaker(open_error = Refused { by: "us" })]
async fn a_struct() -> Result<u8, Refused> {
    Ok(1)
}

#[circuit_breaker(open_error = PmsError::default())]
async fn a_call() -> Result<u8, PmsError> {
    Ok(1)
}

#[circuit_breaker(open_error = None, classify_output = |output| output.is_none())]
async fn a_value_of_the_output() -> Option<u8> {
    None
}

#[circuit_breaker(open_error = no_such_function)]
async fn not_found() -> Result<u8, PmsError> {
    Ok(1)
}

#[circuit_breaker(classify_output = |output| output.is_none())]
async fn not_a_result() -> Option<u8> {
    None
}

#[circuit_breaker(classify_output = |output| output.is_none(), open_error = |_| 0)]
async fn not_the_output() -> Option<u8> {
    None
}

struct Client {
    breaker: std::sync::Arc<breakerbox::Breaker>,
}

impl Client {
    #[circuit_breaker(breaker = &self.breaker)]
    async fn method(&self, hotel: &str) -> Result<u8, PmsError> {
        Ok(1)
    }
}

fn main() {}
