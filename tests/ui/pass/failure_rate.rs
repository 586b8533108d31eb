//! `failure_rate`: a literal, a whole one too, or a constant; on every kind of function.

use breakerbox::{Breaker, CallError, DefaultClock, Sliding, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const SHARE: f64 = 0.5;

#[circuit_breaker(failure_rate = 0.5)]
async fn literal() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 1)]
fn whole() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = SHARE)]
async fn constant() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = SHARE / 2.0, timeout = "2s", fallback = |_| Ok(2))]
async fn with_a_timeout<T>(_: T) -> Answer {
    Ok(1)
}

struct Client<T>(T);

impl<T> Client<T> {
    #[circuit_breaker(shared, failure_rate = 0.5)]
    async fn method(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(shared, name = "named", failure_rate = 0.5)]
    fn named(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(breaker = LITERAL)]
    fn by_a_static(&self) -> Answer {
        Ok(1)
    }
}

breaker! {
    pub static LITERAL = { failure_rate: 0.5 }
    static CONSTANT = { failure_rate: SHARE, close_rate: SHARE, probes: 10, name: "constant" }
}

fn main() {
    drop((literal(), constant(), with_a_timeout("")));
    let client = Client(());
    drop(client.method());
    let _ = (whole(), client.named(), client.by_a_static());
    let _: [&Breaker<DefaultClock, Sliding<8>>; 2] = [&LITERAL, &CONSTANT];
    assert_eq!(CONSTANT.config().close_rate(), Some(0.5));
}
