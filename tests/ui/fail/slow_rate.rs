//! Mistakes with `slow_rate`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate 0.5)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate(0.5))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate: 0.5)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = -0.5)]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = -1)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = "0.5")]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = "50%")]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = 'c')]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = true)]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = |_| 0.5)]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = [0.5])]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = 1e999)]
async fn case_13() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = 1, slow_rate = 1.0)]
async fn case_14() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = Self::SHARE)]
async fn case_15() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = 0)]
async fn case_16() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = 0.0)]
async fn case_17() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = 1.1)]
async fn case_18() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = "2s", slow_rate = 50)]
async fn case_19() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow_rate = 0.5)]
async fn case_20() -> Answer {
    Ok(1)
}

#[circuit_breaker(slow = "2s", slow_rate = 0.5)]
async fn case_21() -> Answer {
    Ok(1)
}

#[circuit_breaker(slow_rate = 0.5)]
async fn case_22() -> Answer {
    Ok(1)
}

#[circuit_breaker(threshold = 5, slow = "2s", slow_rate = 0.5)]
async fn case_23() -> Answer {
    Ok(1)
}

fn main() {}
