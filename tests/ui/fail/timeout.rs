//! Mistakes with `timeout`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(timeout)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = ,)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout "3s")]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout("3s"))]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout: "3s")]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = 30)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = 1.5)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "30")]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "")]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "s")]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "30 s")]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "30sec")]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "5min")]
async fn case_13() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2fortnights")]
async fn case_14() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "30s1m")]
async fn case_15() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "1.5m30s")]
async fn case_16() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "1..5s")]
async fn case_17() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "0.1ns")]
async fn case_18() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = 0)]
async fn case_19() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "0s")]
async fn case_20() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "0ms")]
async fn case_21() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = -5)]
async fn case_22() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "-5s")]
async fn case_23() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "999999999999d")]
async fn case_24() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "18446744073709551616ns")]
async fn case_25() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = 'c')]
async fn case_26() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = true)]
async fn case_27() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = |_| 3)]
async fn case_28() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = ["3s"])]
async fn case_29() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "3s", timeout = "4s")]
async fn case_30() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "61s")]
async fn case_33() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", probe_timeout = "1999ms")]
async fn case_34() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "2m", timeout = "2m1s")]
async fn case_35() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s")]
fn plain() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "61s")]
fn plain_and_too_long() -> Answer {
    Ok(1)
}

fn main() {}
