//! The same where only the compiler can tell.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<usize, CallError<()>>;

fn cached(hotel: String) -> Answer {
    Ok(hotel.len())
}

#[circuit_breaker(fallback = cached)]
async fn a_method_that_consumes(hotel: String) -> Answer {
    Ok(hotel.into_bytes().len())
}

fn cached_name(name: impl Into<String>) -> Answer {
    Ok(name.into().len())
}

#[circuit_breaker(fallback = cached_name)]
fn an_opaque_parameter(name: impl Into<String>) -> Answer {
    cached_name(name)
}

struct Client(String);

impl Client {
    fn cached(self) -> Answer {
        Ok(self.0.len())
    }

    #[circuit_breaker(shared, fallback = Self::cached)]
    async fn consumes_itself(self) -> Answer {
        drop(self);
        Ok(1)
    }
}

fn main() {}
