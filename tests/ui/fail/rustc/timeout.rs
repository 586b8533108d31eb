//! What is no time limit, where only the call knows it.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};
use std::time::Duration;

type Answer = Result<u8, CallError<()>>;

struct Client {
    timeout: Option<Duration>,
}

impl Client {
    #[circuit_breaker(shared, timeout = self.timeout)]
    async fn an_option(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(shared, timeout = self.patience)]
    async fn no_such_field(&self) -> Answer {
        Ok(1)
    }
}

#[circuit_breaker(timeout = seconds)]
async fn a_number(seconds: u64) -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = Self::WAIT)]
async fn a_function_without_self() -> Answer {
    Ok(1)
}

fn main() {}
