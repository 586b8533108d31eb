//! Mistakes with `min_calls`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(failure_rate = 0.5, min_calls)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls 3)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls(3))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls: 3)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls == 3)]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = 0)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = -1)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = 131072)]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = 99999999999999999999)]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = 2.5)]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = "3")]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = '3')]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = true)]
async fn case_13() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = |_| 3)]
async fn case_14() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = [3])]
async fn case_15() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = 1..3)]
async fn case_16() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = 3, min_calls = 4)]
async fn case_17() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = Self::LIMIT)]
async fn case_18() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = 101)]
async fn case_19() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = 10, min_calls = 11)]
async fn case_20() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = 11, window = 10)]
async fn case_21() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = 0, min_calls = 200)]
async fn case_22() -> Answer {
    Ok(1)
}

#[circuit_breaker(min_calls = 10)]
async fn case_23() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 5, min_calls = 10)]
async fn case_24() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = "10s", min_calls = least)]
async fn parameter(least: u32) -> Answer {
    Ok(1)
}

fn main() {}
