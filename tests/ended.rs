//! Guarded futures that have ended: what they hold, and what another poll does.

use breakerbox::{Breaker, CallError, OnCancel, Settings, State, test};
use std::cell::Cell;
use std::future::{Future, pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const RESET: Duration = Duration::from_secs(30);
const LIMIT: Duration = Duration::from_secs(2);

fn breaker(settings: Settings) -> Breaker {
    Breaker::new("pms", settings.reset(RESET).must())
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn panics<F: Future>(future: Pin<&mut F>) -> bool {
    catch_unwind(AssertUnwindSafe(|| poll(future))).is_err()
}

/// Does something when it is dropped.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn after_its_body_panicked_it_panics_again_and_counts_once() {
    let _scope = test::scope();
    let pms = breaker(Settings::new().threshold(2));
    let polls = Cell::new(0);
    {
        let mut call = pin!(pms.call(std::future::poll_fn(|_| {
            polls.set(polls.get() + 1);
            panic!("in the body") as Poll<Result<(), &str>>
        })));
        assert!(panics(call.as_mut()));
        assert!(panics(call.as_mut()));
        assert!(panics(call.as_mut()));
    }
    assert_eq!(polls.get(), 1);
    assert_eq!(pms.snapshot().consecutive, 1);
}

#[test]
fn after_its_classifier_panicked_it_panics_again_and_counts_once() {
    let _scope = test::scope();
    let pms = breaker(Settings::new().threshold(2));
    let call = pms.call(ready(Err::<(), _>("down")));
    let mut call = pin!(call.classify(|_| -> bool { panic!("in the classifier") }));
    assert!(panics(call.as_mut()));
    assert!(panics(call.as_mut()));
    assert_eq!(pms.snapshot().consecutive, 1);
}

#[test]
fn after_it_was_refused_it_panics_and_admits_nothing() {
    let scope = test::scope();
    let pms = breaker(Settings::new().threshold(1).on_cancel(OnCancel::Failure));
    pms.open_for(RESET);
    let run = Cell::new(false);
    {
        let mut call = pin!(pms.call(async {
            run.set(true);
            Ok::<_, &str>(())
        }));
        assert!(matches!(
            poll(call.as_mut()),
            Poll::Ready(Err(CallError::Open(_)))
        ));
        // Now a call would be admitted.
        scope.advance(RESET);
        assert!(panics(call.as_mut()));
    }
    assert!(!run.get());
    assert_eq!(pms.state(), State::Open, "no probe was admitted");
}

#[test]
fn a_refused_call_holds_nothing_any_more() {
    let _scope = test::scope();
    let pms = breaker(Settings::new());
    pms.force_open();
    let dropped = Cell::new(false);
    let held = OnDrop(|| dropped.set(true));
    let mut call = pin!(pms.call(async move {
        let _held = held;
        pending::<Result<(), &str>>().await
    }));
    assert!(poll(call.as_mut()).is_ready());
    assert!(dropped.get());
}

#[test]
fn after_its_answer_it_panics_and_counts_once() {
    let _scope = test::scope();
    let pms = breaker(Settings::new().threshold(2).on_cancel(OnCancel::Failure));
    {
        let mut call = pin!(pms.call(std::future::poll_fn(|_| {
            Poll::Ready(Err::<(), _>("down"))
        })));
        assert!(poll(call.as_mut()).is_ready());
        assert!(panics(call.as_mut()));
    }
    assert_eq!(pms.snapshot().consecutive, 1);
}

#[test]
fn after_its_timeout_it_panics_and_counts_once() {
    let scope = test::scope();
    let pms = breaker(Settings::new().threshold(2).on_cancel(OnCancel::Failure));
    {
        let mut call = pin!(pms.call(pending::<Result<(), &str>>()).timeout(LIMIT));
        assert!(poll(call.as_mut()).is_pending());
        scope.advance(LIMIT);
        assert!(poll(call.as_mut()).is_ready());
        assert!(panics(call.as_mut()));
    }
    assert_eq!(pms.snapshot().consecutive, 1);
}

/// A body that says, when it is dropped, how its breaker stands: the state, and
/// whether it takes another call.
async fn looks_when_dropped(
    pms: &Breaker,
    seen: &Cell<Option<(State, bool)>>,
) -> Result<(), &'static str> {
    let _looking = OnDrop(|| seen.set(Some((pms.state(), pms.admit().is_ok()))));
    pending().await
}

fn probing(scope: &test::TestScope) -> Breaker {
    let pms = breaker(Settings::new().threshold(1));
    let _ = pms.call_sync(|| Err::<(), _>("down"));
    scope.advance(RESET);
    pms
}

#[test]
fn past_its_timeout_a_probe_is_over_before_its_slot_is_free() {
    let scope = test::scope();
    let (pms, seen) = (probing(&scope), Cell::new(None));
    let mut probe = pin!(pms.call(looks_when_dropped(&pms, &seen)).timeout(LIMIT));
    assert!(poll(probe.as_mut()).is_pending());
    scope.advance(LIMIT);
    assert!(matches!(
        poll(probe.as_mut()),
        Poll::Ready(Err(CallError::TimedOut(_)))
    ));
    assert_eq!(seen.get(), Some((State::HalfOpen, false)));
    assert_eq!(pms.state(), State::Open, "it counts as a failure");
}

#[test]
fn a_probe_that_is_dropped_is_over_before_its_slot_is_free() {
    let scope = test::scope();
    let (pms, seen) = (probing(&scope), Cell::new(None));
    {
        let mut probe = pin!(pms.call(looks_when_dropped(&pms, &seen)));
        assert!(poll(probe.as_mut()).is_pending());
    }
    assert_eq!(seen.get(), Some((State::HalfOpen, false)));
    assert!(pms.admit().is_ok());
}

#[test]
fn a_body_that_panics_while_its_timeout_drops_it_loses_no_slot() {
    let scope = test::scope();
    let pms = probing(&scope);
    {
        let mut probe = pin!(
            pms.call(async {
                let _panics = OnDrop(|| panic!("in a destructor"));
                pending::<Result<(), &str>>().await
            })
            .timeout(LIMIT)
        );
        assert!(poll(probe.as_mut()).is_pending());
        scope.advance(LIMIT);
        assert!(panics(probe.as_mut()));
        assert_eq!(pms.state(), State::Open, "counted");
        assert!(panics(probe.as_mut()));
    }
    assert_eq!(pms.snapshot().reopenings, 1, "once");
    scope.advance(RESET);
    assert!(pms.admit().is_ok());
}
