//! What is no key, or not of these breakers.

#![allow(unused)]

use breakerbox::{CallError, KeyedBreakers, Settings, breaker, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

static HOSTS: KeyedBreakers<String> = KeyedBreakers::new("hosts", Settings::new().must());
const NONE: u32 = 0;

breaker! { static PMS = {} }

#[derive(Clone, PartialEq, Eq, Hash)]
struct Tenant(u32);

#[circuit_breaker(key = tenant)]
fn no_key(tenant: Tenant) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = price)]
fn a_float(price: f64) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = (hotel, tenant))]
fn a_part_of_it(hotel: &str, tenant: Tenant) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = HOSTS, key = hotel)]
fn of_another_type(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = PMS, key = hotel)]
fn a_plain_breaker(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = HOSTS)]
fn without_key(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = not_there)]
fn not_a_parameter(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = moved(hotel))]
fn moved_by_the_key(hotel: String) -> Answer {
    drop(hotel);
    Ok(1)
}

fn moved(hotel: String) -> u8 {
    hotel.len() as u8
}

#[circuit_breaker(key = hotel, max_keys = NONE)]
fn none_by_a_constant(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = hotel, max_keys = MANY)]
fn of_the_wrong_type(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = (hotel, price))]
async fn in_an_async_fn(hotel: &str, price: f64) -> Answer {
    Ok(1)
}

#[circuit_breaker(key = lock)]
async fn of_a_foreign_type(lock: std::sync::Mutex<u8>) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = HOSTS, key = price)]
async fn no_key_of_others(price: f64) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = PMS, key = hotel)]
async fn a_plain_breaker_beside_async(hotel: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = HOSTS, key = hotel)]
async fn of_another_type_beside_async(hotel: u8) -> Answer {
    Ok(1)
}

struct Client;

impl Client {
    #[circuit_breaker(key = price)]
    async fn in_a_method(&self, price: f64) -> Answer {
        Ok(1)
    }
}

const MANY: usize = 10;

fn main() {}
