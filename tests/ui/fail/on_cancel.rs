//! Mistakes with `on_cancel`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(on_cancel)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(on_cancel =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(on_cancel failure)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(on_cancel(failure))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(on_cancel: failure)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(on_cancel = "failure")]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(on_cancel = failed)]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(on_cancel = ignored)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(on_cancel = drop)]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(on_cancel = OnCancel::Failure)]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(on_cancel = true)]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(on_cancel = 1)]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(on_cancel = ignore, on_cancel = failure)]
async fn case_12() -> Answer {
    Ok(1)
}

fn main() {}
