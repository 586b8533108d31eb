//! Fallbacks of the wrong type, and of what is gone when they run.

#![allow(unused)]

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<Vec<u8>, CallError<()>>;

fn rooms(hotel: &str) -> Vec<u8> {
    Vec::new()
}

#[circuit_breaker(fallback = rooms)]
async fn not_wrapped(hotel: &str) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = rooms(hotel))]
fn not_wrapped_plain(hotel: &str) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = |_| Some(Vec::<u8>::new()))]
async fn an_option_of_the_wrong_type() -> Answer {
    Ok(Vec::new())
}

async fn fetch(hotel: &str) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = fetch)]
fn a_future_in_a_plain_function(hotel: &str) -> Answer {
    Ok(Vec::new())
}

async fn fetch_something_else(hotel: &str) -> u8 {
    5
}

#[circuit_breaker(fallback = fetch_something_else)]
async fn a_future_of_the_wrong_type(hotel: &str) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = fetch)]
async fn other_parameters(hotel: u8) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = fetch)]
async fn more_parameters(hotel: &str, nights: u8) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = fetch())]
async fn a_call_with_too_little(hotel: &str) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = fetch(hotel).await?)]
async fn a_part_of_the_answer(hotel: &str) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = |hotel: String| fetch(&hotel))]
async fn a_closure_with_the_parameters(hotel: String) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = |_| async { Vec::<u8>::new() })]
async fn a_closure_with_another_future() -> Answer {
    Ok(Vec::new())
}

fn nothing(hotel: &str) {}

#[circuit_breaker(fallback = nothing)]
async fn no_answer_at_all(hotel: &str) -> Answer {
    Ok(Vec::new())
}

struct Client;

impl Client {
    #[circuit_breaker(shared, fallback = Self::cached)]
    fn method_without_self(&self, hotel: &str) -> Answer {
        Ok(Vec::new())
    }

    fn cached(hotel: &str) -> Answer {
        Ok(Vec::new())
    }

    #[circuit_breaker(shared, fallback = cached)]
    fn method_by_its_name_alone(&self, hotel: &str) -> Answer {
        Ok(Vec::new())
    }
}

#[circuit_breaker(fallback = no_such_function)]
async fn not_found() -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = |cause| match cause {
    breakerbox::Cause::Open(open) => Ok(open.no_such_method()),
    _ => Ok(Vec::new()),
})]
async fn wrong_inside() -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = |_| std::process::exit(1))]
fn never_returns() -> Answer {
    Ok(Vec::new())
}

fn without_parameters() -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = without_parameters)]
fn a_fallback_without_parameters(nights: u32) -> Answer {
    Ok(Vec::new())
}

fn borrowing(hotel: &str) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = borrowing)]
fn a_fallback_that_borrows(hotel: String) -> Answer {
    Ok(Vec::new())
}

fn by_the_cause(cause: breakerbox::Cause<'_, Answer>) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = by_the_cause)]
async fn a_fallback_that_takes_the_cause(hotel: &str) -> Answer {
    Ok(Vec::new())
}

struct Query(String);

fn of_a_query(query: &Query, nights: &u8) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = of_a_query)]
fn a_fallback_that_borrows_what_is_given(query: Query, nights: &u8) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = of_a_query)]
async fn fewer_parameters(query: Query) -> Answer {
    Ok(Vec::new())
}

#[circuit_breaker(fallback = fetch)]
async fn something_of_ones_own(query: Query) -> Answer {
    Ok(Vec::new())
}

fn main() {}
