//! Mistakes with `max_reset`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(max_reset)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = ,)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset "3s")]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset("3s"))]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset: "3s")]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = 30)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = 1.5)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "30")]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "")]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "s")]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "30 s")]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "30sec")]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "5min")]
async fn case_13() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "2fortnights")]
async fn case_14() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "30s1m")]
async fn case_15() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "1.5m30s")]
async fn case_16() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "1..5s")]
async fn case_17() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "0.1ns")]
async fn case_18() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = 0)]
async fn case_19() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "0s")]
async fn case_20() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "0ms")]
async fn case_21() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = -5)]
async fn case_22() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "-5s")]
async fn case_23() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "999999999999d")]
async fn case_24() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "18446744073709551616ns")]
async fn case_25() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = 'c')]
async fn case_26() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = true)]
async fn case_27() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = |_| 3)]
async fn case_28() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = ["3s"])]
async fn case_29() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "3s", max_reset = "4s", backoff = 2)]
async fn case_30() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = Self::WAIT, backoff = 2)]
async fn case_31() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = wait, backoff = 2)]
async fn parameter(wait: std::time::Duration) -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "29s", backoff = 2)]
async fn case_33() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "10m", max_reset = "5m", backoff = 2)]
async fn case_34() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "1ms", reset = "2ms", backoff = 2)]
async fn case_35() -> Answer {
    Ok(1)
}

#[circuit_breaker(max_reset = "5m")]
async fn without_backoff() -> Answer {
    Ok(1)
}

breaker! { static WITHOUT_BACKOFF = { max_reset: "5m" } }

fn main() {}
