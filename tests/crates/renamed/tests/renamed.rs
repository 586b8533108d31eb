//! The library by other names: every part of the expansion follows `crate = ..`.

#![deny(warnings)]

use async_trait::async_trait;
use circuits::{CallError, Outcome, State, breaker, circuit_breaker, find};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

type Answer = Result<u8, CallError<&'static str>>;

const DOWN: Answer = Err(CallError::Call("down"));

fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

breaker! {
    /// By its name in `Cargo.toml`.
    pub static PMS = { crate: circuits, threshold: 1 }

    /// Through another crate.
    pub static RATES = {
        crate: test_renamed::guards::inner,
        failure_rate: 0.5,
        window: 4,
        min_calls: 2,
    }
}

#[circuit_breaker(crate = circuits, breaker = PMS)]
fn of_a_static(answer: Answer) -> Answer {
    answer
}

#[circuit_breaker(
    crate = ::circuits,
    name = "renamed",
    failure_rate = 0.5,
    window = Duration::from_secs(10),
    min_calls = 1,
    reset = Duration::from_secs(5),
    slow = "1s",
    slow_rate = 1,
    on_cancel = failure,
    classify = |error: &CallError<&'static str>| match error {
        CallError::Call("down") => Outcome::Failure,
        _ => Outcome::Ignored,
    },
    timeout = "2s",
    fallback = cached,
    open_error = CallError::Open,
    timeout_error = CallError::TimedOut
)]
async fn with_everything(mut answer: Option<Answer>, name: String) -> Answer {
    match answer.take() {
        Some(answer) => answer,
        None => Ok(name.len().try_into().unwrap_or(u8::MAX)),
    }
}

async fn cached(_: Option<Answer>, _: String) -> Option<Answer> {
    None
}

#[circuit_breaker(crate = test_renamed::circuits, classify_output = Option::is_none, open_error = |_| None)]
fn through_another(answer: Option<u8>) -> Option<u8> {
    answer
}

struct Client;

#[async_trait]
trait Pms {
    async fn rooms(&self, answer: Answer) -> Answer;
}

#[async_trait]
impl Pms for Client {
    #[circuit_breaker(shared, crate = circuits, fallback = |_| None)]
    async fn rooms(&self, answer: Answer) -> Answer {
        answer
    }
}

#[test]
fn all_of_it_is_found() {
    let scope = circuits::test::scope();
    assert_eq!(of_a_static(DOWN), DOWN);
    assert!(matches!(of_a_static(Ok(1)), Err(CallError::Open(_))));
    assert_eq!(RATES.state(), State::Closed);

    let text = || "abc".to_owned();
    assert_eq!(poll_once(with_everything(None, text())), Poll::Ready(Ok(3)));
    let failed = poll_once(with_everything(Some(DOWN), text()));
    assert_eq!(failed, Poll::Ready(DOWN));
    assert_eq!(find("renamed").unwrap().state(), State::Open);
    scope.advance(Duration::from_secs(5));
    assert_eq!(poll_once(with_everything(None, text())), Poll::Ready(Ok(3)));
    assert_eq!(find("renamed").unwrap().state(), State::Closed);

    assert_eq!(through_another(Some(1)), Some(1));
    assert_eq!(poll_once(Client.rooms(Ok(4))), Poll::Ready(Ok(4)));
}
