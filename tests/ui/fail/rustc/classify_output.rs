//! Functions that return no `Result`, and what can't classify their output.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

#[circuit_breaker]
async fn an_option() -> Option<u8> {
    None
}

#[circuit_breaker]
fn an_option_plain() -> Option<u8> {
    None
}

#[circuit_breaker]
async fn nothing() {}

#[circuit_breaker(open_error = |_| Vec::new())]
async fn only_one_missing() -> Vec<u8> {
    Vec::new()
}

#[circuit_breaker(open_error = |_| 0)]
async fn an_opaque_type() -> impl std::fmt::Display {
    5
}

#[circuit_breaker(classify_output = |output| output.len(), open_error = |_| Vec::new())]
async fn a_number() -> Vec<u8> {
    Vec::new()
}

fn of_a_string(output: &String) -> bool {
    output.is_empty()
}

#[circuit_breaker(classify_output = of_a_string, open_error = |_| Vec::new())]
fn another_type() -> Vec<u8> {
    Vec::new()
}

fn main() {}
