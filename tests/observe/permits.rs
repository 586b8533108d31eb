//! The end of a call that was made by a permit.

use crate::record::{PATIENT, SECOND, ends};
use breakerbox::observe::CallOutcome;
use breakerbox::{Breaker, Clock, KeyedBreakers, ManualClock, Outcome, test};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Every way that a call can end, and what it is called.
const OUTCOMES: [(Outcome, CallOutcome); 6] = [
    (Outcome::Success, CallOutcome::Success),
    (Outcome::Failure, CallOutcome::Failure),
    (Outcome::Ignored, CallOutcome::Ignored),
    (Outcome::Dropped, CallOutcome::Dropped),
    (Outcome::Panicked, CallOutcome::Panicked),
    (Outcome::Overloaded(SECOND), CallOutcome::Overloaded(SECOND)),
];

#[test]
fn a_permit_tells_how_it_was_settled_and_when() {
    let scope = test::scope();
    let (ends, _installed) = ends();
    let pms = Breaker::shared("pms", PATIENT);
    let hosts = KeyedBreakers::<u32>::new("hosts", PATIENT);
    for (took, (outcome, told)) in (1..).map(|n| n * SECOND).zip(OUTCOMES) {
        pms.close();
        let permit = pms.admit().unwrap();
        scope.advance(took);
        let _ = permit.settle(outcome);
        assert_eq!(ends.take(), [(told, took)]);

        pms.close();
        let owned = pms.admit_owned().unwrap();
        scope.advance(took);
        let _ = owned.settle(outcome);
        assert_eq!(ends.take(), [(told, took)]);

        let host = hosts.get(&(took.as_secs() as u32));
        let permit = host.admit().unwrap();
        scope.advance(took);
        let _ = permit.settle(outcome);
        assert_eq!(ends.take(), [(told, took)]);
    }
}

#[test]
fn the_methods_of_a_permit_are_its_outcomes() {
    let _scope = test::scope();
    let (ends, _installed) = ends();
    let pms = Breaker::shared("pms", PATIENT);
    let permit = || pms.admit().unwrap();
    let owned = || pms.admit_owned().unwrap();
    let told = |outcome| assert_eq!(ends.take(), [(outcome, Duration::ZERO)]);

    let _ = permit().success();
    told(CallOutcome::Success);
    let _ = owned().success();
    told(CallOutcome::Success);
    let _ = permit().failure();
    told(CallOutcome::Failure);
    let _ = owned().failure();
    told(CallOutcome::Failure);
    let _ = permit().ignore();
    told(CallOutcome::Ignored);
    let _ = owned().ignore();
    told(CallOutcome::Ignored);
    drop(permit());
    told(CallOutcome::Dropped);
    drop(owned());
    told(CallOutcome::Dropped);
    for unwinding in [
        catch_unwind(AssertUnwindSafe(|| {
            let _permit = permit();
            panic!("the call");
        })),
        catch_unwind(AssertUnwindSafe(|| {
            let _permit = owned();
            panic!("the call");
        })),
    ] {
        assert!(unwinding.is_err());
    }
    assert_eq!(
        ends.take(),
        [(CallOutcome::Panicked, Duration::ZERO); 2],
        "one for each"
    );
    let _ = permit().overloaded(SECOND);
    told(CallOutcome::Overloaded(SECOND));
}

#[test]
fn at_explicit_times_a_call_took_the_time_between_them() {
    let scope = test::scope();
    let (ends, _installed) = ends();
    let pms = Breaker::new("pms", PATIENT);
    let took = |nanos| [(CallOutcome::Success, Duration::from_nanos(nanos))];

    let _ = pms
        .admit_at(1_000)
        .unwrap()
        .settle_at(Outcome::Success, 4_500);
    assert_eq!(ends.take(), took(3_500));
    let _ = pms.admit_at(1_000).unwrap().success();
    assert_eq!(ends.take(), took(0));
    // Back in time is no time.
    let _ = pms.admit_at(5_000).unwrap().settle_at(Outcome::Success, 1);
    assert_eq!(ends.take(), took(0));
    let _ = pms
        .admit_at(0)
        .unwrap()
        .settle_at(Outcome::Success, u64::MAX);
    assert_eq!(ends.take(), took(u64::MAX - 1));
    let _ = pms.admit_at(u64::MAX).unwrap().success();
    assert_eq!(ends.take(), took(0));

    scope.advance(SECOND);
    let permit = pms.admit().unwrap();
    let _ = permit.settle_at(Outcome::Success, 3_000_000_000);
    assert_eq!(ends.take(), took(2_000_000_000));
}

/// Counts its exact readings from another origin, as the clock of the system does.
struct TwoOrigins(ManualClock);

impl Clock for TwoOrigins {
    fn now(&self) -> u64 {
        self.0.now() / 4_000_000 * 4_000_000
    }

    fn exact(&self) -> u64 {
        self.0.now() - 77_000_000_000
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

#[test]
fn a_call_admitted_by_the_clock_and_settled_at_an_explicit_time_took_what_is_between() {
    let (ends, _installed) = ends();
    let clock = TwoOrigins(ManualClock::new(100_000_000_000));
    let pms = Breaker::with_clock("two-origins", PATIENT, clock);
    let permit = pms.admit().unwrap();
    let _ = permit.settle_at(Outcome::Success, 103_000_000_000);
    let heard = ends.take();
    assert!(
        heard.contains(&(CallOutcome::Success, 3 * SECOND)),
        "{heard:?}"
    );
}

/// Asks for a permit in its destructor, and drops it there.
struct Asks<'a>(&'a Breaker);

impl Drop for Asks<'_> {
    fn drop(&mut self) {
        drop(self.0.admit().unwrap());
    }
}

#[test]
fn a_permit_that_was_given_while_something_else_unwound_is_only_dropped() {
    let _scope = test::scope();
    let (ends, installed) = ends();
    let pms = Breaker::new("pms", PATIENT);
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _asks = Asks(&pms);
        panic!("something else");
    }));
    assert!(unwound.is_err());
    assert_eq!(ends.take(), [(CallOutcome::Dropped, Duration::ZERO)]);
    // Also where nobody wants to hear of it.
    drop(installed);
    pms.close();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _asks = Asks(&pms);
        panic!("something else");
    }));
    assert!(unwound.is_err());
    assert_eq!(pms.snapshot().consecutive, 0);
}
