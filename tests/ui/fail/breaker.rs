//! Mistakes with `breaker`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

breakerbox::breaker! { static PMS = {} }

#[circuit_breaker(breaker)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker PMS)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker(PMS))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker: PMS)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = 5)]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = "pms")]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = |_| PMS)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = PMS, breaker = PMS)]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = PMS, shared)]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = PMS, name = "x", threshold = 5, reset = "1s", backoff = 2, max_reset = "1m", jitter = 0, probes = 1, close_after = 1, close_rate = 0.5, probe_timeout = "1m", on_cancel = failure)]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = PMS, threshold = 0)]
async fn case_11() -> Answer {
    Ok(1)
}

struct Client;

impl Client {
    #[circuit_breaker]
    async fn reference(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(threshold = 3)]
    fn value(self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker]
    async fn typed(self: std::sync::Arc<Self>) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(breaker = self.breaker, threshold = 3)]
    async fn settings(&self) -> Answer {
        Ok(1)
    }
}

trait Pms {
    #[circuit_breaker]
    async fn rooms(&self) -> Answer {
        Ok(1)
    }
}

fn main() {}
