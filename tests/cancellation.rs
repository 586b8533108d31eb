//! Futures of annotated functions that are dropped: before the first poll, between polls, while
//! probing, while a fallback is awaited; and what was theirs is dropped with them.

#![deny(warnings)]

mod support;

use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use breakerbox::test::{TestScope, scope};
use breakerbox::{State, circuit_breaker, find};

use support::{Answer, Loud, PmsError, block_on, counted, log, pause, poll, take_log};

const RESET: Duration = Duration::from_secs(30);

fn state(breaker: &str) -> State {
    find(breaker).expect("it was called").state()
}

/// In this test's scope, that is: the list of breakers is the process's.
fn was_never_called(breaker: &str) -> bool {
    find(breaker)
        .is_none_or(|found| found.snapshot().consecutive == 0 && found.generation().get() == 0)
}

/// Opens a circuit by `fail`, and waits until it lets a probe through.
fn ready_to_probe(scope: &TestScope, breaker: &str, fail: impl Fn()) {
    while find(breaker).is_none_or(|found| found.state() != State::Open) {
        fail();
    }
    scope.advance(RESET);
}

/// Polls a future so often, then drops it.
fn cancel<F: Future>(future: F, polls: usize) {
    let mut future = pin!(future);
    for _ in 0..polls {
        assert!(poll(future.as_mut()).is_pending());
    }
}

#[circuit_breaker(name = "cancel-ignored", threshold = 2)]
async fn ignored(answer: Option<Answer<u8>>, argument: Loud) -> Answer<u8> {
    let local = Loud("local");
    pause().await;
    log(argument.0);
    match answer {
        Some(answer) => answer,
        None => {
            let _inner = Loud("inner");
            pending::<()>().await;
            drop(local);
            Ok(1)
        }
    }
}

#[test]
fn a_call_that_is_dropped_is_no_failure_and_drops_what_it_has() {
    let _scope = scope();
    cancel(ignored(None, Loud("argument")), 0);
    assert_eq!(take_log(), ["drop argument"]);
    assert!(was_never_called("cancel-ignored"));
    cancel(ignored(None, Loud("argument")), 1);
    assert_eq!(take_log(), ["drop local", "drop argument"]);
    cancel(ignored(None, Loud("argument")), 2);
    let dropped = ["argument", "drop inner", "drop local", "drop argument"];
    assert_eq!(take_log(), dropped);
    assert_eq!(counted("cancel-ignored"), 0);

    // Neither does it take back what was counted.
    let failing = ignored(Some(Err(PmsError::Down)), Loud("argument"));
    assert!(block_on(failing).is_err());
    cancel(ignored(None, Loud("argument")), 1);
    assert_eq!(counted("cancel-ignored"), 1);
}

#[test]
fn a_probe_that_is_dropped_gives_its_slot_back() {
    let scope = scope();
    let fail = || {
        let failing = ignored(Some(Err(PmsError::Down)), Loud("argument"));
        assert!(block_on(failing).is_err());
    };
    ready_to_probe(&scope, "cancel-ignored", fail);
    {
        let mut probe = pin!(ignored(None, Loud("probe")));
        assert!(poll(probe.as_mut()).is_pending());
        take_log();
        let refused = block_on(ignored(Some(Ok(1)), Loud("refused")));
        assert!(matches!(refused, Err(PmsError::Refused(_))));
        assert_eq!(take_log(), ["drop refused"]);
    }
    assert_eq!(take_log(), ["drop local", "drop probe"]);
    assert_eq!(state("cancel-ignored"), State::HalfOpen);
    // One that was never polled has no slot to hold.
    let unpolled = ignored(None, Loud("unpolled"));
    assert_eq!(block_on(ignored(Some(Ok(4)), Loud("next"))).unwrap(), 4);
    drop(unpolled);
    assert_eq!(state("cancel-ignored"), State::Closed);
}

#[circuit_breaker(name = "cancel-counted", threshold = 2, on_cancel = failure)]
async fn counted_when_dropped(ends: bool) -> Answer<u8> {
    pause().await;
    if !ends {
        pending::<()>().await;
    }
    Ok(1)
}

#[test]
fn where_cancelling_is_a_failure_it_counts_once_it_was_called() {
    let scope = scope();
    cancel(counted_when_dropped(false), 0);
    assert!(was_never_called("cancel-counted"));
    cancel(counted_when_dropped(false), 2);
    assert_eq!(counted("cancel-counted"), 1);
    cancel(counted_when_dropped(false), 1);
    assert_eq!(state("cancel-counted"), State::Open);
    // Refused, and dropped after that: nothing.
    assert!(block_on(counted_when_dropped(true)).is_err());

    scope.advance(RESET);
    cancel(counted_when_dropped(true), 1);
    assert_eq!(
        state("cancel-counted"),
        State::Open,
        "reopened by the probe"
    );
    scope.advance(RESET);
    assert_eq!(block_on(counted_when_dropped(true)).unwrap(), 1);
    assert_eq!(state("cancel-counted"), State::Closed);
}

#[circuit_breaker(name = "cancel-late", threshold = 5, timeout = "2s")]
async fn with_a_timeout(argument: Loud) -> Answer<u8> {
    let _local = Loud("local");
    pending::<()>().await;
    log(argument.0);
    Ok(1)
}

