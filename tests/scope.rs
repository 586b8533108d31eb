//! Test scopes: a frozen clock and fresh breakers for one thread.

use breakerbox::observe::{self, Observer, Rejection, StateChange};
use breakerbox::{Breaker, Settings, State, breaker, test};
use std::future::{Future, ready};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

breaker! {
    static PMS = { threshold: 1, reset: "30s" }
}

fn trip(breaker: &Breaker) {
    let _ = breaker.call_sync(|| Err::<(), _>("down"));
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn scopes_of_two_threads_run_side_by_side() {
    let barrier = std::sync::Barrier::new(2);
    std::thread::scope(|threads| {
        for fails in [true, false] {
            let barrier = &barrier;
            threads.spawn(move || {
                let scope = test::scope();
                if fails {
                    trip(&PMS);
                }
                barrier.wait();
                assert_eq!(PMS.state() == State::Open, fails);
                barrier.wait();
                scope.advance(Duration::from_secs(30));
                assert!(PMS.admit().is_ok());
            });
        }
    });
}

#[test]
fn a_scope_starts_fresh_and_leaves_nothing_behind() {
    for _ in 0..2 {
        let _scope = test::scope();
        assert_eq!(PMS.state(), State::Closed);
        trip(&PMS);
    }
    assert_eq!(PMS.state(), State::Closed);
}

#[test]
fn an_inner_scope_covers_the_outer_one() {
    let outer = test::scope();
    trip(&PMS);
    {
        let inner = test::scope();
        assert_eq!(PMS.state(), State::Closed);
        inner.advance(Duration::from_secs(9));
    }
    assert_eq!(PMS.state(), State::Open);
    assert_eq!(outer.elapsed(), Duration::ZERO);
}

#[test]
fn scopes_may_end_in_any_order() {
    let outer = test::scope();
    let inner = test::scope();
    trip(&PMS);
    drop(outer);
    assert_eq!(PMS.state(), State::Open);
    drop(inner);
    assert_eq!(PMS.state(), State::Closed);
}

#[test]
fn the_default_jitter_is_off_and_one_that_was_set_is_on() {
    let wait = |settings: Settings| {
        let _scope = test::scope();
        let pms = Breaker::new(
            "pms",
            settings.threshold(1).reset(Duration::from_secs(10)).must(),
        );
        trip(&pms);
        pms.snapshot().time_left
    };
    assert_eq!(wait(Settings::new()), Duration::from_secs(10));
    let jittered = wait(Settings::new().jitter(0.5).jitter_seed(7));
    assert!(jittered > Duration::from_secs(10) && jittered <= Duration::from_secs(15));
    assert_eq!(
        jittered,
        wait(Settings::new().jitter(0.5).jitter_seed(7)),
        "repeatable"
    );
    assert_ne!(jittered, wait(Settings::new().jitter(0.5).jitter_seed(8)));
}

#[test]
fn a_permit_from_a_scope_settles_in_it() {
    let scope = test::scope();
    let permit = PMS.admit().unwrap();
    drop(scope);
    assert!(matches!(permit.failure(), breakerbox::Effect::Tripped(_)));
    assert_eq!(PMS.state(), State::Closed);
}

#[test]
fn a_moved_breaker_keeps_its_state_in_the_scope() {
    let _scope = test::scope();
    let here = Breaker::new("pms", Settings::new().threshold(1).must());
    trip(&here);
    let there = Box::new(here);
    assert_eq!(there.state(), State::Open);
}

#[test]
fn outside_a_scope_jitter_differs_between_breakers_of_one_process() {
    let settings = Settings::new()
        .threshold(1)
        .reset(Duration::from_secs(1_000))
        .jitter(1.0);
    let breakers: Vec<_> = (0..20)
        .map(|_| Breaker::new("pms", settings.must()))
        .collect();
    let mut waits: Vec<_> = breakers
        .iter()
        .map(|breaker| {
            trip(breaker);
            breaker.snapshot().time_left.as_secs()
        })
        .collect();
    waits.sort_unstable();
    assert!(waits[0] >= 999 && waits[19] <= 2_000, "{waits:?}");
    assert!(waits[19] - waits[0] > 100, "they probe in step: {waits:?}");
}

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl Lines {
    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Observer for Lines {
    fn state_changed(&self, event: &StateChange<'_>) {
        self.0.lock().unwrap().push(event.to_string());
    }

    fn rejected(&self, event: &Rejection<'_>) {
        self.0.lock().unwrap().push(event.to_string());
    }
}

#[test]
fn a_permit_of_a_scope_settled_on_another_thread_tells_the_scopes_observers() {
    let (of_process, of_scope) = (Arc::new(Lines::default()), Arc::new(Lines::default()));
    let _of_process = observe::install(Arc::clone(&of_process));
    let scope = test::scope();
    let _of_scope = observe::install(Arc::clone(&of_scope));
    let pms = Breaker::new("settled-elsewhere", Settings::new().threshold(1).must());
    let permit = pms.admit().unwrap();
    std::thread::scope(|threads| {
        threads.spawn(|| assert!(matches!(permit.failure(), breakerbox::Effect::Tripped(_))));
    });
    assert_eq!(pms.state(), State::Open, "in the scope");
    let opened = "circuit `settled-elsewhere` opened after 1 failure, for 30s";
    assert_eq!(of_scope.heard(), [opened]);
    drop(scope);
    assert_eq!(pms.state(), State::Closed, "and nowhere else");
    let others = of_process.heard();
    assert!(!others.iter().any(|line| line == opened), "{others:?}");
}

#[test]
fn a_call_of_a_scope_polled_on_another_thread_tells_the_scopes_observers() {
    let scope = test::scope();
    let of_scope = Arc::new(Lines::default());
    let _of_scope = observe::install(Arc::clone(&of_scope));
    let pms = Breaker::new("polled-elsewhere", Settings::new().threshold(1).must());
    let poll_elsewhere = || {
        let call = pms.call(ready(Err::<(), _>("down")));
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let mut context = Context::from_waker(Waker::noop());
                assert!(pin!(call).poll(&mut context).is_ready());
            });
        });
    };
    poll_elsewhere();
    poll_elsewhere();
    scope.advance(Duration::from_secs(30));
    poll_elsewhere();
    assert_eq!(
        of_scope.heard(),
        [
            "circuit `polled-elsewhere` opened after 1 failure, for 30s",
            "call refused: circuit `polled-elsewhere` is open: retry in 30s",
            "circuit `polled-elsewhere` probes: its wait is over",
            "circuit `polled-elsewhere` reopened after 1 failure while probing, for 30s",
        ]
    );
}
