//! Permits with an explicit time, in a scope and outside.

use breakerbox::{Breaker, CircuitOpenError, Effect, OnCancel, Outcome, Settings, State, test};
use std::panic::{AssertUnwindSafe, catch_unwind};
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
