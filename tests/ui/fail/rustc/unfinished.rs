//! A body that is still being typed: nothing but what the compiler says of it.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

#[circuit_breaker(threshold = 3)]
async fn unfinished(x: &str) -> Result<usize, CallError<()>> {
    let y = x.
}

fn main() {}
