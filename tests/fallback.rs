//! When a fallback runs, and what observers hear of it.

use breakerbox::observe::{self, FallbackServed, Observer};
use breakerbox::{
    CallError, Cause, Generation, InPlaceOf, Outcome, State, circuit_breaker, find, test,
};
use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

type Answer = Result<u32, CallError<&'static str>>;

const DOWN: Answer = Err(CallError::Call("down"));
const CACHED: Answer = Ok(1);

#[derive(Default)]
struct Served(Mutex<Vec<(String, InPlaceOf, Generation)>>);

impl Observer for Served {
    fn fallback_served(&self, event: &FallbackServed<'_>) {
        let name = event.breaker.to_owned();
        let served = (name, event.in_place_of, event.generation);
        self.0.lock().unwrap().push(served);
    }
}

/// What was heard since: it is about that breaker and of its generation.
fn heard(served: &Served, breaker: &str) -> Vec<InPlaceOf> {
    let generation = find(breaker).expect("was called").generation();
    let heard = std::mem::take(&mut *served.0.lock().unwrap());
    let one = |(name, in_place_of, of): (String, InPlaceOf, Generation)| {
        assert_eq!((name.as_str(), of), (breaker, generation));
        in_place_of
    };
    heard.into_iter().map(one).collect()
}

fn observed() -> (test::TestScope, Arc<Served>) {
    let scope = test::scope();
    let served = Arc::new(Served::default());
    observe::install(Arc::clone(&served)).forever();
    (scope, served)
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[circuit_breaker(name = "plain-rooms", threshold = 2, fallback = |_| CACHED)]
fn plain(answer: Answer) -> Answer {
    answer
}

#[test]
fn a_fallback_served_in_place_of_a_plain_call_is_reported() {
    let (_scope, served) = observed();
    assert_eq!(plain(Ok(7)), Ok(7));
    assert!(heard(&served, "plain-rooms").is_empty());
    // Of the second failure, by which it opens, too.
    for in_place_of in [InPlaceOf::Failed, InPlaceOf::Failed, InPlaceOf::Open] {
        assert_eq!(plain(DOWN), CACHED);
        assert_eq!(heard(&served, "plain-rooms"), [in_place_of]);
    }
    let open = find("plain-rooms").unwrap();
    assert_eq!((open.state(), open.generation().get()), (State::Open, 1));
}

#[circuit_breaker(
    name = "waiting-rooms",
    threshold = 3,
    timeout = "2s",
    fallback = |_| CACHED
)]
async fn waiting(answer: Option<Answer>) -> Answer {
    match answer {
        Some(answer) => answer,
        None => pending().await,
    }
}

#[test]
fn a_fallback_served_in_place_of_an_awaited_call_is_reported() {
    let (scope, served) = observed();
    assert_eq!(poll(pin!(waiting(Some(DOWN)))), Poll::Ready(CACHED));
    assert_eq!(heard(&served, "waiting-rooms"), [InPlaceOf::Failed]);
    for _ in 0..2 {
        let mut late = pin!(waiting(None));
        assert!(poll(late.as_mut()).is_pending());
        assert!(heard(&served, "waiting-rooms").is_empty());
        scope.advance(Duration::from_secs(2));
        assert_eq!(poll(late.as_mut()), Poll::Ready(CACHED));
        assert_eq!(heard(&served, "waiting-rooms"), [InPlaceOf::TimedOut]);
    }
    assert_eq!(poll(pin!(waiting(Some(Ok(7))))), Poll::Ready(CACHED));
    assert_eq!(heard(&served, "waiting-rooms"), [InPlaceOf::Open]);
}

#[circuit_breaker(name = "cold-cache", threshold = 1, fallback = |_| None)]
fn cold(answer: Answer) -> Answer {
    answer
}

#[test]
fn a_fallback_that_has_no_answer_is_not_reported() {
    let (_scope, served) = observed();
    assert_eq!(cold(DOWN), DOWN);
    assert!(matches!(cold(DOWN), Err(CallError::Open(_))));
    assert!(heard(&served, "cold-cache").is_empty());
}

fn as_dropped(_: &CallError<&'static str>) -> Outcome {
    Outcome::Dropped
}

#[circuit_breaker(name = "given-up", threshold = 1, classify = as_dropped, fallback = |_| CACHED)]
fn given_up(answer: Answer) -> Answer {
    answer
}

#[circuit_breaker(name = "given-up-later", threshold = 1, classify = as_dropped, fallback = |_| CACHED)]
async fn given_up_later(answer: Answer) -> Answer {
    answer
}

#[test]
fn what_counts_as_dropped_is_no_failure_and_passes_through() {
    let (_scope, served) = observed();
    assert_eq!(given_up(DOWN), DOWN);
    assert!(heard(&served, "given-up").is_empty());
    assert_eq!(poll(pin!(given_up_later(DOWN))), Poll::Ready(DOWN));
    assert!(heard(&served, "given-up-later").is_empty());
    for name in ["given-up", "given-up-later"] {
        assert_eq!(find(name).unwrap().state(), State::Closed);
    }
}

#[circuit_breaker(
    name = "given-up-counts",
    threshold = 1,
    on_cancel = failure,
    classify = as_dropped,
    fallback = |cause| match cause {
        Cause::Failed(failed) => {
            assert_eq!(*failed, DOWN);
            CACHED
        }
        _ => Ok(2),
    }
)]
fn given_up_counts(answer: Answer) -> Answer {
    answer
}

#[test]
fn what_counts_as_dropped_is_a_failure_where_cancelling_is_one() {
    let (_scope, served) = observed();
    assert_eq!(given_up_counts(DOWN), CACHED);
    assert_eq!(heard(&served, "given-up-counts"), [InPlaceOf::Failed]);
    assert_eq!(given_up_counts(Ok(7)), Ok(2));
    assert_eq!(heard(&served, "given-up-counts"), [InPlaceOf::Open]);
}
