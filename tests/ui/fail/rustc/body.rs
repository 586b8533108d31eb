//! Mistakes in the body are reported in the body.

#![allow(unused)]
#![deny(unused_must_use)]

use breakerbox::{CircuitOpenError, circuit_breaker};

struct PmsError;

impl From<CircuitOpenError> for PmsError {
    fn from(_: CircuitOpenError) -> Self {
        PmsError
    }
}

type Answer = Result<String, PmsError>;

#[circuit_breaker(classify_output = |_| false, open_error = |_| String::new())]
async fn wrong_type() -> String {
    ""
}

#[circuit_breaker]
fn wrong_type_plain() -> Answer {
    Ok("")
}

#[circuit_breaker]
async fn no_value() -> Answer {
    wrong_type_plain()?;
}

#[circuit_breaker]
fn no_value_plain() -> Answer {
    wrong_type_plain()?;
}

#[circuit_breaker]
async fn wrong_error() -> Answer {
    let number: u8 = "5".parse()?;
    Ok(number.to_string())
}

#[circuit_breaker]
async fn not_found() -> Answer {
    no_such_function().await
}

fn main() {}
