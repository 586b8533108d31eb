//! A `tokio::time::timeout` around a guarded call drops it: as a probe, in the pauses of a retry.

use super::{Answer, DOWN, Pms, RESET, THREE_TRIES, is_refused, stands};
use backon::Retryable;
use breakerbox::{Breaker, CallError, OnCancel, Settings, State, circuit_breaker, test};
use std::time::Duration;
use tokio::time::timeout;

/// Between the second try and the third.
const IN_A_PAUSE: Duration = Duration::from_millis(250);

#[circuit_breaker(name = "left-ignored", threshold = 2)]
async fn ignored(pms: &Pms, up: bool) -> Answer {
    let tries = || pms.request(up);
    tries.retry(THREE_TRIES).await.map_err(CallError::Call)
}

#[circuit_breaker(name = "left-counted", threshold = 2, on_cancel = failure)]
async fn counted(pms: &Pms, up: bool) -> Answer {
    let tries = || pms.request(up);
    tries.retry(THREE_TRIES).await.map_err(CallError::Call)
}

/// By default even a call whose tries all failed so far counts as nothing.
#[tokio::test(start_paused = true)]
async fn in_a_pause_of_the_retry_inside_it_counts_once_or_not_at_all() {
    let _scope = test::scope();
    let pms = Pms::default();
    for _ in 0..10 {
        assert!(timeout(IN_A_PAUSE, ignored(&pms, false)).await.is_err());
        assert_eq!(pms.requests(), 2);
        assert_eq!(stands("left-ignored"), (State::Closed, 0));
    }
    assert!(timeout(IN_A_PAUSE, counted(&pms, false)).await.is_err());
    assert_eq!(stands("left-counted"), (State::Closed, 1));
    assert!(timeout(IN_A_PAUSE, counted(&pms, false)).await.is_err());
    assert_eq!(stands("left-counted").0, State::Open);
    assert_eq!(pms.requests(), 4);
    let refused = timeout(IN_A_PAUSE, counted(&pms, true)).await;
    assert!(is_refused(&refused.expect("refused at once")));
}

/// Each try has settled by then; the pause is no call.
#[tokio::test(start_paused = true)]
async fn in_a_pause_of_the_retry_outside_nothing_is_left_to_count() {
    #[circuit_breaker(name = "left-outside", threshold = 5, on_cancel = failure)]
    async fn rooms(pms: &Pms) -> Answer {
        pms.request(false).await.map_err(CallError::Call)
    }

    let _scope = test::scope();
    let pms = Pms::default();
    let tries = || rooms(&pms);
    assert!(timeout(IN_A_PAUSE, tries.retry(THREE_TRIES)).await.is_err());
    assert_eq!(pms.requests(), 2);
    assert_eq!(stands("left-outside"), (State::Closed, 2));
}

#[tokio::test(start_paused = true)]
async fn as_a_probe_it_gives_its_place_back_or_reopens() {
    let scope = test::scope();
    let pms = Pms::default();
    for _ in 0..2 {
        assert_eq!(ignored(&pms, false).await, DOWN);
        assert_eq!(counted(&pms, false).await, DOWN);
    }
    scope.advance(RESET);
    for _ in 0..10 {
        assert!(timeout(IN_A_PAUSE, ignored(&pms, false)).await.is_err());
        assert_eq!(stands("left-ignored").0, State::HalfOpen);
    }
    assert_eq!(ignored(&pms, true).await, Ok(7));
    assert_eq!(stands("left-ignored").0, State::Closed);

    assert!(timeout(IN_A_PAUSE, counted(&pms, false)).await.is_err());
    assert_eq!(stands("left-counted").0, State::Open);
    assert!(is_refused(&counted(&pms, true).await));
}

#[tokio::test(start_paused = true)]
async fn by_hand_too() {
    let scope = test::scope();
    let settings = Settings::new().threshold(1);
    let ignores = Breaker::new("ignores", settings.must());
    let counts = Breaker::new("counts", settings.on_cancel(OnCancel::Failure).must());
    let pms = Pms::default();
    for _ in 0..10 {
        let late = timeout(IN_A_PAUSE, ignores.call(pms.hang())).await;
        assert!(late.is_err());
    }
    assert_eq!(ignores.state(), State::Closed);
    assert!(timeout(IN_A_PAUSE, counts.call(pms.hang())).await.is_err());
    assert_eq!(counts.state(), State::Open);

    assert_eq!(ignores.call(pms.request(false)).await, DOWN);
    scope.advance(RESET);
    for (breaker, left) in [(&ignores, State::HalfOpen), (&counts, State::Open)] {
        assert!(timeout(IN_A_PAUSE, breaker.call(pms.hang())).await.is_err());
        assert_eq!(breaker.state(), left);
    }
    assert_eq!(ignores.call(pms.request(true)).await, Ok(7));
}

/// The shorter of the two ends the call. The breaker's own counts, whatever `on_cancel` says.
#[tokio::test(start_paused = true)]
async fn around_a_shorter_timeout_of_the_breaker_it_has_nothing_to_do() {
    #[circuit_breaker(name = "left-shorter", threshold = 2, timeout = "2s")]
    async fn rooms(pms: &Pms) -> Answer {
        pms.hang().await.map_err(CallError::Call)
    }

    // No scope: `timeout` goes by tokio's clock.
    let pms = Pms::default();
    assert!(timeout(Duration::from_secs(1), rooms(&pms)).await.is_err());
    assert_eq!(stands("left-shorter"), (State::Closed, 0));
    for _ in 0..2 {
        let ended = timeout(Duration::from_secs(3), rooms(&pms)).await;
        assert!(matches!(ended, Ok(Err(CallError::TimedOut(_)))));
    }
    assert_eq!(stands("left-shorter").0, State::Open);
}
