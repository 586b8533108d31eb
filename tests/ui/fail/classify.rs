//! Mistakes with `classify`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(classify)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify is_transient)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify(is_transient))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify: is_transient)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = 5)]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = "is_transient")]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = true)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = || true)]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = |a, b| true)]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = async |a| true)]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = |a|)]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = is_transient, classify = is_transient)]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = is_transient, classify_output = is_none)]
async fn case_13() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = |_| true, open_error = |why| panic!("{why}"))]
async fn never() -> ! {
    panic!()
}

#[circuit_breaker(classify = is_transient(e))]
async fn a_call_of_it() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = is_transient(3, &err))]
fn a_call_with_more(limit: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(open_error = CallError::Open(refused), timeout = "2s", timeout_error = late(late))]
async fn calls_of_the_others(late: u8) -> Answer {
    Ok(1)
}

fn main() {}
