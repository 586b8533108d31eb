//! What is no breaker.

#![allow(unused)]

use breakerbox::{Breaker, CallError, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(breaker = String::new())]
async fn a_string() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = NO_SUCH_BREAKER)]
async fn not_found() -> Answer {
    Ok(1)
}

struct Client {
    breaker: Option<Breaker>,
    name: String,
}

impl Client {
    #[circuit_breaker(breaker = &self.name)]
    async fn another_field(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(breaker = self.breaker)]
    fn perhaps_one(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(breaker = self.no_such_field)]
    fn no_field(&self) -> Answer {
        Ok(1)
    }
}

fn main() {}
