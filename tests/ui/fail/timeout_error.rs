//! Mistakes with `timeout_error`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(timeout = "2s", timeout_error)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error late)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error(late))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error: late)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error = 5)]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error = "late")]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error = true)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error = || true)]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error = |a, b| true)]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error = async |a| true)]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error = |a|)]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", timeout_error = late, timeout_error = late)]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout_error = late)]
async fn without_timeout() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2s", open_error = |why| panic!("{why}"))]
async fn never() -> ! {
    panic!()
}

fn main() {}
