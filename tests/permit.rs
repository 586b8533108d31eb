//! Permits with an explicit time, in a scope and outside; and those that own their breaker.

use allocation_counter::measure;
use breakerbox::{
    AnyBreaker, Breaker, CircuitOpenError, Config, Effect, KeyedBreakers, OnCancel, Outcome,
    OwnedPermit, Settings, State, test,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const RESET: Duration = Duration::from_secs(30);
const SECOND: u64 = 1_000_000_000;

fn breaker(settings: Settings) -> Breaker {
    Breaker::new("pms", settings.threshold(1).reset(RESET).jitter(0.0).must())
}

/// Inside a test scope, whose clock stands at 0, and outside.
fn inside_and_outside(check: impl Fn()) {
    check();
    let _scope = test::scope();
    check();
}

/// It opened at so many nanoseconds.
fn assert_opened_at(breaker: &Breaker, opened: u64) {
    assert_eq!(breaker.state(), State::Open);
    let refused: CircuitOpenError = breaker.admit_at(opened + SECOND).unwrap_err();
    assert_eq!(refused.retry_after(), Some(RESET - Duration::from_secs(1)));
}

#[test]
fn a_permit_settles_at_the_time_it_was_given() {
    inside_and_outside(|| {
        let pms = breaker(Settings::new());
        let permit = pms.admit_at(5 * SECOND).unwrap();
        assert!(matches!(
            permit.settle(Outcome::Failure),
            Effect::Tripped(_)
        ));
        assert_opened_at(&pms, 5 * SECOND);
    });
}

#[test]
fn a_permit_settles_at_the_time_of_its_settling() {
    inside_and_outside(|| {
        let pms = breaker(Settings::new());
        let permit = pms.admit_at(5 * SECOND).unwrap();
        permit.settle_at(Outcome::Failure, 9 * SECOND);
        assert_opened_at(&pms, 9 * SECOND);
    });
}

#[test]
fn a_dropped_permit_settles_at_the_time_it_was_given() {
    inside_and_outside(|| {
        let pms = breaker(Settings::new().on_cancel(OnCancel::Failure));
        drop(pms.admit_at(5 * SECOND).unwrap());
        assert_opened_at(&pms, 5 * SECOND);
    });
}

#[test]
fn a_permit_dropped_by_a_panic_settles_at_the_time_it_was_given() {
    inside_and_outside(|| {
        let pms = breaker(Settings::new());
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let _permit = pms.admit_at(5 * SECOND).unwrap();
            panic!("between permit and outcome");
        }));
        assert!(unwound.is_err());
        assert_opened_at(&pms, 5 * SECOND);
    });
}

#[test]
fn in_a_scope_a_time_that_was_given_has_no_default_jitter() {
    let _scope = test::scope();
    for settings in [Settings::new(), Settings::new().jitter_seed(7)] {
        let pms = Breaker::new("pms", settings.threshold(1).reset(RESET).must());
        let permit = pms.admit_at(0).unwrap();
        permit.settle_at(Outcome::Failure, 0);
        assert_eq!(pms.snapshot().time_left, RESET);
        pms.close();
        let _ = pms.admit_at(0).unwrap().failure();
        assert_eq!(pms.snapshot().time_left, RESET);
    }
}

#[test]
fn a_dropped_probe_gives_its_slot_back_at_any_time() {
    inside_and_outside(|| {
        let pms = breaker(Settings::new());
        let _ = pms.admit_at(0).unwrap().failure();
        for _ in 0..3 {
            let probe = pms.admit_at(31 * SECOND).unwrap();
            assert!(pms.admit_at(31 * SECOND).is_err(), "one at a time");
            drop(probe);
        }
        assert!(matches!(
            pms.admit_at(31 * SECOND).unwrap().success(),
            Effect::Closed(_)
        ));
    });
}

fn shared(settings: Settings) -> Arc<Breaker> {
    Arc::new(breaker(settings))
}

fn opened(pms: &Breaker) -> bool {
    let opened = pms.state() == State::Open;
    pms.close();
    opened
}

#[test]
fn an_owned_permit_outlives_whoever_had_the_breaker() {
    let pms = shared(Settings::new());
    let watched = Arc::downgrade(&pms);
    let permit = pms.admit_owned().unwrap();
    drop(pms);
    assert!(watched.upgrade().is_some(), "the permit keeps it");
    assert!(matches!(permit.failure(), Effect::Tripped(_)));
    assert!(watched.upgrade().is_none(), "it is settled, and lets go");
}

