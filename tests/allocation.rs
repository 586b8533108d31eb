//! No path of a call allocates.

use allocation_counter::measure;
use breakerbox::observe::{self, Observer, Rejection, StateChange};
use breakerbox::{
    Breaker, CallError, CircuitOpenError, Config, Settings, State, Timer, circuit_breaker,
};
use std::future::{Future, Ready, pending, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

fn allocations(call: impl FnOnce()) -> u64 {
    measure(call).count_total
}

fn poll_once(future: impl Future) {
    let _ = pin!(future).poll(&mut Context::from_waker(Waker::noop()));
}

type Answer = Result<u32, CallError<&'static str>>;

const DOWN: Answer = Err(CallError::Call("down"));

#[circuit_breaker]
async fn bare(answer: Answer) -> Answer {
    answer
}

fn cached(_: &Answer) -> Option<Answer> {
    Some(Ok(1))
}

#[circuit_breaker(threshold = 1_000_000, classify = |_| true, timeout = "2s", fallback = cached)]
async fn everything(answer: &Answer) -> Answer {
    ready(()).await;
    answer.clone()
}

#[circuit_breaker(fallback = |_| None)]
fn plain(answer: Answer) -> Answer {
    answer
}

#[test]
fn an_allocation_would_be_seen() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn annotated_functions_allocate_nothing_after_their_first_call() {
    poll_once(bare(Ok(1)));
    poll_once(everything(&Ok(1)));
    let _ = plain(Ok(1));
    for answer in [Ok(1), DOWN] {
        assert_eq!(allocations(|| poll_once(bare(answer.clone()))), 0);
        assert_eq!(allocations(|| poll_once(everything(&answer))), 0);
        assert_eq!(allocations(|| drop(plain(answer.clone()))), 0);
    }
}

#[test]
fn every_way_a_call_can_end_allocates_nothing() {
    let settings = Settings::new()
        .threshold(1)
        .reset(Duration::from_nanos(1))
        .jitter(0.0);
    let pms = Breaker::new("pms", settings.must());
    drop(pms.admit());
    let second = 1_000_000_000;
    let ended = allocations(|| {
        for round in 0..100_u64 {
            let now = round * second;
            let _ = pms.admit_at(now).map(|permit| permit.failure());
            let refused: Result<(), CircuitOpenError> = pms.admit_at(now).map(drop);
            let _ = refused.map_err(CallError::<()>::Open);
            let _ = pms
                .admit_at(now + second / 2)
                .map(|permit| permit.success());
            drop(pms.admit_at(now + second / 2));
            let _ = pms.admit_at(now + second / 2).map(|permit| permit.ignore());
        }
    });
    assert_eq!(ended, 0);
}

#[test]
fn refused_calls_allocate_nothing_and_neither_do_operators() {
    let pms = Breaker::shared("of-an-allocation-test", Config::DEFAULT);
    let ended = allocations(|| {
        pms.force_open();
        poll_once(pms.call(ready(Ok::<_, &str>(1))));
        let _ = pms.call_sync(|| Ok::<_, &str>(1));
        let snapshot = pms.snapshot();
        let _ = pms.restore(&snapshot);
        pms.close();
    });
    assert_eq!(ended, 0);
}

#[test]
fn a_timer_is_made_only_for_a_call_that_is_pending() {
    // No runtime: tokio's timer would panic.
    let pms = Breaker::new("pms", Config::DEFAULT);
    drop(pms.admit());
    let limit = Duration::from_secs(1);
    let at_once = allocations(|| poll_once(pms.call(ready(Ok::<_, &str>(1))).timeout(limit)));
    assert_eq!(at_once, 0);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let _entered = runtime.enter();
    poll_once(pms.call(pending::<Answer>()).timeout(limit));
    let waiting = allocations(|| poll_once(pms.call(pending::<Answer>()).timeout(limit)));
    assert_eq!(waiting, 0, "the timer is inline");
}

/// Its time is over at once.
struct Impatient;

impl Timer for Impatient {
    type Sleep = Ready<()>;

    fn sleep(&self, _: Duration) -> Ready<()> {
        ready(())
    }
}

#[test]
fn a_call_that_times_out_allocates_nothing() {
    let settings = Settings::new().threshold(1).must();
    for pms in [
        Arc::new(Breaker::new("pms", settings)),
        Breaker::shared("of-a-timeout", settings),
    ] {
        drop(pms.admit());
        let limit = Duration::from_secs(1);
        let timed_out = allocations(|| {
            let call = pms.call(pending::<Result<(), &str>>());
            poll_once(call.timeout_by(Impatient, limit));
        });
        assert_eq!(timed_out, 0);
        assert_eq!(pms.state(), State::Open, "it was counted");
    }
}

/// Counts what it hears of one breaker.
#[derive(Default)]
struct Counts {
    rejected: AtomicU32,
    changed: AtomicU32,
}

const HEARD: &str = "of-an-observer";

impl Observer for Counts {
    fn rejected(&self, event: &Rejection<'_>) {
        if event.error.name() == HEARD {
            self.rejected.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn state_changed(&self, event: &StateChange<'_>) {
        if event.breaker == HEARD {
            self.changed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn what_an_observer_is_told_allocates_nothing() {
    let counts = Arc::new(Counts::default());
    let _installed = observe::install(Arc::clone(&counts));
    let pms = Breaker::shared(HEARD, Config::DEFAULT);
    let told = allocations(|| {
        pms.force_open();
        for _ in 0..10 {
            assert!(pms.admit().is_err());
        }
        pms.close();
    });
    assert_eq!(told, 0);
    assert_eq!(counts.rejected.load(Ordering::Relaxed), 10);
    assert_eq!(counts.changed.load(Ordering::Relaxed), 2);
}
