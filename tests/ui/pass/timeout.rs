//! `timeout`: as people write it, or a constant `Duration`.

use std::time::Duration;

use breakerbox::{CallError, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const WAIT: Duration = Duration::from_secs(50);

#[circuit_breaker(timeout = "45s")]
async fn seconds() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "45000ms")]
async fn milliseconds() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "0.75m")]
async fn fraction() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "30s500ms", probes = 2)]
async fn parts() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = WAIT)]
async fn constant() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = Duration::from_millis(50_000))]
async fn expression() -> Answer {
    Ok(1)
}

macro_rules! guarded {
    ($name:ident, $wait:expr) => {
        #[circuit_breaker(timeout = $wait)]
        async fn $name() -> Answer {
            Ok(1)
        }
    };
}

guarded! { from_a_literal, "45s" }
guarded! { from_a_constant, WAIT }

#[circuit_breaker(timeout = "2m", probe_timeout = "2m")]
async fn as_long_as_a_probe() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = "2m", reset = "3m")]
async fn the_default_follows_reset() -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = WAIT, breaker = PMS)]
async fn beside_a_breaker() -> Answer {
    Ok(1)
}

breaker! { static PMS = {} }

#[circuit_breaker(timeout = wait)]
async fn parameter(wait: Duration) -> Answer {
    Ok(1)
}

#[circuit_breaker(timeout = Duration::from_millis(millis.into()))]
async fn made_of_a_parameter(millis: u32, name: String) -> Answer {
    drop(name);
    Ok(1)
}

#[circuit_breaker(timeout = Duration::from_secs(SECONDS), breaker = PMS)]
async fn generic<const SECONDS: u64>() -> Answer {
    Ok(1)
}

struct Client {
    timeout: Duration,
}

impl Client {
    const WAIT: Duration = WAIT;

    #[circuit_breaker(shared, timeout = self.timeout)]
    async fn configured(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(shared, timeout = Self::WAIT)]
    async fn of_the_type(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(key = hotel, timeout = self.timeout, fallback = Ok(hotel.len() as u8))]
    async fn beside_a_key(self, hotel: String) -> Answer {
        Ok(hotel.len() as u8)
    }
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
    drop((parameter(WAIT), made_of_a_parameter(1, String::new())));
    let client = Client { timeout: WAIT };
    drop((generic::<2>(), client.configured(), client.of_the_type()));
    drop(client.beside_a_key(String::new()));
    drop((
        as_long_as_a_probe(),
        the_default_follows_reset(),
        beside_a_breaker(),
    ));
}
