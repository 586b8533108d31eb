//! What a link is told of calls.

use super::link::Written;
use super::{RESET, SECOND, breaker, by_hand, fail, ready_to_probe, succeed};
use breakerbox::link::AlreadyLinked;
use breakerbox::observe::{self, CallEnded, Observer};
use breakerbox::{Breaker, OnCancel, Settings, Sliding, Window, circuit_breaker};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Beside one of these no call takes the shortest way.
struct HearsOfCalls;

impl Observer for HearsOfCalls {
    fn wants_calls(&self) -> bool {
        true
    }

    fn call_ended(&self, _: &CallEnded<'_>) {}
}

#[test]
fn all_is_told_but_the_common_success() {
    for listens in [false, true] {
        let _installed = listens.then(|| observe::install(HearsOfCalls));
        let ((pms, clock), link) = (breaker("told"), Written::new());
        fail(&pms);
        succeed(&pms);
        pms.link(link.clone()).unwrap();
        (0..5).for_each(|_| succeed(&pms));
        assert!(link.take().is_empty(), "nothing happened");

        fail(&pms);
        fail(&pms);
        succeed(&pms);
        succeed(&pms);
        assert_eq!(
            link.take(),
            [
                "Failure of 0: counted",
                "Failure of 0: counted",
                "Success of 0: counted"
            ]
        );
        (0..3).for_each(|_| fail(&pms));
        assert_eq!(
            link.take()[2..],
            ["closed -> open: failures", "Failure of 0: tripped"]
        );
        assert!(pms.admit().is_err());
        clock.advance(RESET - SECOND);
        assert!(pms.admit().is_err());
        assert!(link.take().is_empty(), "the wait is not over");

        clock.advance(SECOND);
        succeed(&pms);
        assert_eq!(
            link.take(),
            [
                "may it probe?",
                "open -> half_open: wait_over",
                "half_open -> closed: recovered",
                "Success of 2: closed"
            ]
        );
    }
}

#[test]
fn of_a_window_failures_and_slow_calls_are_told() {
    for listens in [false, true] {
        let _installed = listens.then(|| observe::install(HearsOfCalls));
        let (clock, link) = (by_hand(), Written::new());
        let settings = Settings::new()
            .failure_rate(0.5)
            .window(Window::calls(10))
            .min_calls(6)
            .slow(SECOND)
            .slow_rate(0.5);
        let rate = settings.build_rate().unwrap();
        let pms: Breaker<_, Sliding<1>> =
            Breaker::by_rate_with_clock("window", rate, clock).unwrap();
        pms.link(link.clone()).unwrap();
        (0..25).for_each(|_| succeed(&pms));
        assert!(
            link.take().is_empty(),
            "nor where a turn of the window ends"
        );
        fail(&pms);
        succeed(&pms);
        let slow = pms.admit().unwrap();
        clock.advance(2 * SECOND);
        slow.success();
        assert_eq!(
            link.take(),
            ["Failure of 0: counted", "Success of 0: counted"]
        );
        let counted = breakerbox::AnyBreaker::counted(&pms);
        assert_eq!((counted.calls, counted.failures, counted.slow), (10, 1, 1));
    }
}

#[test]
fn what_is_neutral_is_told_only_of_a_probe_and_what_is_late_never() {
    let ((pms, clock), link) = (breaker("neutral"), Written::new());
    pms.link(link.clone()).unwrap();
    pms.admit().unwrap().ignore();
    drop(pms.admit().unwrap());
    assert!(link.take().is_empty());

    let late = pms.admit().unwrap();
    ready_to_probe(&pms, clock);
    link.take();
    late.failure();
    assert!(link.take().is_empty());

    pms.admit().unwrap().ignore();
    drop(pms.admit().unwrap());
    assert_eq!(
        link.take(),
        [
            "may it probe?",
            "open -> half_open: wait_over",
            "Ignored of 2: neutral",
            "may it probe?",
            "Dropped of 2: neutral",
        ]
    );
    pms.admit().unwrap().overloaded(SECOND);
    assert_eq!(
        link.take()[1..],
        [
            "half_open -> open: overloaded",
            "Overloaded(1s) of 2: tripped"
        ]
    );
}

#[test]
fn a_probe_that_is_dropped_with_its_owner_is_told() {
    let clock = by_hand();
    let settings = Settings::new().threshold(1).reset(RESET).jitter(0.0);
    for (on_cancel, told) in [
        (OnCancel::Ignore, "neutral"),
        (OnCancel::Failure, "tripped"),
    ] {
        let settings = settings.on_cancel(on_cancel).must();
        let pms = Breaker::shared_with_clock("owned", settings, clock);
        let link = Written::new();
        pms.link(link.clone()).unwrap();
        fail(&pms);
        clock.advance(RESET);
        let permit = pms.admit_owned().unwrap();
        link.take();
        std::thread::spawn(move || drop(permit)).join().unwrap();
        let last = link.take().pop();
        assert_eq!(last.unwrap(), format!("Dropped of 2: {told}"));
    }
}

#[test]
fn a_call_that_panics_or_whose_future_is_dropped_is_told() {
    let ((pms, clock), link) = (breaker("panics"), Written::new());
    pms.link(link.clone()).unwrap();
    let panicked = std::panic::catch_unwind(|| pms.call_sync(|| -> Result<(), ()> { panic!() }));
    assert!(panicked.is_err());
    assert_eq!(link.take(), ["Panicked of 0: counted"]);
    ready_to_probe(&pms, clock);
    link.take();
    let pending = std::future::pending::<Result<(), ()>>();
    let mut call = Box::pin(pms.call(pending));
    let waker = std::task::Waker::noop();
    assert!(
        call.as_mut()
            .poll(&mut std::task::Context::from_waker(waker))
            .is_pending()
    );
    drop(call);
    assert_eq!(
        link.take(),
        [
            "may it probe?",
            "open -> half_open: wait_over",
            "Dropped of 2: neutral"
        ]
    );
}

breakerbox::breaker! { static SHARED = { name: "annotated-and-linked", threshold: 1 } }

#[circuit_breaker(breaker = SHARED)]
fn rooms(up: bool) -> Result<u32, breakerbox::CallError<&'static str>> {
    up.then_some(3).ok_or(breakerbox::CallError::Call("down"))
}

