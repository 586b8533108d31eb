//! Mistakes with `last_good` and `last_good_key`, each with what to write instead.

#![allow(unused)]

use std::time::Duration;

use breakerbox::{CallError, LastGood, Served, breaker, circuit_breaker};

type Answer = Result<Served<u8>, CallError<()>>;

const HOUR: Duration = Duration::from_secs(3_600);

static COSTS: LastGood<u8, u8> = LastGood::new(HOUR);

fn cached(hotel: u8) -> Answer {
    Ok(Served::fresh(1))
}

#[circuit_breaker(last_good, last_good_key = hotel)]
async fn case_0(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good =, last_good_key = hotel)]
async fn case_1(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = "COSTS", last_good_key = hotel)]
async fn case_2(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good(COSTS), last_good_key = hotel)]
async fn case_3(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good: COSTS, last_good_key = hotel)]
async fn case_4(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS, last_good = COSTS, last_good_key = hotel)]
async fn case_5(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = |hotel| COSTS, last_good_key = hotel)]
async fn case_6(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = 3_600, last_good_key = hotel)]
async fn case_7(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(lastgood = COSTS, last_good_key = hotel)]
async fn case_8(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(stale_if_error = COSTS, key = hotel)]
async fn case_9(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS)]
async fn case_10(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS)]
fn case_11(hotel: u8, nights: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS)]
fn case_12((hotel, nights): (u8, u8)) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS)]
async fn case_13<T: Default + Into<u8>>() -> Answer {
    cached(T::default().into())
}

struct Client(u8);

impl Client {
    #[circuit_breaker(shared, last_good = COSTS)]
    async fn case_14(&self) -> Answer {
        cached(self.0)
    }
}

#[circuit_breaker(last_good_key = hotel)]
async fn case_15(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS, last_good_key)]
async fn case_16(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS, last_good_key =)]
async fn case_17(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS, last_good_key = "hotel")]
async fn case_18(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS, last_good_key = |hotel| hotel)]
async fn case_19(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS, last_good_key = hotel, nights)]
async fn case_20(hotel: u8, nights: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS, last_good_key = hotel, last_good_key = hotel)]
async fn case_21(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS, cache_key = hotel)]
async fn case_22(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(fallback = cached, last_good = COSTS, last_good_key = hotel)]
async fn case_23(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS, last_good_key = hotel, fallback = |_| cached(1))]
async fn case_24(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = COSTS, last_good_key = 1_u8, open_error = |why| panic!("{why}"))]
async fn case_25() -> ! {
    std::process::exit(1)
}

#[circuit_breaker(fallback_on = open, last_good_key = hotel)]
async fn case_26(hotel: u8) -> Answer {
    cached(hotel)
}

breaker! {
    static CASE_27 = { last_good: COSTS }
}

breaker! {
    static CASE_28 = { last_good_key: 1 }
}

#[circuit_breaker(last_good = COSTS, threshold = 0)]
async fn case_29(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = LastGood::new(HOUR), last_good_key = hotel)]
async fn case_30(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(
    last_good = &breakerbox::LastGood::<u8, u8>::new(HOUR).max_answers(9),
    last_good_key = hotel
)]
fn case_31(hotel: u8) -> Answer {
    cached(hotel)
}

#[circuit_breaker(last_good = LastGood::on_disk("costs", HOUR).unwrap())]
async fn case_32(hotel: u8) -> Answer {
    cached(hotel)
}

fn main() {}
