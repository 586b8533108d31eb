//! `last_good` and `last_good_key`: every form that they may have.

#![deny(warnings)]

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use breakerbox::last_good::{Answers, Memory};
use breakerbox::{CallError, KeyedBreakers, LastGood, Served, Settings, circuit_breaker};

type Answer = Result<Served<u8>, CallError<()>>;

const HOUR: Duration = Duration::from_secs(3_600);

static COSTS: LastGood<u8, u8> = LastGood::new(HOUR).max_answers(500);
static LAZY: LazyLock<LastGood<u8, u8>> = LazyLock::new(|| LastGood::new(HOUR));
static BY_NAME: LastGood<(String, u8), u8> = LastGood::new(HOUR);
static ONLY: LastGood<(), u8> = LastGood::new(HOUR).max_answers(1);
static HOSTS: KeyedBreakers<u8> = KeyedBreakers::new("hosts", Settings::new().must());

#[circuit_breaker(last_good = COSTS, last_good_key = hotel)]
async fn by_its_own_key(hotel: u8) -> Answer {
    Ok(Served::fresh(hotel))
}

#[circuit_breaker(last_good = COSTS, key = hotel)]
fn by_the_breakers_key(hotel: u8) -> Answer {
    Ok(Served::fresh(hotel))
}

#[circuit_breaker(breaker = HOSTS, last_good = &COSTS, key = hotel)]
async fn by_the_key_of_other_breakers(hotel: u8) -> Answer {
    Ok(Served::fresh(hotel))
}

#[circuit_breaker(last_good = ONLY)]
async fn without_a_key() -> Answer {
    Ok(Served::fresh(1))
}

#[circuit_breaker(
    last_good = LAZY,
    last_good_key = hotel,
    fallback_on = open,
    timeout = "2s",
    classify_output = |output| output.is_err(),
    open_error = |_| CallError::Call(()),
    timeout_error = |_| CallError::Call(())
)]
async fn with_all_that_it_goes_with(hotel: u8) -> Answer {
    Ok(Served::fresh(hotel))
}

#[circuit_breaker(last_good = BY_NAME, last_good_key = (hotel, night % 7))]
fn with_a_key_of_parts(hotel: String, night: u8) -> Answer {
    drop(hotel);
    Ok(Served::fresh(night))
}

#[circuit_breaker(last_good = answers, last_good_key = hotel)]
async fn of_a_parameter(answers: &LastGood<u8, u8>, hotel: u8) -> Answer {
    Ok(Served::fresh(hotel))
}

#[circuit_breaker(last_good = answers, last_good_key = hotel)]
async fn of_whatever_leads_there<A>(answers: A, hotel: u8) -> Answer
where
    A: Answers<Key = u8, Value = u8, Store = Memory<u8, u8>>,
{
    Ok(Served::fresh(hotel))
}

struct Client {
    costs: Arc<LastGood<u8, u8>>,
    status: LastGood<(), u8>,
}

impl Client {
    #[circuit_breaker(shared, last_good = self.costs, last_good_key = hotel)]
    async fn field(&self, hotel: u8) -> Answer {
        Ok(Served::fresh(hotel))
    }

    #[circuit_breaker(shared, last_good = self.status)]
    fn without_a_key(&self) -> Answer {
        Ok(Served::fresh(1))
    }

    fn costs(&self) -> Arc<LastGood<u8, u8>> {
        Arc::clone(&self.costs)
    }

    #[circuit_breaker(shared, last_good = self.costs(), last_good_key = hotel)]
    async fn call(&mut self, hotel: u8) -> Answer {
        Ok(Served::fresh(hotel))
    }
}

fn main() {
    let client = Client {
        costs: Arc::new(LastGood::new(HOUR)),
        status: LastGood::new(HOUR),
    };
    let _ = (by_its_own_key(1), by_the_key_of_other_breakers(1), without_a_key());
    let _ = (with_all_that_it_goes_with(1), of_a_parameter(&COSTS, 1), client.field(1));
    let _ = of_whatever_leads_there(client.costs(), 1);
    assert!(by_the_breakers_key(1).is_ok());
    assert!(with_a_key_of_parts("h1".to_owned(), 1).is_ok());
    assert!(client.without_a_key().is_ok());
    let mut client = client;
    let _ = client.call(1);
}
