//! The end of each admitted call: by the attribute, without it, and by real threads and clocks.

use crate::record::{Ends, PATIENT, SECOND, ends, listen};
use crate::support::{block_on, poll};
use breakerbox::observe::{self, CallEnded, CallOutcome, Observer};
use breakerbox::{
    Breaker, CallError, ExactClock, Settings, State, SystemClock, circuit_breaker, test,
};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

type Answer = Result<u32, CallError<&'static str>>;

#[circuit_breaker(name = "plain", threshold = 1_000, classify = |e| matches!(e, CallError::Call("down")))]
fn plain(answer: Result<u32, &'static str>) -> Answer {
    answer.map_err(CallError::Call)
}

#[circuit_breaker(name = "waiting", threshold = 1_000, classify = |e| matches!(e, CallError::Call("down")))]
async fn waiting(answer: Option<Result<u32, &'static str>>) -> Answer {
    match answer {
        Some(answer) => answer.map_err(CallError::Call),
        None => pending().await,
    }
}

#[circuit_breaker(name = "limited", threshold = 1_000, timeout = "2s")]
async fn limited() -> Answer {
    pending().await
}

#[circuit_breaker(name = "panics", threshold = 1_000)]
async fn panics() -> Answer {
    panic!("in the body")
}

#[circuit_breaker(name = "by-key", key = host, threshold = 1_000)]
async fn by_key(host: &str) -> Answer {
    if host.is_empty() {
        return Err(CallError::Call("no host"));
    }
    Ok(1)
}

#[circuit_breaker(name = "entered", threshold = 1_000, fallback = |_| Ok(7), fallback_on = open)]
fn entered(answer: String) -> Answer {
    drop(answer);
    Ok(1)
}

#[test]
fn annotated_functions_tell_how_their_calls_ended() {
    let scope = test::scope();
    let (heard, _installed) = listen();
    assert_eq!(plain(Ok(1)), Ok(1));
    assert!(plain(Err("down")).is_err());
    assert!(plain(Err("no such room")).is_err());
    block_on(async {
        assert_eq!(waiting(Some(Ok(1))).await, Ok(1));
        assert!(waiting(Some(Err("down"))).await.is_err());
        assert!(waiting(Some(Err("no such room"))).await.is_err());
        {
            let mut dropped = pin!(waiting(None));
            assert!(poll(dropped.as_mut()).is_pending());
            scope.advance(SECOND);
        }
        let mut late = pin!(limited());
        assert!(poll(late.as_mut()).is_pending());
        scope.advance(2 * SECOND);
        assert!(matches!(late.await, Err(CallError::TimedOut(_))));
        assert_eq!(by_key("a.example").await, Ok(1));
        assert!(by_key("").await.is_err());
    });
    assert!(catch_unwind(|| block_on(panics())).is_err());
    assert_eq!(entered(String::new()), Ok(1));
    assert_eq!(
        heard.take(),
        [
            "circuit `plain`: a call ended after 0ns: success",
            "circuit `plain`: a call ended after 0ns: failure",
            "circuit `plain`: a call ended after 0ns: ignored",
            "circuit `waiting`: a call ended after 0ns: success",
            "circuit `waiting`: a call ended after 0ns: failure",
            "circuit `waiting`: a call ended after 0ns: ignored",
            "circuit `waiting`: a call ended after 1s: dropped",
            "circuit `limited`: a call ended after 2s: timeout",
            "circuit `by-key[a.example]`: a call ended after 0ns: success",
            "circuit `by-key[]`: a call ended after 0ns: failure",
            "circuit `panics`: a call ended after 0ns: panicked",
            "circuit `entered`: a call ended after 0ns: success",
        ]
    );
}

#[test]
fn a_call_that_was_never_made_has_no_end() {
    let _scope = test::scope();
    let (heard, _installed) = listen();
    drop(waiting(None));
    let pms = Breaker::new("pms", PATIENT);
    drop(pms.call(pending::<Result<(), ()>>()));
    assert!(heard.take().is_empty());

    pms.force_open();
    assert!(pms.call_sync(|| Ok::<_, ()>(())).is_err());
    assert_eq!(
        heard.take(),
        [
            "circuit `pms` was set by an operator: forced_open",
            "call refused: circuit `pms` is held open by an operator",
        ]
    );
}

