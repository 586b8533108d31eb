//! Mistakes with `key` and `max_keys`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, KeyedBreakers, Settings, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

static HOSTS: KeyedBreakers<String> = KeyedBreakers::new("hosts", Settings::new().must());

#[circuit_breaker(key)]
async fn case_0(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key =)]
async fn case_1(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key(hotel))]
async fn case_2(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key: hotel)]
async fn case_3(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = hotel, key = hotel)]
async fn case_4(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = if)]
async fn case_5(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(keys = hotel)]
async fn case_6(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(keyed_by = hotel)]
async fn case_7(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(max_keys = 10)]
async fn case_8(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(max_keys)]
async fn case_9(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = hotel, max_keys = 0)]
async fn case_10(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = hotel, max_keys = -1)]
async fn case_11(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = hotel, max_keys = "100")]
async fn case_12(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = hotel, max_keys = 4294967296)]
async fn case_13(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = hotel, max_keys = 1.5)]
async fn case_14(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = hotel, max_keys = 10, max_keys = 11)]
async fn case_15(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = hotel, max_keys = hotel)]
async fn case_16(hotel: u32) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = hotel, max_keys = |_| 3)]
async fn case_17(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = hotel, max_keys = Self::MANY)]
async fn case_18(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = hotel, max_keys = N)]
async fn case_19<const N: u32>(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = HOSTS, key = hotel, max_keys = 10)]
async fn case_20(hotel: String) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = HOSTS, key = hotel, threshold = 3)]
async fn case_21(hotel: String) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = hotel, capacity = 10)]
async fn case_22(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = account, region)]
async fn case_23(account: u8, region: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = (account, region), hotel, max_keys = 0)]
async fn case_24(account: u8, region: u8, hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key_by = hotel)]
async fn case_25(hotel: u8) -> Answer {
    Ok(1)
}

struct Client;

impl Client {
    #[circuit_breaker(key = hotel, shared)]
    async fn shared(&self, hotel: u8) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(breaker = HOSTS, key = hotel, shared)]
    async fn all_three(&self, hotel: &str) -> Answer {
        Ok(1)
    }
}

trait Pms {
    #[circuit_breaker(key = hotel)]
    fn without_a_body(&self, hotel: u8) -> Answer;
}

breaker! { static PMS_0 = { key: hotel } }
breaker! { static PMS_1 = { max_keys: 10 } }

fn main() {}
