//! `reset`: as people write it, or a constant `Duration`.

use std::time::Duration;

use breakerbox::{CallError, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const WAIT: Duration = Duration::from_secs(50);

#[circuit_breaker(reset = "45s")]
async fn seconds() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "45000ms")]
async fn milliseconds() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "0.75m")]
async fn fraction() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = "30s500ms", probes = 2)]
async fn parts() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = WAIT)]
async fn constant() -> Answer {
    Ok(1)
}

#[circuit_breaker(reset = Duration::from_millis(50_000))]
async fn expression() -> Answer {
    Ok(1)
}

macro_rules! guarded {
    ($name:ident, $wait:expr) => {
        #[circuit_breaker(reset = $wait)]
        async fn $name() -> Answer {
            Ok(1)
        }
    };
}

guarded! { from_a_literal, "45s" }
guarded! { from_a_constant, WAIT }

breaker! {
    static LITERAL = { reset: "1m30s" }
    static CONSTANT = { reset: WAIT }
}

fn main() {
    drop((
        seconds(),
        milliseconds(),
        fraction(),
        parts(),
        constant(),
        expression(),
    ));
    drop((from_a_literal(), from_a_constant()));
    assert_eq!(LITERAL.config().reset(), Duration::from_secs(90));
    assert_eq!(CONSTANT.config().reset(), WAIT);
}
