//! `window`: a count of calls or a duration, each as a literal or a constant of its type.

use std::time::Duration;

use breakerbox::{Breaker, CallError, DefaultClock, Sliding, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const CALLS: u32 = 30;
const TIME: Duration = Duration::from_secs(10);

#[circuit_breaker(failure_rate = 0.5, window = 1)]
async fn least() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = 4095)]
async fn most() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = "10ms")]
async fn shortest() -> Answer {
    Ok(1)
}

#[circuit_breaker(window = "1m30s", failure_rate = 0.5)]
async fn parts() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = CALLS)]
fn constant_calls() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = TIME)]
fn constant_time() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = CALLS * 2 + 1)]
async fn calculated_calls() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = 10 + 5)]
async fn calculated_literals() -> Answer {
    Ok(1)
}

#[circuit_breaker(failure_rate = 0.5, window = Duration::from_secs(5))]
async fn calculated_time() -> Answer {
    Ok(1)
}

macro_rules! guarded {
    ($name:ident, $window:expr) => {
        #[circuit_breaker(failure_rate = 0.5, window = $window)]
        async fn $name() -> Answer {
            Ok(1)
        }
    };
}

guarded! { from_a_count, 50 }
guarded! { from_a_duration, "5s" }
guarded! { from_a_constant, TIME }

struct Client;

impl Client {
    #[circuit_breaker(shared, failure_rate = 0.5, window = CALLS)]
    async fn method(&self) -> Answer {
        const CALLS: u32 = 5;
        Ok(CALLS as u8)
    }
}

breaker! {
    static COUNT = { failure_rate: 0.5, window: 14 }
    static ONE_MORE = { failure_rate: 0.5, window: 15 }
    static TEN_SECONDS = { failure_rate: 0.5, window: "10s" }
    static CONSTANT_COUNT = { failure_rate: 0.5, window: CALLS }
    pub(crate) static CONSTANT_TIME = { failure_rate: 0.5, window: TIME };
}

fn main() {
    drop((least(), most(), shortest(), parts()));
    drop((calculated_calls(), calculated_literals(), calculated_time()));
    drop((from_a_count(), from_a_duration(), from_a_constant()));
    drop(Client.method());
    let _ = (constant_calls(), constant_time());

    let _: &Breaker<DefaultClock, Sliding<1>> = &COUNT;
    let _: &Breaker<DefaultClock, Sliding<2>> = &ONE_MORE;
    let _: &Breaker<DefaultClock, Sliding<10>> = &TEN_SECONDS;
    let _: &Breaker<DefaultClock, Sliding<3>> = &CONSTANT_COUNT;
    let _: &Breaker<DefaultClock, Sliding<10>> = &CONSTANT_TIME;
}
