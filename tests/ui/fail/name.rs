//! Mistakes with `name`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(name)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(name =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(name "x")]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(name("x"))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(name: "x")]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = "")]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = 5)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = true)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = 'x')]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = b"x")]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = |_| "x")]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = "a", name = "b")]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = Self::NAME)]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = pms)]
async fn case_13() -> Answer {
    Ok(1)
}

#[circuit_breaker(name = (pms))]
async fn case_14() -> Answer {
    Ok(1)
}

fn main() {}
