//! `min_calls`: a literal, a constant, an expression, a macro's argument.

use breakerbox::{CallError, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const LEAST: u32 = 10;

#[circuit_breaker(failure_rate = 0.5, min_calls = 1)]
async fn least() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = "10s", min_calls = 131071)]
fn most() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = 100)]
fn as_many_as_the_default_window() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = 7, window = 7)]
fn as_many_as_the_window() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = LEAST)]
async fn constant() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, min_calls = LEAST * 2, window = LEAST * 3)]
async fn expression() -> Answer {
    Ok(1)
}

macro_rules! guarded {
    ($name:ident, $n:expr) => {
        #[circuit_breaker(failure_rate = 0.5, min_calls = $n)]
        async fn $name() -> Answer {
            Ok(1)
        }
    };
}

guarded! { from_a_literal, 2 }
guarded! { from_an_expr, 2 + 1 }

breaker! {
    static LITERAL = { failure_rate: 0.5, min_calls: 7 }
    static CONSTANT = { failure_rate: 0.5, min_calls: LEAST }
}

fn main() {
    drop((least(), constant(), expression()));
    drop((from_a_literal(), from_an_expr()));
    let _ = (
        most(),
        as_many_as_the_default_window(),
        as_many_as_the_window(),
    );
    let _ = (LITERAL.admit(), CONSTANT.admit());
}
