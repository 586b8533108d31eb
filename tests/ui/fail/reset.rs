//! Mistakes with `reset`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(reset)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = ,)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset "3s")]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset("3s"))]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset: "3s")]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = 30)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = 1.5)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "30")]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "")]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "s")]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "30 s")]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "30sec")]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "5min")]
async fn case_13() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "2fortnights")]
async fn case_14() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "30s1m")]
async fn case_15() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "1.5m30s")]
async fn case_16() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "1..5s")]
async fn case_17() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "0.1ns")]
async fn case_18() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = 0)]
async fn case_19() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "0s")]
async fn case_20() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "0ms")]
async fn case_21() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = -5)]
async fn case_22() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "-5s")]
async fn case_23() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "999999999999d")]
async fn case_24() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "18446744073709551616ns")]
async fn case_25() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = 'c')]
async fn case_26() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = true)]
async fn case_27() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = |_| 3)]
async fn case_28() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = ["3s"])]
async fn case_29() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "3s", reset = "4s")]
async fn case_30() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = Self::WAIT)]
async fn case_31() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = wait)]
async fn parameter(wait: std::time::Duration) -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = 30s)]
async fn case_32() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = 5min)]
async fn case_33() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = 1h30)]
async fn case_34() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = 1.5sec)]
async fn case_35() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = 30_000u64)]
async fn case_36() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = 3parsecs)]
async fn case_37() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "30 sec")]
async fn case_38() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "5 minutes")]
async fn case_39() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "1h30")]
async fn case_40() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "2 fortnights")]
async fn case_41() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = 0s)]
async fn case_42() -> Answer {
    Ok(1)
}

fn main() {}