#[test]
fn past_its_timeout_or_dropped_before_it_a_call_drops_what_it_has() {
    let scope = scope();
    {
        let mut late = pin!(with_a_timeout(Loud("argument")));
        assert!(poll(late.as_mut()).is_pending());
        scope.advance(Duration::from_secs(2));
        assert!(matches!(
            poll(late.as_mut()),
            Poll::Ready(Err(PmsError::Late(_)))
        ));
        assert_eq!(take_log(), ["drop local", "drop argument"]);
    }
    assert!(take_log().is_empty());
    assert_eq!(counted("cancel-late"), 1);
    cancel(with_a_timeout(Loud("argument")), 1);
    assert_eq!(take_log(), ["drop local", "drop argument"]);
    assert_eq!(counted("cancel-late"), 1);
    cancel(with_a_timeout(Loud("argument")), 0);
    assert_eq!(take_log(), ["drop argument"]);
}

#[circuit_breaker(name = "cancel-fallback", threshold = 1, fallback = waits(&argument))]
async fn with_a_fallback(argument: Loud) -> Answer<u8> {
    let _local = Loud("local");
    log(argument.0);
    Err(PmsError::Down)
}

async fn waits(argument: &Loud) -> Answer<u8> {
    let _cached = Loud("cached");
    pause().await;
    pending::<()>().await;
    log(argument.0);
    Ok(1)
}

#[test]
fn dropped_while_its_fallback_is_awaited_a_call_has_counted_already() {
    let _scope = scope();
    cancel(with_a_fallback(Loud("argument")), 2);
    let dropped = ["argument", "drop local", "drop cached", "drop argument"];
    assert_eq!(take_log(), dropped);
    assert_eq!(state("cancel-fallback"), State::Open);
    cancel(with_a_fallback(Loud("argument")), 1);
    assert_eq!(take_log(), ["drop cached", "drop argument"]);
    cancel(with_a_fallback(Loud("argument")), 0);
    assert_eq!(take_log(), ["drop argument"]);
}

#[circuit_breaker(name = "cancel-panics", threshold = 2)]
async fn panics(panics: bool, argument: Loud) -> Answer<u8> {
    let _local = Loud("local");
    pause().await;
    if panics {
        panic!("as it does");
    }
    log(argument.0);
    Ok(1)
}

#[test]
fn a_call_that_panics_counts_and_drops_what_it_has() {
    let scope = scope();
    let panicking = || {
        let call = || block_on(panics(true, Loud("argument")));
        assert!(std::panic::catch_unwind(call).is_err());
        assert_eq!(take_log(), ["drop local", "drop argument"]);
    };
    panicking();
    assert_eq!(counted("cancel-panics"), 1);
    ready_to_probe(&scope, "cancel-panics", panicking);
    panicking();
    assert_eq!(state("cancel-panics"), State::Open, "reopened by the probe");
    scope.advance(RESET);
    assert_eq!(block_on(panics(false, Loud("argument"))).unwrap(), 1);
    assert_eq!(state("cancel-panics"), State::Closed);
}

#[circuit_breaker(name = "cancel-outer", threshold = 5, on_cancel = failure)]
async fn outer() -> Answer<u8> {
    inner().await
}

#[circuit_breaker(name = "cancel-inner", threshold = 5)]
async fn inner() -> Answer<u8> {
    pending().await
}

#[test]
fn each_of_two_guards_counts_as_it_was_told() {
    let _scope = scope();
    cancel(outer(), 1);
    assert_eq!((counted("cancel-outer"), counted("cancel-inner")), (1, 0));
}

/// By the caller's own means: `select!`, a timeout around it, an aborted task.
#[test]
fn callers_drop_it_in_their_own_ways() {
    let _scope = scope();
    block_on(async {
        tokio::select! {
            biased;
            _ = counted_when_dropped(false) => unreachable!(),
            () = pause() => {}
        }
        assert_eq!(counted("cancel-counted"), 1);
        let none = Duration::from_secs(0);
        let late = tokio::time::timeout(none, counted_when_dropped(false));
        assert!(late.await.is_err());
    });
    assert_eq!(state("cancel-counted"), State::Open);
    find("cancel-counted").unwrap().close();
    block_on(async {
        let task = tokio::spawn(counted_when_dropped(false));
        pause().await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(counted("cancel-counted"), 1);
    });
}

/// A future that has ended is no different from that of any `async fn`.
#[test]
fn once_ended_it_panics_when_polled_and_counts_nothing() {
    #[circuit_breaker(name = "cancel-ended")]
    async fn ends(polls: &mut u32) -> Answer<u32> {
        poll_fn(|_| {
            *polls += 1;
            match *polls {
                3 => Poll::Ready(()),
                _ => Poll::Pending,
            }
        })
        .await;
        Ok(*polls)
    }
    let _scope = scope();
    let mut polls = 0;
    {
        let mut future: Pin<Box<dyn Future<Output = Answer<u32>> + '_>> =
            Box::pin(ends(&mut polls));
        assert!(poll(future.as_mut()).is_pending());
        assert!(poll(future.as_mut()).is_pending());
        assert!(matches!(poll(future.as_mut()), Poll::Ready(Ok(3))));
        let again = std::panic::AssertUnwindSafe(|| poll(future.as_mut()).is_ready());
        assert!(std::panic::catch_unwind(again).is_err(), "as any async fn");
    }
    assert_eq!(polls, 3);
    assert_eq!(counted("cancel-ended"), 0);
}
