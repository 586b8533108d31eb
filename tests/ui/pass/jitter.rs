//! `jitter`: a literal, a whole one too, or a constant.

use breakerbox::{CallError, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const NUMBER: f64 = 0.25;

#[circuit_breaker(jitter = 0.25)]
async fn literal() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = 1)]
async fn whole() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = 1.0f64)]
async fn with_a_suffix() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = NUMBER)]
async fn constant() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = NUMBER * 1.0)]
async fn expression() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = 0)]
fn none() -> Answer {
    Ok(1)
}

#[circuit_breaker(jitter = 0.0)]
fn none_either() -> Answer {
    none()
}

breaker! {
    static LITERAL = { jitter: 0.25 }
    static CONSTANT = { jitter: NUMBER }
    static WHOLE = { jitter: 1 }
}

fn main() {
    let _ = none_either();
    drop((
        literal(),
        whole(),
        with_a_suffix(),
        constant(),
        expression(),
    ));
    assert_eq!(LITERAL.config().jitter(), 0.25);
    assert_eq!(CONSTANT.config().jitter(), 0.25);
    assert_eq!(WHOLE.config().jitter(), 1.0);
}
