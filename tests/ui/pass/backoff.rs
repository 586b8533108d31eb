//! `backoff`: a literal, a whole one too, or a constant.

use breakerbox::{CallError, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const NUMBER: f64 = 2.5;

#[circuit_breaker(backoff = 2.5)]
async fn literal() -> Answer {
    Ok(1)
}

#[circuit_breaker(backoff = 1)]
async fn whole() -> Answer {
    Ok(1)
}

#[circuit_breaker(backoff = 1.0f64)]
async fn with_a_suffix() -> Answer {
    Ok(1)
}

#[circuit_breaker(backoff = NUMBER)]
async fn constant() -> Answer {
    Ok(1)
}

#[circuit_breaker(backoff = NUMBER * 1.0)]
async fn expression() -> Answer {
    Ok(1)
}

breaker! {
    static LITERAL = { backoff: 2.5 }
    static CONSTANT = { backoff: NUMBER }
    static WHOLE = { backoff: 1 }
}

fn main() {
    drop((
        literal(),
        whole(),
        with_a_suffix(),
        constant(),
        expression(),
    ));
    assert_eq!(LITERAL.config().backoff(), 2.5);
    assert_eq!(CONSTANT.config().backoff(), 2.5);
    assert_eq!(WHOLE.config().backoff(), 1.0);
}
