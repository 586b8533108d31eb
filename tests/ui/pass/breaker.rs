//! `breaker`: a static, a field, an `Arc`, whatever leads to one.

use std::sync::Arc;

use breakerbox::{Breaker, CallError, Config, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

breaker! { static PMS = {} }
static BY_HAND: Breaker = Breaker::new("by hand", Config::DEFAULT);

#[circuit_breaker(breaker = PMS)]
async fn a_static() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = &BY_HAND)]
fn a_reference() -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = pms)]
async fn a_parameter(pms: &Breaker) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = pms)]
async fn an_owned_parameter(pms: Arc<Breaker>) -> Answer {
    Ok(u8::from(pms.name().is_empty()))
}

#[circuit_breaker(breaker = if first { &PMS } else { &BY_HAND })]
async fn chosen(first: bool) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = breakers[at])]
fn one_of_many(breakers: &[Breaker], at: usize) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = PMS, timeout = "2s", classify = |_| true, fallback = |_| None)]
async fn with_the_calls_own_options() -> Answer {
    Ok(1)
}

struct Client {
    breaker: Arc<Breaker>,
    name: String,
}

impl Client {
    #[circuit_breaker(breaker = self.breaker)]
    async fn field(&self) -> Answer {
        Ok(self.name.len() as u8)
    }

    #[circuit_breaker(breaker = &self.breaker)]
    async fn borrowed_field(self: Arc<Self>) -> Answer {
        Ok(self.name.len() as u8)
    }

    #[circuit_breaker(breaker = self.breaker())]
    async fn method(&self) -> Answer {
        Ok(self.name.len() as u8)
    }

    #[circuit_breaker(breaker = self.breaker.clone())]
    async fn cloned(&mut self) -> Answer {
        self.name.clear();
        Ok(1)
    }

    #[circuit_breaker(breaker = Self::shared_by_all())]
    async fn associated(&mut self) -> Answer {
        self.name.clear();
        Ok(1)
    }

    #[circuit_breaker(breaker = PMS)]
    async fn static_beside_self(self) -> Answer {
        drop(self);
        Ok(1)
    }

    fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    fn shared_by_all() -> &'static Breaker {
        &PMS
    }
}

fn main() {
    drop((a_static(), chosen(true), with_the_calls_own_options()));
    let _ = a_reference();
    let shared = Breaker::shared("shared", Config::DEFAULT);
    drop((a_parameter(&shared), an_owned_parameter(shared.clone())));
    let _ = one_of_many(&[Breaker::new("one", Config::DEFAULT)], 0);
    let client = || Client {
        breaker: shared.clone(),
        name: String::new(),
    };
    let mut one = client();
    drop((one.field(), one.method()));
    drop(one.cloned());
    drop(one.associated());
    drop(one.static_beside_self());
    drop(Arc::new(client()).borrowed_field());
}
