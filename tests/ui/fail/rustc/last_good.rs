//! What can be seen of `last_good` in types alone, each with what to write instead.

#![allow(unused)]

use std::time::Duration;

use breakerbox::last_good::Memory;
use breakerbox::{CallError, LastGood, Served, circuit_breaker};

type Answer = Result<Served<u8>, CallError<()>>;

const HOUR: Duration = Duration::from_secs(3_600);

static COSTS: LastGood<u8, u8> = LastGood::new(HOUR);
static BY_NAME: LastGood<String, u8> = LastGood::new(HOUR);

// No `LastGood`.
#[circuit_breaker(last_good = HOUR, last_good_key = hotel)]
async fn case_0(hotel: u8) -> Answer {
    Ok(Served::fresh(hotel))
}

#[circuit_breaker(last_good = Memory::<u8, u8>::new(10), last_good_key = hotel)]
fn case_1(hotel: u8) -> Answer {
    Ok(Served::fresh(hotel))
}

// An output that can't say how old it is.
#[circuit_breaker(last_good = COSTS, last_good_key = hotel)]
async fn case_2(hotel: u8) -> Result<u8, CallError<()>> {
    Ok(hotel)
}

#[circuit_breaker(last_good = COSTS, last_good_key = hotel)]
fn case_3(hotel: u8) -> Result<u8, CallError<()>> {
    Ok(hotel)
}

#[circuit_breaker(last_good = COSTS, last_good_key = hotel, classify_output = |out| out.stale)]
async fn case_4(hotel: u8) -> Served<u8> {
    Served::fresh(hotel)
}

// Answers to something else.
#[circuit_breaker(last_good = COSTS, last_good_key = hotel)]
async fn case_5(hotel: u8) -> Result<Served<String>, CallError<()>> {
    Ok(Served::fresh(hotel.to_string()))
}

// Another key.
#[circuit_breaker(last_good = COSTS, last_good_key = hotel)]
async fn case_6(hotel: &str) -> Answer {
    Ok(Served::fresh(1))
}

#[circuit_breaker(last_good = BY_NAME, key = hotel)]
fn case_7(hotel: u8) -> Answer {
    Ok(Served::fresh(1))
}

#[circuit_breaker(last_good = COSTS)]
async fn case_8() -> Answer {
    Ok(Served::fresh(1))
}

// No key at all.
#[circuit_breaker(last_good = COSTS, last_good_key = hotel)]
async fn case_9(hotel: f64) -> Answer {
    Ok(Served::fresh(1))
}

// An error that can't say that a call was refused.
#[circuit_breaker(last_good = COSTS, last_good_key = hotel)]
async fn case_10(hotel: u8) -> Result<Served<u8>, String> {
    Ok(Served::fresh(hotel))
}

// An answer that can't be kept.
struct Fixed;
static FIXED: LastGood<u8, Fixed> = LastGood::new(HOUR);

#[circuit_breaker(last_good = FIXED, last_good_key = hotel)]
async fn case_11(hotel: u8) -> Result<Served<Fixed>, CallError<()>> {
    Ok(Served::fresh(Fixed))
}

// A plain function can't wait.
mod remote {
    use breakerbox::Key;
    use breakerbox::last_good::{Aged, Reply, Store};
    use std::convert::Infallible;
    use std::future::{Pending, pending};

    pub struct Remote;

    impl Store<u8, u8> for Remote {
        type Error = Infallible;
        type Loading<'a> = Pending<Result<Option<Aged<u8>>, Infallible>>;
        type Saving<'a> = Pending<Result<(), Infallible>>;

        fn load<Q: Key<Owned = u8> + ?Sized>(
            &self,
            _: &Q,
        ) -> Reply<Option<Aged<u8>>, Infallible, Self::Loading<'_>> {
            Reply::Later(pending())
        }

        fn save<Q: Key<Owned = u8> + ?Sized>(
            &self,
            _: &Q,
            _: Aged<&u8>,
        ) -> Reply<(), Infallible, Self::Saving<'_>> {
            Reply::Later(pending())
        }

        fn remove<Q: Key<Owned = u8> + ?Sized>(
            &self,
            _: &Q,
        ) -> Reply<(), Infallible, Self::Saving<'_>> {
            Reply::Later(pending())
        }
    }
}

static REMOTE: LastGood<u8, u8, remote::Remote> = LastGood::in_store(remote::Remote, HOUR);

#[circuit_breaker(last_good = REMOTE, last_good_key = hotel)]
fn case_12(hotel: u8) -> Answer {
    Ok(Served::fresh(hotel))
}

// Settings with which nothing could be served.
static NEVER: LastGood<u8, u8> = LastGood::new(Duration::ZERO);
static NOWHERE: LastGood<u8, u8> = LastGood::new(HOUR).max_answers(0);

fn main() {}
