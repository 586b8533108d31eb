//! `slow` and `slow_rate`: a duration as people write it or a constant; a ratio.

use std::time::Duration;

use breakerbox::{CallError, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const LIMIT: Duration = Duration::from_millis(1500);
const SHARE: f64 = 0.8;

#[circuit_breaker(failure_rate = 0.5, slow = "1.5s", slow_rate = 0.8)]
async fn literal() -> Answer {
    Ok(1)
}

#[circuit_breaker(slow_rate = 1, slow = "1s500ms", failure_rate = 1)]
fn whole() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = LIMIT, slow_rate = SHARE)]
async fn constant() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, slow = Duration::from_secs(1), slow_rate = SHARE / 2.0)]
async fn expression() -> Answer {
    Ok(1)
}

/// Slower than `slow` and still in time.
#[circuit_breaker(failure_rate = 0.5, slow = "1s", slow_rate = 0.5, timeout = "2s")]
async fn with_a_timeout() -> Answer {
    Ok(1)
}

breaker! {
    static LITERAL = { failure_rate: 0.5, slow: "2s", slow_rate: 0.8 }
    static CONSTANT = { failure_rate: 0.5, slow: LIMIT, slow_rate: SHARE, window: "1m" }
}

fn main() {
    drop((literal(), constant(), expression(), with_a_timeout()));
    let _ = (whole(), LITERAL.admit(), CONSTANT.admit());
}
