//! A parameter that the body consumes and the fallback wants.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<usize, CallError<()>>;

struct Hotel(String);

fn cached(hotel: Hotel) -> Answer {
    Ok(hotel.0.len())
}

fn fetch(hotel: Hotel) -> Answer {
    Ok(hotel.0.len())
}

#[circuit_breaker(fallback = cached)]
async fn an_argument(hotel: Hotel) -> Answer {
    fetch(hotel)
}

#[circuit_breaker(fallback = cached)]
fn a_variable(hotel: Hotel) -> Answer {
    let mine = hotel;
    Ok(mine.0.len())
}

#[circuit_breaker(fallback = cached(hotel))]
async fn a_field(hotel: Hotel) -> Answer {
    struct Request {
        hotel: Hotel,
    }
    let request = Request { hotel };
    Ok(request.hotel.0.len())
}

#[circuit_breaker(fallback = |_| cached(hotel))]
async fn in_a_closure(hotel: Hotel, other: Vec<u8>) -> Answer {
    drop(other);
    fetch(hotel)
}

fn cached_pair<T, U>(pair: T, other: U) -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cached_pair)]
async fn generic<T: Send>(pair: (T, Hotel), other: Vec<T>) -> Answer {
    drop(pair);
    drop(other);
    Ok(1)
}

fn kept(hotel: &Hotel) -> Answer {
    Ok(hotel.0.len())
}

#[circuit_breaker(fallback = cached)]
async fn in_a_block_of_its_own(hotel: Hotel) -> Answer {
    let call = async move { kept(&hotel) };
    call.await
}

#[circuit_breaker(fallback = kept(&hotel))]
fn in_a_closure_of_its_own(hotel: Hotel) -> Answer {
    let call = move || kept(&hotel);
    call()
}

fn main() {}