#[test]
fn an_annotated_function_tells_too_and_is_listed_when_it_is_linked() {
    let link = Written::new();
    assert!(breakerbox::find("annotated-and-linked").is_none());
    SHARED.link(link.clone()).unwrap();
    assert!(breakerbox::find("annotated-and-linked").is_some());
    assert_eq!(rooms(true), Ok(3));
    assert!(rooms(false).is_err());
    assert_eq!(
        link.take(),
        ["closed -> open: failures", "Failure of 0: tripped"]
    );
}

#[test]
fn a_breaker_has_one_link() {
    let ((pms, _), first, second) = (breaker("twice"), Written::new(), Written::new());
    pms.link(first.clone()).unwrap();
    let refused = pms.link(second.clone()).unwrap_err();
    assert_eq!(refused, AlreadyLinked);
    assert_eq!(
        refused.to_string(),
        "the breaker is shared already, and through one link only: link it once"
    );
    fail(&pms);
    assert_eq!((first.take().len(), second.take().len()), (1, 0));
    drop(pms);
    assert_eq!(Arc::strong_count(&first), 1, "it goes with the breaker");
}

#[test]
fn a_breaker_is_as_safe_to_unwind_as_without() {
    fn is_safe<T: UnwindSafe + RefUnwindSafe>() {}
    is_safe::<Breaker>();
    is_safe::<breakerbox::KeyedBreakers<String>>();
}
