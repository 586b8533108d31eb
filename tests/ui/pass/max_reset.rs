//! `max_reset`: as people write it, or a constant `Duration`.

use std::time::Duration;

use breakerbox::{CallError, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const WAIT: Duration = Duration::from_secs(50);

#[circuit_breaker(backoff = 2, max_reset = "45s")]
async fn seconds() -> Answer {
    Ok(1)
}

#[circuit_breaker(backoff = 2, max_reset = "45000ms")]
async fn milliseconds() -> Answer {
    Ok(1)
}

#[circuit_breaker(backoff = 2, max_reset = "0.75m")]
async fn fraction() -> Answer {
    Ok(1)
}

#[circuit_breaker(backoff = 2, max_reset = "30s500ms", probes = 2)]
async fn parts() -> Answer {
    Ok(1)
}

#[circuit_breaker(backoff = 2, max_reset = WAIT)]
async fn constant() -> Answer {
    Ok(1)
}

#[circuit_breaker(backoff = 2, max_reset = Duration::from_millis(50_000))]
async fn expression() -> Answer {
    Ok(1)
}

macro_rules! guarded {
    ($name:ident, $wait:expr) => {
        #[circuit_breaker(backoff = 2, max_reset = $wait)]
        async fn $name() -> Answer {
            Ok(1)
        }
    };
}

guarded! { from_a_literal, "45s" }
guarded! { from_a_constant, WAIT }

breaker! {
    static LITERAL = { max_reset: "1m30s", backoff: 2 }
    static CONSTANT = { max_reset: WAIT, backoff: 1.5 }
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
    assert_eq!(LITERAL.config().max_reset(), Some(Duration::from_secs(90)));
    assert_eq!(CONSTANT.config().max_reset(), Some(WAIT));
}
