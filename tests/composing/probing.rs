//! Many calls at the same time through a circuit that is half-open.

use super::{Answer, DOWN, Pms, PmsError, RESET, is_refused_beside_a_probe};
use breakerbox::{Breaker, CallError, ManualClock, Settings, State, circuit_breaker, test};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use tokio::sync::watch;
use tokio::task::JoinSet;

const CALLS: usize = 1_000;

/// Answers when the test says so.
async fn ask(pms: &Pms, mut ends: watch::Receiver<Option<bool>>) -> Result<u32, PmsError> {
    let up = ends.wait_for(Option::is_some).await.unwrap().unwrap();
    pms.request(up).await
}

#[circuit_breaker(breaker = breaker)]
async fn rooms(breaker: &Breaker, pms: &Pms, ends: watch::Receiver<Option<bool>>) -> Answer {
    ask(pms, ends).await.map_err(CallError::Call)
}

/// A thousand calls at once, half of them by hand; each is under way, or refused.
async fn calls(
    breaker: &Arc<Breaker>,
    pms: &Arc<Pms>,
    ends: &watch::Receiver<Option<bool>>,
) -> JoinSet<Answer> {
    let started = Arc::new(AtomicUsize::new(0));
    let mut calls = JoinSet::new();
    for call in 0..CALLS {
        let (breaker, pms, ends) = (breaker.clone(), pms.clone(), ends.clone());
        let started = started.clone();
        calls.spawn(async move {
            started.fetch_add(1, Ordering::Relaxed);
            match call % 2 {
                0 => rooms(&breaker, &pms, ends).await,
                _ => breaker.call(ask(&pms, ends)).await,
            }
        });
    }
    while started.load(Ordering::Relaxed) < CALLS {
        tokio::task::yield_now().await;
    }
    calls
}

/// The dependency answers when all have asked. How many came to it, and how many were refused
/// beside them.
async fn burst(breaker: &Arc<Breaker>, up: bool) -> (usize, usize) {
    let pms = Arc::new(Pms::default());
    let (end, ends) = watch::channel(None);
    let calls = calls(breaker, &pms, &ends).await;
    end.send(Some(up)).unwrap();
    let answers = calls.join_all().await;
    let answered = if up { Ok(7) } else { DOWN };
    let reached = answers.iter().filter(|answer| **answer == answered).count();
    let refused = answers
        .iter()
        .filter(|answer| is_refused_beside_a_probe(answer));
    assert_eq!(pms.requests(), u32::try_from(reached).unwrap());
    (reached, refused.count())
}

#[tokio::test]
async fn of_a_thousand_awaited_calls_as_many_get_through_as_there_are_probes() {
    for probes in [1, 3, 100] {
        let scope = test::scope();
        let settings = Settings::new().threshold(1).probes(probes);
        let breaker = Arc::new(Breaker::new("pms", settings.must()));
        let probes = usize::try_from(probes).unwrap();
        assert_eq!(burst(&breaker, false).await, (CALLS, 0), "closed");
        for _ in 0..3 {
            scope.advance(RESET);
            assert_eq!(burst(&breaker, false).await, (probes, CALLS - probes));
            assert_eq!(breaker.state(), State::Open);
        }
        assert_eq!(breaker.snapshot().reopenings, 3, "one a trial");
        scope.advance(RESET);
        assert_eq!(burst(&breaker, true).await, (probes, CALLS - probes));
        assert_eq!(breaker.state(), State::Closed);
        assert_eq!(burst(&breaker, true).await, (CALLS, 0));
    }
}

#[tokio::test]
async fn a_thousand_calls_that_are_dropped_together_leave_all_places_free() {
    let scope = test::scope();
    let breaker = Arc::new(Breaker::new(
        "pms",
        Settings::new().threshold(1).probes(3).must(),
    ));
    assert_eq!(burst(&breaker, false).await, (CALLS, 0));
    scope.advance(RESET);
    for _ in 0..10 {
        let pms = Arc::new(Pms::default());
        let (_end, ends) = watch::channel(None);
        let mut calls = calls(&breaker, &pms, &ends).await;
        calls.shutdown().await;
        assert_eq!(breaker.state(), State::HalfOpen);
    }
    assert_eq!(burst(&breaker, true).await, (3, CALLS - 3));
    assert_eq!(breaker.state(), State::Closed);
}

/// Plain calls, of threads that all ask at once; the probe ends when all others have their answer.
#[test]
fn of_plain_calls_of_many_threads_one_gets_through() {
    const THREADS: usize = 16;

    #[circuit_breaker(breaker = breaker)]
    fn rooms(
        breaker: &Breaker<&ManualClock>,
        request: impl FnOnce() -> Result<u32, PmsError>,
    ) -> Answer {
        request().map_err(CallError::Call)
    }

    let clock: &ManualClock = Box::leak(Box::new(ManualClock::new(0)));
    let settings = Settings::new().threshold(1).jitter(0.0);
    let breaker = Breaker::with_clock("pms", settings.must(), clock);
    assert_eq!(rooms(&breaker, || Err(PmsError::Down)), DOWN);
    for up in [false, true] {
        clock.advance(RESET);
        let together = Barrier::new(THREADS);
        let reached = AtomicU32::new(0);
        let (ended, endings) = channel();
        let endings = Mutex::new(endings);
        let request = || {
            if reached.fetch_add(1, Ordering::Relaxed) == 0 {
                let others = endings.lock().unwrap();
                others.iter().take(THREADS - 1).for_each(drop);
            }
            if up { Ok(7) } else { Err(PmsError::Down) }
        };
        let call = |thread| {
            together.wait();
            let answer = match thread % 2 {
                0 => rooms(&breaker, request),
                _ => breaker.call_sync(request),
            };
            ended.send(()).unwrap();
            let answered = if up { Ok(7) } else { DOWN };
            assert!(answer == answered || is_refused_beside_a_probe(&answer));
        };
        std::thread::scope(|threads| {
            for thread in 0..THREADS {
                let call = &call;
                threads.spawn(move || call(thread));
            }
        });
        assert_eq!(reached.load(Ordering::Relaxed), 1);
        assert_eq!(breaker.state() == State::Closed, up);
    }
}
