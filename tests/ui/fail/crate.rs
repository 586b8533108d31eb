//! Mistakes with `crate`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(crate)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(crate =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(crate breakerbox)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(crate(breakerbox))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(crate: breakerbox)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(crate = "breakerbox")]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(crate = 5)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(crate = breakerbox())]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(crate = <u8 as breakerbox>::x)]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(crate = breakerbox, crate = breakerbox)]
async fn case_9() -> Answer {
    Ok(1)
}

fn main() {}
