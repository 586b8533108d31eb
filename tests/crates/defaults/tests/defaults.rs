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

/// A function three times: bare, guarded, and guarded with a limit in time.
macro_rules! three_times {
    ($module:ident, $parameter:ident: $type:ty, $body:block) => {
        mod $module {
            use super::*;

            pub(super) async fn bare($parameter: $type) -> Answer $body

            #[circuit_breaker]
            pub(super) async fn guarded($parameter: $type) -> Answer $body

            #[circuit_breaker(timeout = "2s")]
            pub(super) async fn limited($parameter: $type) -> Answer $body
        }
    };
}

three_times!(waits, for_ever: bool, {
    if for_ever {
        pending::<()>().await;
    }
    Ok(1)
});
three_times!(a_number, rooms: u32, { Ok(std::hint::black_box(rooms)) });
three_times!(a_text, hotel: &str, { Ok(hotel.len() as u32) });
three_times!(owned, hotel: String, { Ok(hotel.len() as u32) });

/// What the guard adds to a future, in bytes: the figures to reach. Where a body is aligned to whole
/// words, whether there is a call at all takes one; and larger parameters count: they stand in the
/// function's own future as well as in the body's.
#[test]
fn a_guarded_future_is_not_much_larger() {
    macro_rules! adds {
        ($module:ident, $argument:expr, $word:expr) => {{
            let bare = size_of_val(&$module::bare($argument));
            let guarded = size_of_val(&$module::guarded($argument)) - bare;
            let limited = size_of_val(&$module::limited($argument)) - bare;
            println!(
                "{}: {bare} bytes bare, {guarded} more guarded, {limited} more with a limit",
                stringify!($module)
            );
            assert!(guarded <= 32 + $word && limited <= 152 + $word);
        }};
    }
    adds!(waits, false, 0);
    adds!(a_number, 1, 0);
    adds!(a_text, "", 8 + size_of::<&str>());
    adds!(owned, String::new(), 8 + size_of::<String>());
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
