//! `classify`: a function or closure, of `bool` or `Outcome`.

use std::fmt::Debug;
use std::time::Duration;

use breakerbox::{CallError, Outcome, circuit_breaker};

#[derive(Debug)]
enum PmsError {
    Down,
    NotFound,
    Busy(u64),
}

type Answer<T = u8> = Result<T, CallError<PmsError>>;

fn is_down(error: &CallError<PmsError>) -> bool {
    matches!(error, CallError::Call(PmsError::Down))
}

fn outcome(error: &CallError<PmsError>) -> Outcome {
    match error {
        CallError::Call(PmsError::NotFound) => Outcome::Ignored,
        CallError::Call(PmsError::Busy(seconds)) => {
            Outcome::Overloaded(Duration::from_secs(*seconds))
        }
        _ => Outcome::Failure,
    }
}

fn any_error(error: &impl Debug) -> bool {
    format!("{error:?}").is_empty()
}

mod errors {
    pub fn any<E>(_: &E) -> bool {
        true
    }
}

#[circuit_breaker(classify = is_down)]
async fn a_function() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = outcome)]
fn of_outcome() -> Answer {
    Err(CallError::Call(PmsError::Busy(60)))
}

#[circuit_breaker(classify = any_error)]
async fn a_generic_function() -> Answer {
    Ok(1)
}

fn busier_than(limit: u64) -> impl Fn(&CallError<PmsError>) -> bool {
    move |error| matches!(error, CallError::Call(PmsError::Busy(seconds)) if *seconds > limit)
}

#[circuit_breaker(classify = busier_than(60))]
async fn a_call() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify_output = Result::is_err)]
fn a_method_of_the_output() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = errors::any::<CallError<PmsError>>)]
async fn a_path() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = |error| !matches!(error, CallError::Call(PmsError::NotFound)))]
async fn a_closure() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = |error: &CallError<PmsError>| -> bool { is_down(error) })]
async fn a_typed_closure() -> Answer {
    Ok(1)
}

#[circuit_breaker(classify = |_| strict)]
async fn over_a_parameter(strict: bool) -> Answer {
    Ok(u8::from(strict))
}

#[circuit_breaker(classify = |_| hotel.is_empty())]
async fn over_an_owned_parameter(hotel: String) -> Answer<usize> {
    Ok(hotel.len())
}

fn at_least(limit: u64) -> impl Fn(&CallError<PmsError>) -> bool {
    move |error| matches!(error, CallError::Call(PmsError::Busy(n)) if *n >= limit)
}

#[circuit_breaker(classify = at_least(5))]
async fn made_by_a_function() -> Answer {
    Ok(1)
}

struct Client;

impl Client {
    #[circuit_breaker(shared, classify = Self::is_down)]
    async fn associated(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(shared, classify = |error| self.counts(error))]
    async fn method(&mut self) -> Answer {
        Ok(1)
    }

    fn is_down(error: &CallError<PmsError>) -> bool {
        is_down(error)
    }

    fn counts(&self, error: &CallError<PmsError>) -> bool {
        is_down(error)
    }
}

fn main() {
    drop((a_function(), a_generic_function(), a_path(), a_closure()));
    drop((
        a_typed_closure(),
        over_a_parameter(true),
        made_by_a_function(),
    ));
    drop(over_an_owned_parameter(String::new()));
    drop((Client.associated(), Client.method()));
    assert!(matches!(of_outcome(), Err(CallError::Call(_))));
    assert!(matches!(of_outcome(), Err(CallError::Open(_))));
}
