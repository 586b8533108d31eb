//! Mistakes with `fallback`, each with what to write instead.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

#[circuit_breaker(fallback)]
async fn case_0() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback =)]
async fn case_1() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback cached)]
async fn case_2() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback(cached))]
async fn case_3() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback: cached)]
async fn case_4() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = || cached())]
async fn case_5() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |a, b| cached())]
async fn case_6() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |a|)]
async fn case_7() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cached, fallback = cached)]
async fn case_8() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cached)]
async fn patterns((a, b): (u8, u8), _: u8, ref c: u8, d @ 0..: u8, [e]: [u8; 1], f: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cache::rooms)]
fn conditional(#[cfg(unix)] a: u8, b: u8) -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |_| (), open_error = |why| panic!("{why}"))]
async fn never() -> ! {
    panic!()
}

#[circuit_breaker(fallback = NO_ROOMS)]
async fn case_9() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = (NO_ROOMS))]
async fn case_10() -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = cache::NO_ROOMS)]
async fn case_11() -> Answer {
    Ok(1)
}

async fn fetch(hotel: &str) -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = fetch(hotel).await)]
fn an_await_in_a_plain_function(hotel: &str) -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |_| Some(fetch(hotel).await))]
fn in_its_closure(hotel: &str) -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |_| fetch(hotel).await)]
async fn an_await_in_a_closure(hotel: &str) -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = "cached")]
fn in_quotes(hotel: &str) -> Result<u8, CallError<()>> {
    Ok(1)
}

#[circuit_breaker(fallback = "the last answer")]
async fn in_words(hotel: &str) -> Result<u8, CallError<()>> {
    Ok(1)
}

#[circuit_breaker(fallback = |hotel: &str| cached(hotel))]
async fn a_closure_with_the_parameter(hotel: &str) -> Answer {
    Ok(1)
}

#[circuit_breaker(fallback = |(hotel, nights): (&str, u32)| Ok(nights))]
fn a_closure_with_both_parameters(hotel: &str, nights: u32) -> Result<u32, CallError<()>> {
    Ok(1)
}

#[circuit_breaker(fallback = |nights: u32| Ok(nights))]
fn a_closure_with_a_number(nights: u32) -> Result<u32, CallError<()>> {
    Ok(1)
}

fn main() {}
