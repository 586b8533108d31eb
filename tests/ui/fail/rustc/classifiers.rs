//! The library's classifiers above what they don't take.

#![allow(unused)]

use std::io;

use breakerbox::{CallError, CircuitOpenError, circuit_breaker, classify};

enum Own {
    Io(io::Error),
    Refused(CircuitOpenError),
}

impl From<CircuitOpenError> for Own {
    fn from(refused: CircuitOpenError) -> Self {
        Self::Refused(refused)
    }
}

#[circuit_breaker(classify = classify::io)]
fn an_enum(host: &str) -> Result<u8, Own> {
    Ok(1)
}

#[circuit_breaker(classify = classify::io)]
async fn another_clients(host: &str) -> Result<u8, CallError<std::num::ParseIntError>> {
    Ok(1)
}

#[circuit_breaker(classify = classify::reqwest)]
async fn reqwests(host: &str) -> Result<u8, Own> {
    Ok(1)
}

#[circuit_breaker(classify = classify::any(classify::io))]
fn one_alone(host: &str) -> Result<u8, CallError<io::Error>> {
    Ok(1)
}

#[circuit_breaker(classify = classify::io)]
fn a_boxed_one(host: &str) -> Result<u8, Box<dyn std::error::Error>> {
    Ok(1)
}

#[circuit_breaker(classify_output = classify::io)]
fn above_the_output(host: &str) -> Result<u8, CallError<io::Error>> {
    Ok(1)
}

fn main() {}