#[test]
fn an_owned_permit_settles_by_each_of_its_methods() {
    inside_and_outside(|| {
        let pms = shared(Settings::new());
        assert_eq!(pms.admit_owned().unwrap().success(), Effect::Counted);
        assert_eq!(pms.admit_owned().unwrap().ignore(), Effect::Neutral);
        assert_eq!(pms.state(), State::Closed);
        pms.admit_owned().unwrap().failure();
        assert!(opened(&pms));
        let wait = Duration::from_secs(7);
        pms.admit_owned().unwrap().overloaded(wait);
        let left = pms.admit_owned().unwrap_err().retry_after().unwrap();
        assert!(left < RESET / 2, "not for `reset`, but {left:?}");
        assert!(opened(&pms));
        pms.admit_owned().unwrap().settle(Outcome::Panicked);
        assert!(opened(&pms));
    });
}

#[test]
fn an_owned_permit_that_is_dropped_settles_as_dropped() {
    inside_and_outside(|| {
        let pms = shared(Settings::new());
        drop(pms.admit_owned().unwrap());
        assert!(!opened(&pms));
        let pms = shared(Settings::new().on_cancel(OnCancel::Failure));
        drop(pms.admit_owned().unwrap());
        assert!(opened(&pms));
        // What was settled is not dropped as well.
        pms.admit_owned().unwrap().ignore();
        assert!(!opened(&pms));
    });
}

#[test]
fn an_owned_permit_dropped_by_a_panic_settles_as_panicked() {
    inside_and_outside(|| {
        let pms = shared(Settings::new());
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let _permit = pms.admit_owned().unwrap();
            panic!("between permit and outcome");
        }));
        assert!(unwound.is_err());
        assert!(opened(&pms));
    });
}

#[test]
fn an_owned_permit_settles_in_the_scope_that_it_was_given_in() {
    let pms = shared(Settings::new());
    let scope = test::scope();
    let permit = pms.admit_owned().unwrap();
    thread::spawn(move || permit.failure()).join().unwrap();
    assert_eq!(pms.state(), State::Open, "in the scope");
    scope.advance(RESET);
    let probe = pms.admit_owned().unwrap();
    assert!(pms.admit_owned().is_err(), "one at a time");
    let generation = probe.generation();
    drop(scope);
    assert_eq!(pms.state(), State::Closed, "outside it never failed");
    assert_ne!(pms.generation(), generation);
    assert!(matches!(probe.success(), Effect::Closed(_)));
}

#[test]
fn an_owned_permit_that_is_dropped_gives_its_place_back() {
    let scope = test::scope();
    let pms = shared(Settings::new());
    pms.admit_owned().unwrap().failure();
    scope.advance(RESET);
    for _ in 0..1_000 {
        let probe = pms.admit_owned().unwrap();
        assert!(pms.admit_owned().is_err(), "one at a time");
        drop(probe);
    }
    assert!(matches!(
        pms.admit_owned().unwrap().success(),
        Effect::Closed(_)
    ));
}

#[test]
fn an_owned_permit_of_a_key_keeps_the_key() {
    let hosts = KeyedBreakers::<String>::new("permit-hosts", Config::DEFAULT).max_keys(1);
    let permit: OwnedPermit<_> = hosts.get("a").admit_owned().unwrap();
    assert!(format!("{permit:?}").contains("permit-hosts"));
    let _other = hosts.get("b");
    let kept = |hosts: &KeyedBreakers<String>| {
        let kept = hosts.breakers();
        kept.iter()
            .map(|kept| kept.key().clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(kept(&hosts), ["a"], "a permit of it is out");
    permit.failure();
    assert_eq!(hosts.get("a").snapshot().consecutive, 1);
    drop(hosts.get("c"));
    assert_eq!(kept(&hosts), ["c"]);
}

#[test]
fn an_owned_permit_allocates_nothing() {
    let pms = shared(Settings::new());
    drop(pms.admit_owned());
    let allocated = measure(|| {
        let permit = pms.admit_owned().unwrap();
        permit.failure();
        drop(pms.admit_owned().unwrap_err());
    });
    assert_eq!(allocated.count_total, 0);
}
