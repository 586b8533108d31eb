//! `close_after`: a literal, a constant, an expression, a macro's argument.

use breakerbox::{CallError, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const LIMIT: u32 = 3;

const fn limit(n: u32) -> u32 {
    n + 1
}

#[circuit_breaker(close_after = 1)]
async fn least() -> Answer {
    Ok(1)
}

#[circuit_breaker(close_after = 511)]
fn most() -> Answer {
    Ok(1)
}

#[circuit_breaker(close_after = 3u64)]
fn with_a_suffix() -> Answer {
    Ok(1)
}

#[circuit_breaker(close_after = 1_0)]
fn with_an_underscore() -> Answer {
    Ok(1)
}

#[circuit_breaker(close_after = LIMIT)]
async fn constant() -> Answer {
    Ok(1)
}

#[circuit_breaker(close_after = limit(LIMIT) * 2,)]
async fn expression() -> Answer {
    Ok(1)
}

#[circuit_breaker(close_after = (4))]
async fn in_parentheses() -> Answer {
    Ok(1)
}

#[circuit_breaker(close_after = if LIMIT > 2 { 2 } else { 3 })]
async fn decided() -> Answer {
    Ok(1)
}

macro_rules! guarded {
    ($name:ident, $n:expr) => {
        #[circuit_breaker(close_after = $n)]
        async fn $name() -> Answer {
            Ok(1)
        }
    };
    ($name:ident = $n:tt) => {
        #[circuit_breaker(close_after = $n)]
        async fn $name() -> Answer {
            Ok(1)
        }
    };
}

guarded! { from_an_expr, 2 + 1 }
guarded! { from_a_literal, 2 }
guarded! { from_a_token = 2 }

breaker! {
    static LITERAL = { close_after: 7 }
    static CONSTANT = { close_after: LIMIT }
}

fn main() {
    drop(least());
    let _ = (most(), with_a_suffix(), with_an_underscore());
    drop((constant(), expression(), in_parentheses(), decided()));
    drop((from_an_expr(), from_a_literal(), from_a_token()));
    assert_eq!(LITERAL.config().close_after(), Some(7));
    assert_eq!(CONSTANT.config().close_after(), Some(3));
}
