//! Mistakes with `shared`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(shared)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(shared = true)]
async fn case_1() -> Answer {
    Ok(1)
}

struct Client;

impl Client {
    #[circuit_breaker(shared = true)]
    async fn value(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(shared(true))]
    async fn call(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(shared, shared)]
    async fn twice(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(shared =)]
    async fn nothing(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(share)]
    async fn misspelt(&self) -> Answer {
        Ok(1)
    }
}

fn main() {}
