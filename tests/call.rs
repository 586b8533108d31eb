//! Guarded calls through the public API: async and plain, ended in every way.

use breakerbox::{Breaker, CallError, Effect, OnCancel, Outcome, Settings, State, test};
use std::cell::Cell;
use std::future::{Future, pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const RESET: Duration = Duration::from_secs(30);

fn breaker(settings: Settings) -> Breaker {
    Breaker::new("pms", settings.must())
}

fn tripping_at_once() -> Breaker {
    breaker(Settings::new().threshold(1).reset(RESET))
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn poll_to_end<F: Future>(future: F) -> F::Output {
    match poll(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("still pending"),
    }
}

fn fail(breaker: &Breaker) {
    assert_eq!(
        breaker.call_sync(|| Err::<(), _>("down")),
        Err(CallError::Call("down"))
    );
}

/// Opens the breaker, and lets its wait pass.
fn ready_to_probe(scope: &test::TestScope, settings: Settings) -> Breaker {
    let breaker = breaker(settings.threshold(1).reset(RESET));
    fail(&breaker);
    scope.advance(RESET);
    breaker
}

#[test]
fn a_result_passes_through_untouched() {
    let _scope = test::scope();
    let pms = tripping_at_once();
    assert_eq!(poll_to_end(pms.call(ready(Ok::<_, &str>(3)))), Ok(3));
    assert_eq!(pms.call_sync(|| Ok::<_, &str>(3)), Ok(3));
    assert_eq!(
        poll_to_end(pms.call(ready(Err::<u8, _>("down")))),
        Err(CallError::Call("down"))
    );
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn an_open_breaker_does_not_run_the_call() {
    let _scope = test::scope();
    let pms = tripping_at_once();
    fail(&pms);
    let run = Cell::new(false);
    let refused = pms.call_sync(|| {
        run.set(true);
        Ok::<_, &str>(())
    });
    let Err(CallError::Open(open)) = refused else {
        panic!("not refused: {refused:?}")
    };
    assert_eq!(open.retry_after(), Some(RESET));
    let refused = poll_to_end(pms.call(async {
        run.set(true);
        Ok::<_, &str>(())
    }));
    assert!(matches!(refused, Err(CallError::Open(_))));
    assert!(!run.get());
}

#[test]
fn only_what_the_classifier_says_counts() {
    let _scope = test::scope();
    let pms = tripping_at_once();
    let counts = |error: &&str| *error == "down";
    let ignored = pms.classify(counts).call_sync(|| Err::<(), _>("not found"));
    assert_eq!(ignored, Err(CallError::Call("not found")));
    let ignored = poll_to_end(pms.call(ready(Err::<(), _>("not found"))).classify(counts));
    assert_eq!(ignored, Err(CallError::Call("not found")));
    assert_eq!(pms.state(), State::Closed);
    let _ = poll_to_end(pms.classify(counts).call(ready(Err::<(), _>("down"))));
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn a_classifier_may_give_an_outcome() {
    let _scope = test::scope();
    let pms = breaker(Settings::new().threshold(5));
    let asked_to_wait = |_: &&str| Outcome::Overloaded(Duration::from_secs(7));
    let _ = pms
        .classify(asked_to_wait)
        .call_sync(|| Err::<(), _>("429"));
    assert_eq!(pms.snapshot().time_left, Duration::from_secs(7));
}

#[test]
fn a_future_that_was_never_polled_was_never_a_call() {
    let scope = test::scope();
    let settings = Settings::new().on_cancel(OnCancel::Failure);
    let pms = breaker(settings.threshold(1));
    drop(pms.call(pending::<Result<(), &str>>()));
    assert_eq!(pms.state(), State::Closed);

    let pms = ready_to_probe(&scope, settings);
    drop(pms.call(pending::<Result<(), &str>>()));
    assert_eq!(pms.state(), State::Open, "no probe was admitted");
}

#[test]
fn a_future_dropped_between_polls_is_neutral_unless_cancelling_is_a_failure() {
    let _scope = test::scope();
    for (on_cancel, state) in [
        (OnCancel::Ignore, State::Closed),
        (OnCancel::Failure, State::Open),
    ] {
        let pms = breaker(Settings::new().threshold(1).on_cancel(on_cancel));
        {
            let mut call = pin!(pms.call(pending::<Result<(), &str>>()));
            assert!(poll(call.as_mut()).is_pending());
            assert!(poll(call.as_mut()).is_pending());
        }
        assert_eq!(pms.state(), state, "{on_cancel:?}");
    }
}

#[test]
fn a_future_dropped_after_it_ended_counts_once() {
    let _scope = test::scope();
    let pms = breaker(Settings::new().threshold(2).on_cancel(OnCancel::Failure));
    {
        let mut call = pin!(pms.call(ready(Err::<(), _>("down"))));
        assert!(poll(call.as_mut()).is_ready());
    }
    assert_eq!(pms.snapshot().consecutive, 1);
}

#[test]
fn a_probe_dropped_gives_its_slot_back() {
    let scope = test::scope();
    let pms = ready_to_probe(&scope, Settings::new());
    {
        let mut probe = pin!(pms.call(pending::<Result<(), &str>>()));
        assert!(poll(probe.as_mut()).is_pending());
        assert_eq!(pms.state(), State::HalfOpen);
        assert!(pms.admit().is_err(), "one probe at a time");
    }
    assert_eq!(pms.state(), State::HalfOpen);
    assert_eq!(pms.call_sync(|| Ok::<_, &str>(1)), Ok(1));
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn a_probe_that_never_ends_is_replaced_and_comes_late() {
    let scope = test::scope();
    let pms = ready_to_probe(&scope, Settings::new());
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let mut stuck = pin!(pms.call(async {
        let _ = ended.await;
        Err::<(), _>("at last")
    }));
    assert!(poll(stuck.as_mut()).is_pending());
    scope.advance(Duration::from_secs(60));
    assert_eq!(pms.call_sync(|| Ok::<_, &str>(1)), Ok(1));
    assert_eq!(pms.state(), State::Closed);
    end.send(()).unwrap();
    assert_eq!(
        poll(stuck.as_mut()),
        Poll::Ready(Err(CallError::Call("at last")))
    );
    assert_eq!(pms.state(), State::Closed, "a late failure changes nothing");
}

#[test]
fn a_panic_counts_as_a_failure_and_goes_on() {
    let _scope = test::scope();
    let sync = tripping_at_once();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        sync.call_sync(|| -> Result<(), &str> { panic!("in the call") })
    }));
    assert!(panicked.is_err());
    assert_eq!(sync.state(), State::Open);

    let asynchronous = tripping_at_once();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        poll_to_end(asynchronous.call(async { panic!("in the call") as Result<(), &str> }))
    }));
    assert!(panicked.is_err());
    assert_eq!(asynchronous.state(), State::Open);
}

