//! `close_rate`: a literal, a whole one too, or a constant.

use breakerbox::{CallError, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const NUMBER: f64 = 0.5;

#[circuit_breaker(close_rate = 0.5)]
async fn literal() -> Answer {
    Ok(1)
}

#[circuit_breaker(close_rate = 1)]
async fn whole() -> Answer {
    Ok(1)
}

#[circuit_breaker(close_rate = 1.0f64)]
async fn with_a_suffix() -> Answer {
    Ok(1)
}

#[circuit_breaker(close_rate = NUMBER)]
async fn constant() -> Answer {
    Ok(1)
}

#[circuit_breaker(close_rate = NUMBER * 1.0)]
async fn expression() -> Answer {
    Ok(1)
}

breaker! {
    static LITERAL = { close_rate: 0.5 }
    static CONSTANT = { close_rate: NUMBER }
    static WHOLE = { close_rate: 1 }
}

fn main() {
    drop((
        literal(),
        whole(),
        with_a_suffix(),
        constant(),
        expression(),
    ));
    assert_eq!(LITERAL.config().close_rate(), Some(0.5));
    assert_eq!(CONSTANT.config().close_rate(), Some(0.5));
    assert_eq!(WHOLE.config().close_rate(), Some(1.0));
}
