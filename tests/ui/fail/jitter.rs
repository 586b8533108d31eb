//! Mistakes with `jitter`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(jitter)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter 0.5)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter(0.5))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter: 0.5)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = -0.5)]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = -1)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = "0.5")]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = "50%")]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = 'c')]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = true)]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = |_| 0.5)]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = [0.5])]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = 1e999)]
async fn case_13() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = 1, jitter = 1.0)]
async fn case_14() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = Self::SHARE)]
async fn case_15() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = 1.1)]
async fn case_16() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = 2)]
async fn case_17() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = 5percent)]
async fn case_18() -> Answer {
    Ok(1)
}

fn main() {}
