//! Mistakes with `failure_rate`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(failure_rate)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate 0.5)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate(0.5))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate: 0.5)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = -0.5)]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = -1)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = "0.5")]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = "50%")]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 'c')]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = true)]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = |_| 0.5)]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = [0.5])]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 1e999)]
async fn case_13() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 1, failure_rate = 1.0)]
async fn case_14() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = Self::SHARE)]
async fn case_15() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0)]
async fn case_16() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.0)]
async fn case_17() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 1.1)]
async fn case_18() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 50)]
async fn case_19() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, threshold = 5)]
async fn case_20() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 0, failure_rate = 0)]
async fn case_21() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = share)]
async fn parameter(share: f64) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = PMS, failure_rate = 0.5, window = 100)]
async fn beside_a_breaker() -> Answer {
    Ok(1)
}

fn main() {}
