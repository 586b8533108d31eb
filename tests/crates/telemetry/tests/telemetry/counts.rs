//! What is counted of calls, on a real page.

use crate::page::Exporter;
use breakerbox::observe::{self, MetricsObserver};
use breakerbox::{Breaker, CallError, LastGood, Served, Settings, circuit_breaker, test};
use std::time::Duration;

const RESET: Duration = Duration::from_secs(30);

type Answer = Result<u32, CallError<&'static str>>;

#[circuit_breaker(
    name = "pms",
    threshold = 2,
    reset = "30s",
    timeout = "2s",
    classify = |e: &CallError<&str>| !matches!(e, CallError::Call("not found")),
    fallback = |_| cached.then_some(Ok(1))
)]
async fn pms(answer: Option<Answer>, cached: bool) -> Answer {
    match answer {
        Some(answer) => answer,
        None => std::future::pending().await,
    }
}

#[tokio::test]
async fn an_outage_is_counted_to_the_call() {
    let scope = test::scope();
    let (exporter, recorder) = Exporter::start();
    let _installed = observe::install(MetricsObserver::to(recorder));

    pms(Some(Ok(7)), false).await.unwrap();
    let page = exporter.page().await;
    assert_eq!(page.value("breaker_state breaker=pms"), 0.0);
    assert_eq!(
        page.counted("breaker_calls_total"),
        [("breaker=pms,outcome=success", 1.0)]
    );
    // What has not happened yet is there, too: the rate of it begins at 0.
    for never in [
        "breaker_calls_total breaker=pms,outcome=rejected",
        "breaker_calls_total breaker=pms,outcome=timeout",
        "breaker_fallbacks_total breaker=pms,in_place_of=open",
        "breaker_late_outcomes_total breaker=pms",
        "breaker_probes_expired_total breaker=pms",
        "breaker_would_trip_total breaker=pms",
        "breaker_last_good_failed_total breaker=pms,step=store",
        "breaker_state_changes_total breaker=pms,from=closed,to=open,trigger=failures",
    ] {
        assert_eq!(page.value(never), 0.0);
    }

    let not_found = pms(Some(Err(CallError::Call("not found"))), true).await;
    assert_eq!(not_found, Err(CallError::Call("not found")));
    drop(Box::pin(pms(None, false)));
    let mut dropped = Box::pin(pms(None, false));
    let pending = std::future::poll_fn(|context| {
        std::task::Poll::Ready(dropped.as_mut().poll(context).is_pending())
    });
    assert!(pending.await);
    drop(dropped);
    assert_eq!(pms(Some(Err(CallError::Call("down"))), true).await, Ok(1));
    let (late, ()) = tokio::join!(pms(None, true), async {
        tokio::task::yield_now().await;
        scope.advance(Duration::from_secs(2));
    });
    assert_eq!(late, Ok(1));
    // It is open now.
    assert_eq!(pms(Some(Ok(7)), true).await, Ok(1));
    for _ in 0..3 {
        assert!(pms(Some(Ok(7)), false).await.is_err());
    }
    let page = exporter.page().await;
    assert_eq!(page.value("breaker_state breaker=pms"), 1.0);
    scope.advance(RESET);
    assert_eq!(pms(Some(Err(CallError::Call("down"))), true).await, Ok(1));
    scope.advance(RESET);
    pms(Some(Ok(7)), true).await.unwrap();

    let page = exporter.page().await;
    assert_eq!(page.value("breaker_state breaker=pms"), 0.0);
    assert_eq!(
        page.counted("breaker_calls_total"),
        [
            ("breaker=pms,outcome=dropped", 1.0),
            ("breaker=pms,outcome=failure", 2.0),
            ("breaker=pms,outcome=ignored", 1.0),
            ("breaker=pms,outcome=rejected", 4.0),
            ("breaker=pms,outcome=success", 2.0),
            ("breaker=pms,outcome=timeout", 1.0),
        ]
    );
    assert_eq!(
        page.counted("breaker_fallbacks_total"),
        [
            ("breaker=pms,in_place_of=failed", 2.0),
            ("breaker=pms,in_place_of=open", 1.0),
            ("breaker=pms,in_place_of=timed_out", 1.0),
        ]
    );
    assert_eq!(
        page.counted("breaker_state_changes_total"),
        [
            ("breaker=pms,from=closed,to=open,trigger=failures", 1.0),
            (
                "breaker=pms,from=half_open,to=closed,trigger=recovered",
                1.0
            ),
            (
                "breaker=pms,from=half_open,to=open,trigger=failed_probe",
                1.0
            ),
            ("breaker=pms,from=open,to=half_open,trigger=wait_over", 2.0),
        ]
    );
}

