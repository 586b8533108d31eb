//! A retry inside the guarded function: one call with one outcome, however many tries it takes.

use super::{Answer, DOWN, Pms, PmsError, Refusals, THREE_TRIES, is_refused, stands};
use backon::{BlockingRetryable, ExponentialBuilder, Retryable};
use breakerbox::{Breaker, CallError, Settings, State, circuit_breaker, observe, test};
use std::sync::atomic::Ordering;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn a_retry_inside_makes_one_call_of_three_tries() {
    #[circuit_breaker(threshold = 3)]
    async fn rooms(pms: &Pms, up: bool) -> Answer {
        let tries = || pms.request(up);
        tries.retry(THREE_TRIES).await.map_err(CallError::Call)
    }

    let scope = test::scope();
    let refusals = Refusals::default();
    let _installed = observe::install(refusals.clone());
    let pms = Pms::default();
    for _ in 0..3 {
        assert_eq!(rooms(&pms, false).await, DOWN);
    }
    assert_eq!(pms.requests(), 9, "three calls of three tries open it");
    for _ in 0..10 {
        assert!(is_refused(&rooms(&pms, true).await));
    }
    assert_eq!(pms.requests(), 0);
    assert_eq!(refusals.0.load(Ordering::Relaxed), 10, "each asked once");

    scope.advance(Duration::from_secs(30));
    assert_eq!(rooms(&pms, false).await, DOWN);
    assert_eq!(pms.requests(), 3, "so is a probe");
    assert!(is_refused(&rooms(&pms, true).await));
    scope.advance(Duration::from_secs(30));
    assert_eq!(rooms(&pms, true).await, Ok(7));
    assert_eq!(pms.requests(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_retry_inside_mends_is_no_failure() {
    #[circuit_breaker(threshold = 1)]
    async fn rooms(pms: &Pms) -> Answer {
        let tries = || {
            let third = pms.requests.load(Ordering::Relaxed) % 3 == 2;
            pms.request(third)
        };
        tries.retry(THREE_TRIES).await.map_err(CallError::Call)
    }

    let _scope = test::scope();
    let pms = Pms::default();
    for _ in 0..10 {
        assert_eq!(rooms(&pms).await, Ok(7));
    }
    assert_eq!(pms.requests(), 30);
}

/// The breaker's `timeout` bounds all tries together, whatever the retry allows.
#[tokio::test(start_paused = true)]
async fn a_timeout_covers_all_tries() {
    const MANY: ExponentialBuilder = ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(400))
        .with_factor(1.0)
        .with_max_times(1_000);

    #[circuit_breaker(threshold = 2, timeout = "1s")]
    async fn rooms(pms: &Pms) -> Answer {
        let tries = || pms.request(false);
        tries.retry(MANY).await.map_err(CallError::Call)
    }

    let pms = Pms::default();
    for _ in 0..2 {
        let started = tokio::time::Instant::now();
        assert!(matches!(rooms(&pms).await, Err(CallError::TimedOut(_))));
        let took = started.elapsed();
        assert!(
            (1_000..1_100).contains(&took.as_millis()),
            "{took:?} for a timeout of 1s"
        );
        assert_eq!(pms.requests(), 3, "at 0, 400 and 800 ms");
    }
    assert!(is_refused(&rooms(&pms).await));
    assert_eq!(pms.requests(), 0);
}

/// Tries of a call, of which the first so many fail.
fn fails_first(pms: &Pms, failing: u32) -> impl Fn() -> Result<u32, PmsError> {
    let from = pms.requests.load(Ordering::Relaxed);
    move || pms.request_plainly(pms.requests.load(Ordering::Relaxed) - from >= failing)
}

/// The four ways to guard three tries, of which the first so many fail.
mod ways {
    use super::*;

    #[circuit_breaker(name = "retried-async", threshold = 3)]
    pub(super) async fn awaited(pms: &Pms, failing: u32) -> Answer {
        let one = fails_first(pms, failing);
        let tries = async || one();
        tries.retry(THREE_TRIES).await.map_err(CallError::Call)
    }

    #[circuit_breaker(name = "retried-plain", threshold = 3)]
    pub(super) fn plain(pms: &Pms, failing: u32) -> Answer {
        let tries = fails_first(pms, failing).retry(THREE_TRIES);
        tries.sleep(|_| {}).call().map_err(CallError::Call)
    }

    pub(super) async fn awaited_by_hand(breaker: &Breaker, pms: &Pms, failing: u32) -> Answer {
        let one = fails_first(pms, failing);
        let tries = async || one();
        breaker.call(tries.retry(THREE_TRIES)).await
    }

    pub(super) fn plain_by_hand(breaker: &Breaker, pms: &Pms, failing: u32) -> Answer {
        let tries = fails_first(pms, failing).retry(THREE_TRIES);
        breaker.call_sync(|| tries.sleep(|_| {}).call())
    }
}

/// Two calls fail, with all their tries; one that succeeds at last ends the row; then it opens.
#[tokio::test(start_paused = true)]
async fn however_it_is_guarded_a_call_counts_by_how_its_last_try_ended() {
    const CALLS: [(u32, u32); 6] = [(3, 1), (3, 2), (2, 0), (3, 1), (3, 2), (3, 0)];

    let _scope = test::scope();
    let pms = Pms::default();
    let config = Settings::new().threshold(3).must();
    let by_hand = [(); 2].map(|()| Breaker::new("retried-by-hand", config));
    let in_a_row = |breaker: &Breaker| breaker.snapshot().consecutive;
    for (failing, counted) in CALLS {
        let expected = if failing < 3 { Ok(7) } else { DOWN };
        assert_eq!(ways::awaited(&pms, failing).await, expected);
        assert_eq!(ways::plain(&pms, failing), expected);
        let awaited = ways::awaited_by_hand(&by_hand[0], &pms, failing).await;
        assert_eq!(awaited, expected);
        let plain = ways::plain_by_hand(&by_hand[1], &pms, failing);
        assert_eq!(plain, expected);
        assert_eq!(pms.requests(), 12, "three of each");
        let all = [
            stands("retried-async").1,
            stands("retried-plain").1,
            in_a_row(&by_hand[0]),
            in_a_row(&by_hand[1]),
        ];
        assert_eq!(all, [counted; 4]);
    }
    for name in ["retried-async", "retried-plain"] {
        assert_eq!(stands(name).0, State::Open);
    }
    assert!(by_hand.iter().all(|one| one.state() == State::Open));
    assert!(is_refused(&ways::awaited(&pms, 0).await));
    assert!(is_refused(&ways::plain(&pms, 0)));
    assert!(is_refused(
        &ways::awaited_by_hand(&by_hand[0], &pms, 0).await
    ));
    assert!(is_refused(&ways::plain_by_hand(&by_hand[1], &pms, 0)));
    assert_eq!(pms.requests(), 0);
}

/// What `timeout` ends between two tries has made requests that failed, and is one failure.
#[tokio::test(start_paused = true)]
async fn a_timeout_in_a_pause_is_one_failure_and_the_last_of_its_tries() {
    #[circuit_breaker(name = "retried-late", threshold = 5, timeout = "250ms")]
    async fn rooms(pms: &Pms) -> Answer {
        let tries = || pms.request(false);
        tries.retry(THREE_TRIES).await.map_err(CallError::Call)
    }

    let pms = Pms::default();
    for counted in 1..5 {
        assert!(matches!(rooms(&pms).await, Err(CallError::TimedOut(_))));
        assert_eq!(pms.requests(), 2, "at 0 and 100 ms; the third were at 300");
        assert_eq!(stands("retried-late"), (State::Closed, counted));
    }
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(pms.requests(), 0);
    assert!(matches!(rooms(&pms).await, Err(CallError::TimedOut(_))));
    assert_eq!(stands("retried-late").0, State::Open);
}
