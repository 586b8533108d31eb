//! Mistakes with `fallback_on`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(fallback = cached(), fallback_on)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cached(), fallback_on =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cached(), fallback_on open)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cached(), fallback_on(open))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cached(), fallback_on: open)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cached(), fallback_on = "open")]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cached(), fallback_on = opened)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cached(), fallback_on = timeout)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cached(), fallback_on = 5)]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cached(), fallback_on = any, fallback_on = open)]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback_on = open)]
async fn case_10() -> Answer {
    Ok(1)
}

fn main() {}
