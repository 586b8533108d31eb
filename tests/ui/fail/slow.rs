//! Mistakes with `slow`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow "2s")]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow("2s"))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow: "2s")]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = 2)]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = 1.5)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = "2")]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = "")]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = "2 s")]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = "2sec")]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = 0)]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = "0s")]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = -2)]
async fn case_13() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = "-2s")]
async fn case_14() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = "999999999999d")]
async fn case_15() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = 'c')]
async fn case_16() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = true)]
async fn case_17() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = |_| 3)]
async fn case_18() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = ["2s"])]
async fn case_19() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = "2s", slow = "3s")]
async fn case_20() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = Self::WAIT)]
async fn case_21() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s")]
async fn case_22() -> Answer {
    Ok(1)
}

#[circuit_breaker(slow = "2s")]
async fn case_23() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5, slow = limit)]
async fn parameter(limit: std::time::Duration) -> Answer {
    Ok(1)
}

fn main() {}