#[test]
fn a_classifier_that_panics_loses_no_slot() {
    let scope = test::scope();
    for probing in [false, true] {
        let pms = if probing {
            ready_to_probe(&scope, Settings::new())
        } else {
            tripping_at_once()
        };
        let panicking = |_: &&str| -> bool { panic!("in the classifier") };
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            pms.classify(panicking).call_sync(|| Err::<(), _>("down"))
        }));
        assert!(panicked.is_err());
        assert_eq!(
            pms.state(),
            State::Open,
            "counted as a failure, probing: {probing}"
        );
        scope.advance(RESET);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            poll_to_end(pms.call(ready(Err::<(), _>("down"))).classify(panicking))
        }));
        assert!(panicked.is_err());
        scope.advance(RESET);
        assert_eq!(
            pms.call_sync(|| Ok::<_, &str>(1)),
            Ok(1),
            "the slot is free again"
        );
    }
}

/// Makes calls while another panic unwinds.
struct CallsInDestructor<'a>(&'a dyn Fn());

impl Drop for CallsInDestructor<'_> {
    fn drop(&mut self) {
        assert!(std::thread::panicking());
        (self.0)();
    }
}

fn while_unwinding(calls: impl Fn()) {
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _calls = CallsInDestructor(&calls);
        panic!("somewhere else");
    }));
    assert!(unwound.is_err());
}

