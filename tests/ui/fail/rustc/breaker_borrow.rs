//! A breaker that is borrowed from what the body takes.

#![allow(unused)]

use std::sync::Arc;

use breakerbox::{Breaker, CallError, circuit_breaker};

type Answer<T> = Result<T, CallError<()>>;

struct Client {
    breaker: Arc<Breaker>,
    name: String,
}

impl Client {
    #[circuit_breaker(breaker = &self.breaker)]
    async fn consumes_itself(self) -> Answer<String> {
        let Client { name, breaker } = self;
        Ok(name)
    }
}

fn main() {}
