//! Mistakes with `window`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(failure_rate = 0.5, window)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window 100)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window(100))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window: 100)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = 0)]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = 4096)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = 99999999999999999999)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = -5)]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = 1.5)]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = "100")]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = "100 calls")]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = "10 s")]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = "10sec")]
async fn case_13() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = "0s")]
async fn case_14() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = "9ms")]
async fn case_15() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = "-5s")]
async fn case_16() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = "")]
async fn case_17() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = "999999999999d")]
async fn case_18() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = 'c')]
async fn case_19() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = true)]
async fn case_20() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = |_| 3)]
async fn case_21() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = [3])]
async fn case_22() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = 1..3)]
async fn case_23() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = 10, window = "10s")]
async fn case_24() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = Self::WINDOW)]
async fn case_25() -> Answer {
    Ok(1)
}

#[circuit_breaker(window = 100)]
async fn case_26() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 5, window = "10s")]
async fn case_27() -> Answer {
    Ok(1)
}

#[circuit_breaker(window = 10, min_calls = 20)]
async fn case_28() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = size)]
async fn parameter(size: u32) -> Answer {
    Ok(1)
}

struct Client {
    size: u32,
}

impl Client {
    #[circuit_breaker(shared, failure_rate = 0.5, window = self.size)]
    async fn method(&self) -> Answer {
        Ok(1)
    }
}

#[circuit_breaker(window = 10s, failure_rate = 0.5)]
async fn case_29() -> Answer {
    Ok(1)
}

#[circuit_breaker(window = 3parsecs, failure_rate = 0.5)]
async fn case_30() -> Answer {
    Ok(1)
}

fn main() {}
