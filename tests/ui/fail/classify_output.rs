//! Mistakes with `classify_output`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(classify_output)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output is_none)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output(is_none))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output: is_none)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output = 5)]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output = "is_none")]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output = true)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output = || true)]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output = |a, b| true)]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output = async |a| true)]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output = |a|)]
async fn case_11() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output = is_none, classify_output = is_none)]
async fn case_12() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output = |_| true, open_error = |why| panic!("{why}"))]
async fn never() -> ! {
    panic!()
}

fn main() {}