#[test]
fn a_call_in_a_destructor_that_runs_while_unwinding_counts_as_what_it_was() {
    let _scope = test::scope();
    let succeeding = tripping_at_once();
    while_unwinding(|| assert_eq!(succeeding.call_sync(|| Ok::<_, &str>(1)), Ok(1)));
    assert_eq!(succeeding.state(), State::Closed);

    let dropped = tripping_at_once();
    while_unwinding(|| {
        let mut call = pin!(dropped.call(pending::<Result<(), &str>>()));
        assert!(poll(call.as_mut()).is_pending());
    });
    assert_eq!(dropped.state(), State::Closed, "dropped, not panicked");

    let panicking = tripping_at_once();
    while_unwinding(|| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            panicking
                .classify(|_: &&str| -> bool { panic!("in the classifier") })
                .call_sync(|| Err::<(), _>("down"))
        }));
        assert!(caught.is_err());
    });
    assert_eq!(panicking.state(), State::Open);
}

#[test]
fn a_guarded_future_dropped_by_an_unwinding_caller_was_dropped_and_did_not_panic() {
    let _scope = test::scope();
    let pms = tripping_at_once();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let mut call = pin!(pms.call(pending::<Result<(), &str>>()));
        assert!(poll(call.as_mut()).is_pending());
        panic!("in the caller");
    }));
    assert!(unwound.is_err());
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn past_its_timeout_a_call_is_dropped_and_counts() {
    let scope = test::scope();
    let pms = tripping_at_once();
    let limit = Duration::from_secs(2);
    let mut call = pin!(pms.call(pending::<Result<(), &str>>()).timeout(limit));
    assert!(poll(call.as_mut()).is_pending());
    scope.advance(limit - Duration::from_nanos(1));
    assert!(poll(call.as_mut()).is_pending());
    scope.advance(Duration::from_nanos(1));
    let Poll::Ready(Err(CallError::TimedOut(timed_out))) = poll(call.as_mut()) else {
        panic!("not timed out");
    };
    assert_eq!(timed_out.after(), limit);
    assert_eq!(timed_out.name(), "pms");
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn an_answer_at_the_last_moment_beats_the_timeout() {
    let scope = test::scope();
    let pms = tripping_at_once();
    let (answer, answered) = tokio::sync::oneshot::channel();
    let limit = Duration::from_secs(2);
    let mut call = pin!(
        pms.call(async { answered.await.map_err(|_| "no answer") })
            .timeout(limit)
    );
    assert!(poll(call.as_mut()).is_pending());
    answer.send(7).unwrap();
    scope.advance(limit);
    assert_eq!(poll(call.as_mut()), Poll::Ready(Ok(7)));
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn a_timeout_beyond_the_probe_timeout_is_cut_to_it() {
    let scope = test::scope();
    let probe_timeout = Duration::from_secs(5);
    let pms = breaker(Settings::new().threshold(1).probe_timeout(probe_timeout));
    let mut call = pin!(
        pms.call(pending::<Result<(), &str>>())
            .timeout(Duration::from_secs(3_600))
    );
    assert!(poll(call.as_mut()).is_pending());
    scope.advance(probe_timeout);
    assert!(matches!(
        poll(call.as_mut()),
        Poll::Ready(Err(CallError::TimedOut(_)))
    ));
}

#[tokio::test(start_paused = true)]
async fn outside_a_scope_the_timeout_is_the_runtimes() {
    let pms = tripping_at_once();
    let limit = Duration::from_millis(250);
    let before = tokio::time::Instant::now();
    let ended = pms.call(pending::<Result<(), &str>>()).timeout(limit).await;
    assert!(matches!(ended, Err(CallError::TimedOut(_))));
    // Tokio's timer has a resolution of a millisecond and never ends early.
    assert!(before.elapsed() >= limit);
    assert_eq!(pms.state(), State::Open);
}

#[tokio::test]
async fn a_sleeping_call_is_woken_by_the_scopes_clock() {
    let scope = test::scope();
    let pms = tripping_at_once();
    let limit = Duration::from_secs(2);
    let call = pms.call(pending::<Result<(), &str>>()).timeout(limit);
    let passing = async {
        tokio::task::yield_now().await;
        scope.advance(limit);
    };
    let (ended, ()) = tokio::join!(call, passing);
    assert!(matches!(ended, Err(CallError::TimedOut(_))));
}

#[test]
fn a_guarded_future_is_send_exactly_when_the_body_is() {
    fn send<T: Send>(_: &T) {}
    let pms = tripping_at_once();
    send(
        &pms.call(ready(Ok::<_, &str>(())))
            .timeout(Duration::from_secs(1)),
    );

    trait NotSend<A> {
        fn check(&self) {}
    }
    impl<T> NotSend<()> for T {}
    impl<T: Send> NotSend<u8> for T {}
    // Ambiguous, and so an error of the compiler, if this were `Send`.
    NotSend::check(&holds_an_rc(&pms));
}

fn holds_an_rc(pms: &Breaker) -> impl Future<Output = Result<(), CallError<()>>> {
    pms.call(async {
        let here = std::rc::Rc::new(());
        ready(()).await;
        drop(here);
        Ok(())
    })
}

#[test]
fn a_permit_settles_once_and_says_what_that_did() {
    let scope = test::scope();
    let pms = breaker(Settings::new().threshold(2).reset(RESET));
    assert_eq!(pms.admit().unwrap().success(), Effect::Counted);
    assert_eq!(pms.admit().unwrap().ignore(), Effect::Neutral);
    let late = pms.admit().unwrap();
    assert_eq!(pms.admit().unwrap().failure(), Effect::Counted);
    assert!(matches!(pms.admit().unwrap().failure(), Effect::Tripped(_)));
    assert_eq!(late.success(), Effect::Late);
    scope.advance(RESET);
    let probe = pms.admit().unwrap();
    assert_eq!(probe.generation(), pms.generation());
    assert!(matches!(probe.success(), Effect::Closed(_)));
}

#[test]
fn a_permit_dropped_by_a_panic_counts_as_panicked() {
    let _scope = test::scope();
    let pms = tripping_at_once();
    drop(pms.admit().unwrap());
    assert_eq!(pms.state(), State::Closed);
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _permit = pms.admit().unwrap();
        panic!("between permit and outcome");
    }));
    assert!(unwound.is_err());
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn a_permit_dropped_in_a_destructor_while_unwinding_was_just_dropped() {
    let _scope = test::scope();
    let pms = tripping_at_once();
    while_unwinding(|| drop(pms.admit().unwrap()));
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn a_permit_takes_an_explicit_time() {
    let second = 1_000_000_000;
    let pms = breaker(Settings::new().threshold(1).reset(RESET).jitter(0.0));
    let permit = pms.admit_at(5 * second).unwrap();
    assert!(matches!(
        permit.settle_at(Outcome::Failure, 7 * second),
        Effect::Tripped(_)
    ));
    let refused = pms.admit_at(10 * second).unwrap_err();
    assert_eq!(refused.retry_after(), Some(Duration::from_secs(27)));
    assert!(pms.admit_at(37 * second - 1).is_err());
    assert!(pms.admit_at(37 * second).is_ok());
}

#[test]
fn a_clock_that_steps_back_holds_nothing_open_longer_than_its_wait() {
    let hour = 3_600_000_000_000;
    let pms = breaker(Settings::new().threshold(1).reset(RESET).jitter(0.0));
    pms.admit_at(hour)
        .unwrap()
        .settle_at(Outcome::Failure, hour);
    let refused = pms.admit_at(0).unwrap_err();
    assert_eq!(refused.retry_after(), Some(RESET));
    let wait = u64::try_from(RESET.as_nanos()).unwrap();
    assert!(pms.admit_at(wait - 1).is_err());
    assert!(pms.admit_at(wait).is_ok());
}
