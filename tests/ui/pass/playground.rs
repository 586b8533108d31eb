//! What `examples/playground` shows for some of its options, word for word: its test
//! `code.test.ts` compares.
#![allow(dead_code)]

use breakerbox::{CircuitOpenError, TimeoutError};

struct HttpError(u16);

impl HttpError {
    fn status(&self) -> u16 {
        self.0
    }
}

impl From<CircuitOpenError> for HttpError {
    fn from(_: CircuitOpenError) -> Self {
        Self(503)
    }
}

impl From<TimeoutError> for HttpError {
    fn from(_: TimeoutError) -> Self {
        Self(504)
    }
}

type Answer = Result<u32, HttpError>;

async fn fetch_inventory(_hotel: &str) -> Answer {
    Ok(1)
}

fn last_good(_hotel: &str) -> Option<Answer> {
    Some(Ok(1))
}

mod as_it_starts {
    use super::*;
    use breakerbox::circuit_breaker;

    // shown: as_it_starts
    #[circuit_breaker(
        name = "pms",
        threshold = 5,
        reset = "5s",
        timeout = "1s",
        classify = |e| e.status() != 404,
    )]
    async fn inventory(hotel: &str) -> Answer {
        fetch_inventory(hotel).await
    }
    // end
}

mod by_rate_of_calls {
    use super::*;
    use breakerbox::circuit_breaker;

    // shown: by_rate_of_calls
    #[circuit_breaker(
        name = "pms",
        failure_rate = 1.0,
        window = 20,
        min_calls = 10,
        slow = "250ms",
        slow_rate = 0.5,
        reset = "5s",
        backoff = 2.0,
        jitter = 0.0,
        probes = 3,
        close_after = 5,
        timeout = "1s",
        classify = |e| e.status() != 404,
        fallback = last_good,
    )]
    async fn inventory(hotel: &str) -> Answer {
        fetch_inventory(hotel).await
    }
    // end
}

mod by_rate_of_time {
    use super::*;
    use breakerbox::circuit_breaker;

    // shown: by_rate_of_time
    #[circuit_breaker(
        name = "pms",
        failure_rate = 0.5,
        window = "10s",
        min_calls = 10,
        reset = "5s",
        backoff = 1.5,
        probes = 2,
        classify = |e| e.status() != 404,
    )]
    async fn inventory(hotel: &str) -> Answer {
        fetch_inventory(hotel).await
    }
    // end
}

fn main() {}
