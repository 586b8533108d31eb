//! All mistakes of an attribute are reported at once.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(treshold = 5, reset = 30, fallback_on = open)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 0, probes = 512, jitter = 2, backoff = 0.5)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2m", max_reset = "1s", classify = a, classify_output = b, shared, close_rate = 0)]
async fn case_2() -> Answer {
    Ok(1)
}

struct Client;

impl Client {
    #[circuit_breaker(treshold = 5, reset = 30, timeout = "2s")]
    fn method(&self) -> Answer {
        Ok(1)
    }
}

#[circuit_breaker(treshold = 5, reset = 30)]
const fn constant() -> Answer {
    Ok(1)
}

macro_rules! guarded {
    ($limit:expr, $wait:literal, $word:ident) => {
        #[circuit_breaker(threshold = $limit, reset = $wait, on_cancel = $word)]
        async fn from_a_macro() -> Answer {
            Ok(1)
        }
    };
}

guarded! { 0, 30, maybe }

#[circuit_breaker(key = 5, timeout = 1e999, reset = "1ns5")]
async fn each_of_the_wrong_kind(hotel: &str) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = "hotel", max_keys = 1.5, slow = "0")]
async fn quoted(hotel: &str) -> Answer {
    Ok(1)
}

fn main() {}