#[test]
fn calls_without_the_attribute_tell_how_they_ended() {
    let scope = test::scope();
    let (ends, _installed) = ends();
    let pms = Breaker::new("pms", PATIENT);
    let _ = pms.call_sync(|| Err::<(), _>("down"));
    let _ = pms
        .classify(|_: &&str| false)
        .call_sync(|| Err::<(), _>("404"));
    let _ = catch_unwind(AssertUnwindSafe(|| {
        pms.call_sync(|| -> Result<(), ()> {
            scope.advance(SECOND);
            panic!("the call")
        })
    }));
    // A classifier is part of its call.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        pms.classify(|_: &&str| -> bool { panic!("the classifier") })
            .call_sync(|| Err::<(), _>("down"))
    }));
    block_on(async {
        let mut call = pin!(pms.call(pending::<Result<(), ()>>()).timeout(3 * SECOND));
        assert!(poll(call.as_mut()).is_pending());
        scope.advance(3 * SECOND);
        assert!(call.await.is_err());
        // Settled by a drop that follows a panic of the same future.
        let panics = pms.call(async { panic!("the body") });
        let mut panics =
            Box::pin(async move { panics.await.map(|()| 1).map_err(|_: CallError<()>| 2) });
        let unwound = catch_unwind(AssertUnwindSafe(|| poll(panics.as_mut())));
        assert!(unwound.is_err());
    });
    let at_once = |outcome| (outcome, Duration::ZERO);
    assert_eq!(
        ends.take(),
        [
            at_once(CallOutcome::Failure),
            at_once(CallOutcome::Ignored),
            (CallOutcome::Panicked, SECOND),
            at_once(CallOutcome::Panicked),
            (CallOutcome::TimedOut, 3 * SECOND),
            at_once(CallOutcome::Panicked),
        ]
    );
}

#[test]
fn a_call_from_before_any_observer_is_not_told_of() {
    let scope = test::scope();
    let pms = Breaker::new("pms", PATIENT);
    let before = pms.admit().unwrap();
    scope.advance(SECOND);
    let (first, installed) = ends();
    let between = pms.admit().unwrap();
    let _ = before.success();
    assert!(first.take().is_empty(), "nobody knows how long it took");

    scope.advance(SECOND);
    drop(installed);
    let (second, _installed) = ends();
    let _ = between.success();
    assert!(first.take().is_empty(), "it has left");
    assert_eq!(
        second.take(),
        [(CallOutcome::Success, SECOND)],
        "it was timed for another observer"
    );
}

#[test]
fn a_call_settles_in_the_scope_that_admitted_it() {
    let permit = {
        static PMS: Breaker = Breaker::new("of-a-scope", PATIENT);
        let scope = test::scope();
        let (outer, _installed) = ends();
        let permit = PMS.admit().unwrap();
        scope.advance(SECOND);
        {
            let _inner = test::scope();
            let (inner, _installed) = ends();
            let _ = permit.success();
            assert!(inner.take().is_empty());
        }
        assert_eq!(outer.take(), [(CallOutcome::Success, SECOND)]);
        PMS.admit().unwrap()
    };
    // The scope's observers are gone with it.
    let _ = permit.success();
}

/// The ends of calls of this breaker.
struct Of(&'static str, Ends);

impl Observer for Of {
    fn wants_calls(&self) -> bool {
        true
    }

    fn call_ended(&self, event: &CallEnded<'_>) {
        if event.breaker == self.0 {
            self.1.call_ended(event);
        }
    }
}

#[test]
fn by_the_clocks_of_the_system_a_call_takes_what_it_takes() {
    fn takes<C: breakerbox::Clock + Send + Sync + 'static>(breaker: &Breaker<C>) {
        let of = Arc::new(Of("real", Ends::default()));
        let _installed = observe::install(Arc::clone(&of));
        let before = std::time::Instant::now();
        let _ = breaker.call_sync(|| {
            let began = std::time::Instant::now();
            while began.elapsed() < Duration::from_micros(300) {}
            Ok::<_, ()>(())
        });
        let most = before.elapsed();
        let ended = of.1.take();
        let [(CallOutcome::Success, took)] = ended[..] else {
            panic!("{ended:?}");
        };
        assert!(took >= Duration::from_micros(300), "{took:?}");
        assert!(took <= most, "{took:?} of {most:?}");
    }
    takes(&Breaker::with_clock("real", PATIENT, SystemClock));
    takes(&Breaker::with_clock("real", PATIENT, ExactClock));
}

#[test]
fn from_many_threads_each_end_is_told_once() {
    let of = Arc::new(Of("many", Ends::default()));
    let _installed = observe::install(Arc::clone(&of));
    let pms = Breaker::new("many", Settings::new().threshold(2).reset(SECOND).must());
    let ended: u32 = std::thread::scope(|scope| {
        let threads = (0..4_u32).map(|thread| {
            let pms = &pms;
            scope.spawn(move || {
                let mut made = 0;
                for n in 0..500 {
                    let call = || match n % 5 {
                        0 => Err("down"),
                        _ => Ok(()),
                    };
                    match pms.call_sync(call) {
                        Err(CallError::Open(_)) => drop(pms.close()),
                        _ => made += 1,
                    }
                    if n % 50 == thread {
                        pms.force_open();
                    }
                }
                made
            })
        });
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(of.1.take().len(), ended as usize);
    assert_ne!(pms.state(), State::HalfOpen);
}
