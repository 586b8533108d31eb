//! The code that runs where the feature `test-util` is not turned on.

use allocation_counter::measure;
use breakerbox::{Breaker, CallError, Effect, ManualClock, Settings, State, circuit_breaker};
use std::future::{Future, pending, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const RESET: Duration = Duration::from_secs(30);

type Pms = Breaker<&'static ManualClock>;
type Answer = Result<u32, CallError<&'static str>>;

/// A breaker and its clock, for one test.
fn breaker() -> (Pms, &'static ManualClock) {
    let clock: &ManualClock = Box::leak(Box::default());
    let settings = Settings::new().threshold(1).reset(RESET);
    (Breaker::with_clock("pms", settings.must(), clock), clock)
}

fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

#[circuit_breaker(breaker = pms, timeout = "2s", fallback = Some(Ok(7)))]
async fn rooms(pms: &Pms, answer: Answer) -> Answer {
    ready(()).await;
    answer
}

#[circuit_breaker(breaker = pms, timeout = "2s")]
async fn hangs(pms: &Pms) -> Answer {
    pending().await
}

#[circuit_breaker]
async fn of_its_own(answer: Answer) -> Answer {
    answer
}

#[circuit_breaker]
async fn waits(for_ever: bool) -> Answer {
    if for_ever {
        pending::<()>().await;
    }
    Ok(1)
}

async fn waits_bare(for_ever: bool) -> Answer {
    if for_ever {
        pending::<()>().await;
    }
    Ok(1)
}

#[test]
fn it_trips_serves_and_recovers() {
    let (pms, clock) = breaker();
    assert_eq!(poll_once(rooms(&pms, Ok(3))), Poll::Ready(Ok(3)));
    assert_eq!(
        poll_once(rooms(&pms, Err(CallError::Call("down")))),
        Poll::Ready(Ok(7))
    );
    assert_eq!(pms.state(), State::Open);
    assert_eq!(
        poll_once(rooms(&pms, Ok(3))),
        Poll::Ready(Ok(7)),
        "refused: the last good one"
    );
    clock.advance(RESET);
    assert_eq!(
        poll_once(rooms(&pms, Ok(3))),
        Poll::Ready(Ok(3)),
        "the probe"
    );
    assert_eq!(pms.state(), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn the_timeout_is_tokios() {
    let (pms, _) = breaker();
    let before = tokio::time::Instant::now();
    assert!(matches!(hangs(&pms).await, Err(CallError::TimedOut(_))));
    assert!(before.elapsed() >= Duration::from_secs(2));
    assert_eq!(pms.state(), State::Open);
    assert!(matches!(hangs(&pms).await, Err(CallError::Open(_))));
}

#[test]
fn a_probe_dropped_gives_its_slot_back() {
    let (pms, clock) = breaker();
    assert!(matches!(pms.admit().unwrap().failure(), Effect::Tripped(_)));
    clock.advance(RESET);
    {
        let mut probe = pin!(pms.call(pending::<Result<(), ()>>()));
        assert!(
            probe
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        assert!(pms.admit().is_err());
    }
    assert!(matches!(pms.admit().unwrap().success(), Effect::Closed(_)));
}

#[test]
fn no_call_allocates_after_the_first() {
    let (pms, _) = breaker();
    drop(pms.admit());
    let _ = poll_once(of_its_own(Ok(1)));
    let allocated = measure(|| {
        let _ = poll_once(of_its_own(Ok(1)));
        let _ = poll_once(of_its_own(Err(CallError::Call("down"))));
        let _ = poll_once(rooms(&pms, Ok(3)));
        let _ = poll_once(rooms(&pms, Err(CallError::Call("down"))));
        let _ = poll_once(rooms(&pms, Ok(3)));
        let _ = pms.call_sync(|| Ok::<_, ()>(1));
    });
    assert_eq!(allocated.count_total, 0);
}

#[circuit_breaker(timeout = "2s")]
async fn waits_limited(for_ever: bool) -> Answer {
    if for_ever {
        pending::<()>().await;
    }
    Ok(1)
}

/// What the guard adds to a future, in bytes: the figures to reach.
#[test]
fn a_guarded_future_is_not_much_larger() {
    let bare = size_of_val(&waits_bare(false));
    let guarded = size_of_val(&waits(false));
    assert!(guarded <= bare + 32, "{bare} bytes bare, {guarded} guarded");
    let limited = size_of_val(&waits_limited(false));
    assert!(
        limited <= bare + 152,
        "{bare} bytes bare, {limited} with a limit"
    );
}

#[test]
fn breakers_are_found_from_their_first_call_on() {
    #[circuit_breaker(name = "found")]
    fn found() -> Answer {
        Ok(1)
    }
    assert!(breakerbox::find("found").is_none());
    assert_eq!(found(), Ok(1));
    assert_eq!(breakerbox::find("found").unwrap().state(), State::Closed);
}
