//! Mistakes with `open_error`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(open_error)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(open_error =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(open_error refused)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(open_error(refused))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(open_error: refused)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(open_error = 5)]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(open_error = "refused")]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(open_error = true)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(open_error = || true)]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(open_error = |a, b| true)]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(open_error = async |a| true)]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(open_error = |a|)]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(open_error = refused, open_error = refused)]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker]
async fn never() -> ! {
    panic!()
}

#[circuit_breaker]
fn never_plain() -> ! {
    panic!()
}

fn main() {}