#[tokio::test]
async fn durations_are_in_seconds_and_by_outcome() {
    let scope = test::scope();
    let (exporter, recorder) = Exporter::start();
    let _installed = observe::install(MetricsObserver::to(recorder));
    let pms = Breaker::new("pms", Settings::new().must());
    for (millis, answer) in [(3, Ok(())), (40, Ok(())), (700, Err("down"))] {
        let _ = pms.call_sync(|| {
            scope.advance(Duration::from_millis(millis));
            answer
        });
    }
    let page = exporter.page().await;
    let of = |outcome, le: &str| {
        let labels = format!("breaker=pms,outcome={outcome},le={le}");
        page.value(&format!("breaker_call_duration_seconds {labels}"))
    };
    let success = ["0.001", "0.005", "0.025", "0.05", "inf"].map(|le| of("success", le));
    assert_eq!(success, [0.0, 1.0, 1.0, 2.0, 2.0]);
    assert_eq!([of("failure", "0.5"), of("failure", "1")], [0.0, 1.0]);
    let sum = page.value("breaker_call_duration_seconds_sum breaker=pms,outcome=success");
    assert!((sum - 0.043).abs() < 1e-9, "{sum}");
}

#[tokio::test]
async fn late_calls_lost_probes_panics_and_overloads() {
    let scope = test::scope();
    let (exporter, recorder) = Exporter::start();
    let _installed = observe::install(MetricsObserver::to(recorder));
    let settings = Settings::new().threshold(1).reset(RESET).jitter(0.0);
    let pms = Breaker::new("pms", settings.must());

    let late = pms.admit().unwrap();
    let _ = pms.admit().unwrap().overloaded(RESET);
    late.success();
    scope.advance(RESET);
    let hangs = pms.admit().unwrap();
    scope.advance(Duration::from_secs(60));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = pms.call_sync(|| -> Result<(), ()> { panic!("of the call") });
    }));
    assert!(panicked.is_err());
    drop(hangs);

    let page = exporter.page().await;
    assert_eq!(
        page.counted("breaker_calls_total"),
        [
            ("breaker=pms,outcome=dropped", 1.0),
            ("breaker=pms,outcome=overloaded", 1.0),
            ("breaker=pms,outcome=panicked", 1.0),
            ("breaker=pms,outcome=success", 1.0),
        ]
    );
    assert_eq!(page.value("breaker_late_outcomes_total breaker=pms"), 2.0);
    assert_eq!(page.value("breaker_probes_expired_total breaker=pms"), 1.0);
    let overloaded = "breaker=pms,from=closed,to=open,trigger=overloaded";
    let changes = format!("breaker_state_changes_total {overloaded}");
    assert_eq!(page.value(&changes), 1.0);
}

/// Can't be kept.
#[derive(Debug)]
struct Fleeting;

impl Clone for Fleeting {
    fn clone(&self) -> Self {
        panic!("not to be cloned")
    }
}

static LAST: LastGood<u64, Fleeting> = LastGood::new(Duration::from_secs(60));

#[circuit_breaker(name = "fleeting-count", last_good = LAST, last_good_key = hotel)]
fn fleeting(hotel: u64) -> Result<Served<Fleeting>, CallError<&'static str>> {
    let _ = hotel;
    Ok(Served::fresh(Fleeting))
}

#[tokio::test]
async fn answers_that_are_lost() {
    let _scope = test::scope();
    let (exporter, recorder) = Exporter::start();
    let _installed = observe::install(MetricsObserver::to(recorder));
    fleeting(7).unwrap();
    let page = exporter.page().await;
    assert_eq!(
        page.counted("breaker_last_good_failed_total"),
        [("breaker=fleeting-count,step=store", 1.0)]
    );
}
