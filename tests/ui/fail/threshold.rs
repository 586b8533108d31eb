//! Mistakes with `threshold`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(threshold)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = ,)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold 3)]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold(3))]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold: 3)]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold == 3)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 0)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = -1)]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 134217727)]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 99999999999999999999)]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 2.5)]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = "3")]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = '3')]
async fn case_13() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = true)]
async fn case_14() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = |_| 3)]
async fn case_15() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = [3])]
async fn case_16() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = (3, 4))]
async fn case_17() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 1..3)]
async fn case_18() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = if)]
async fn case_19() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 3, threshold = 4)]
async fn case_20() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = Self::LIMIT)]
async fn case_21() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = limit)]
async fn parameter(limit: u32) -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = N + 1)]
async fn generic<const N: u32>() -> Answer {
    Ok(1)
}

struct Client {
    limit: u32,
}

impl Client {
    #[circuit_breaker(shared, threshold = self.limit)]
    async fn method(&self) -> Answer {
        Ok(1)
    }
}

#[circuit_breaker(threshold = 5x)]
async fn case_22() -> Answer {
    Ok(1)
}

fn main() {}
