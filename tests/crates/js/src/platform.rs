//! The clock and the timer themselves, and others in their place.

use breakerbox::{Breaker, CallError, Clock, DefaultClock, JsClock, JsTimer, ManualClock};
use breakerbox::{Settings, State, Timer, circuit_breaker, classify, test};
use core::time::Duration;
use http::header::{DATE, HeaderMap, RETRY_AFTER};
use js_sys::BigInt;
use wasm_bindgen::prelude::*;

/// The default clock's reading.
#[wasm_bindgen]
#[must_use]
pub fn now() -> u64 {
    DefaultClock::default().now()
}

/// Its resolution.
#[wasm_bindgen]
#[must_use]
pub fn resolution() -> u64 {
    JsClock.resolution()
}

/// Its entropy.
#[wasm_bindgen]
#[must_use]
pub fn entropy() -> Option<BigInt> {
    JsClock.entropy().map(BigInt::from)
}

/// How long an answer's `Retry-After` says to wait, in seconds.
#[wasm_bindgen(js_name = retryAfter)]
#[must_use]
pub fn retry_after(retry_after: &str, date: Option<String>) -> Option<f64> {
    let mut headers = HeaderMap::new();
    headers.insert(RETRY_AFTER, retry_after.parse().ok()?);
    if let Some(date) = date {
        headers.insert(DATE, date.parse().ok()?);
    }
    classify::retry_after(&headers).map(|wait| wait.as_secs_f64())
}

/// Waits so many nanoseconds; `u64::MAX`: as long as a `Duration` can be.
#[wasm_bindgen]
pub async fn sleep(nanos: u64) {
    let after = match nanos {
        u64::MAX => Duration::MAX,
        nanos => Duration::from_nanos(nanos),
    };
    JsTimer.sleep(after).await;
}

static CLOCK: ManualClock = ManualClock::new(0);
static OWN: Breaker<&ManualClock> = Breaker::with_clock(
    "own clock",
    Settings::new()
        .threshold(1)
        .reset(Duration::from_secs(30))
        .must(),
    &CLOCK,
);

#[circuit_breaker(breaker = OWN)]
fn by_own_clock(answer: Result<u32, CallError<u32>>) -> Result<u32, CallError<u32>> {
    answer
}

/// Whether a breaker with a clock of its own opens and closes by it.
#[wasm_bindgen(js_name = ownClock)]
#[must_use]
pub fn own_clock() -> bool {
    let failed = by_own_clock(Err(CallError::Call(500)));
    let refused = by_own_clock(Ok(1));
    CLOCK.advance(Duration::from_secs(30));
    let probe = by_own_clock(Ok(2));
    failed == Err(CallError::Call(500))
        && matches!(refused, Err(CallError::Open(_)))
        && probe == Ok(2)
        && OWN.state() == State::Closed
}

#[circuit_breaker(name = "in a scope", threshold = 1, reset = "30s", timeout = "5s")]
async fn in_scope(ready: bool) -> Result<u32, CallError<u32>> {
    if !ready {
        core::future::pending::<()>().await;
    }
    Ok(7)
}

/// Whether a test scope has a clock and a state of its own here.
#[wasm_bindgen(js_name = testScope)]
#[must_use]
pub fn test_scope() -> bool {
    use core::future::Future;
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};
    let scope = test::scope();
    let mut context = Context::from_waker(Waker::noop());
    let mut hangs = pin!(in_scope(false));
    let pending = hangs.as_mut().poll(&mut context).is_pending();
    scope.advance(Duration::from_secs(5));
    let late = hangs.as_mut().poll(&mut context);
    let refused = pin!(in_scope(true)).poll(&mut context);
    scope.advance(Duration::from_secs(30));
    let probe = pin!(in_scope(true)).poll(&mut context);
    pending
        && matches!(late, Poll::Ready(Err(CallError::TimedOut(_))))
        && matches!(refused, Poll::Ready(Err(CallError::Open(_))))
        && probe == Poll::Ready(Ok(7))
}
