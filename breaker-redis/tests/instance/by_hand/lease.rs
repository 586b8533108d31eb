//! The lease.

use super::{
    ByHand, OPEN, TRIAL, TRIPPED, at, done, generation, happened, refused, told, version, with,
};
use crate::races::options;
use crate::world::{MS, SECOND};
use breaker_redis::instance::{Asked, Instance, Options, Settled, Step, Unanswered};
use breaker_redis::protocol::{Cause, Command, Counts, Reply, Shared, Verdict, Who};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn an_answer_that_comes_twice_or_too_late_gives_no_lease() {
    let mut instance = at(Shared { wait: 0, ..OPEN });
    assert!(instance.probe_wanted(2 * SECOND).is_err());
    let (asked, command) = instance.asks(2 * SECOND);
    let known = Some(version(4));
    assert_eq!(
        command,
        Command::Lease {
            known,
            lasts: SECOND
        }
    );
    let reply = granted(5, "node-0");
    instance.replied(2 * SECOND, asked, Ok(&reply));
    assert!(instance.has_lease(2 * SECOND + 874 * MS));
    assert!(!instance.has_lease(2 * SECOND + 876 * MS), "less an eighth");
    instance.changed(2 * SECOND, &happened(2, TRIAL, Cause::Leased));
    let settled = Settled {
        generation: generation(2),
        counted: false,
        counts: Counts::default(),
    };
    instance.settled(2 * SECOND, &settled);
    let (_, command) = instance.asks(2 * SECOND);
    assert_eq!(
        command,
        Command::Release {
            known: Some(version(5))
        }
    );
    instance.replied(2 * SECOND, asked, Ok(&reply));
    assert!(!instance.has_lease(2 * SECOND));
}

#[test]
fn the_lease_is_measured_from_when_it_was_asked_for() {
    let mut instance = at(Shared { wait: 0, ..OPEN });
    let _ = instance.probe_wanted(2 * SECOND);
    let (asked, _) = instance.asks(2 * SECOND);
    instance.replied(2 * SECOND + 800 * MS, asked, Ok(&granted(5, "node-0")));
    assert!(instance.has_lease(2 * SECOND + 874 * MS));
    assert!(!instance.has_lease(2 * SECOND + 876 * MS));
}

#[test]
fn nobody_waits_longer_for_a_holder_than_a_lease_can_last() {
    let (longest, reset) = (options(0).probe_timeout, options(0).reset);
    for (left, waits) in [
        (Duration::from_secs(3), Duration::from_secs(3)),
        (longest, longest),
        (Duration::from_secs(86_400), longest),
    ] {
        let mut instance = at(Shared { wait: 0, ..OPEN });
        let mut trial = told(5, TRIAL, Cause::Leased, "other");
        let left = u64::try_from(left.as_micros()).expect("a day");
        trial.lease = Some((Who::new("other").expect("a name"), left));
        instance.heard(2 * SECOND, &trial);
        // And is told to ask again earlier.
        let told = Err(waits.min(reset));
        assert_eq!(instance.probe_wanted(2 * SECOND), told);
        let over = 2 * SECOND + u64::try_from(waits.as_micros()).expect("a minute");
        let before = instance.probe_wanted(over - MS);
        assert_eq!(before, Err(Duration::from_millis(1)));
        assert!(instance.probe_wanted(over).is_err());
        let mut asked = false;
        while let Step::Ask(_, command) = instance.next(over) {
            asked |= matches!(command, Command::Lease { .. });
        }
        assert!(asked, "{waits:?}");
    }
}

#[test]
fn a_lease_that_is_refused_is_not_asked_for_again_at_once() {
    let mut instance = at(Shared { wait: 0, ..OPEN });
    let mut asks = 0;
    for round in 0..1_000 {
        let now = 2 * SECOND + round * MS / 10;
        assert!(instance.probe_wanted(now).is_err());
        if let Step::Ask(asked, _) = instance.next(now) {
            asks += 1;
            // Nothing is left to wait for, and still it is refused.
            let reply = refused(told(
                4,
                Shared { wait: 0, ..OPEN },
                Cause::Recovered,
                "other",
            ));
            instance.replied(now + MS, asked, Ok(&reply));
        }
    }
    assert!((1..=60).contains(&asks), "{asks} in 100 ms, of 1 ms each");
}

#[test]
fn a_clock_that_is_set_back_stands_still() {
    let mut instance = at(Shared { wait: 0, ..OPEN });
    let _ = instance.probe_wanted(10 * SECOND);
    let (asked, _) = instance.asks(SECOND);
    instance.replied(SECOND, asked, Ok(&granted(5, "node-0")));
    assert!(instance.has_lease(10 * SECOND + 800 * MS));
}

#[test]
fn an_answer_that_was_given_up_gives_no_lease() {
    let mut instance = at(Shared { wait: 0, ..OPEN });
    let _ = instance.probe_wanted(2 * SECOND);
    let (asked, _) = instance.asks(2 * SECOND);
    instance.replied(2 * SECOND, asked, Err(Unanswered::Unknown));
    instance.replied(2 * SECOND, asked, Ok(&granted(5, "node-0")));
    assert!(!instance.has_lease(2 * SECOND));
    assert_eq!(
        instance.known(),
        Some(version(5)),
        "but it says how it stands"
    );
}

/// One whose call asked for the lease.
pub(super) fn leasing() -> (Instance, Asked) {
    let mut instance = at(Shared { wait: 0, ..OPEN });
    let _ = instance.probe_wanted(2 * SECOND);
    let (asked, command) = instance.asks(2 * SECOND);
    assert!(matches!(command, Command::Lease { .. }), "{command:?}");
    (instance, asked)
}

pub(super) fn granted(counter: u64, holder: &str) -> Reply {
    let mut granted = told(counter, TRIAL, Cause::Leased, holder);
    granted.lease = Some((Who::new(holder).expect("a name"), SECOND));
    done(granted)
}

pub(super) fn ended(instance: &mut Instance, number: u32) {
    let settled = Settled {
        generation: generation(number),
        counted: false,
        counts: Counts::default(),
    };
    instance.settled(2 * SECOND, &settled);
}

#[test]
fn while_another_probes_callers_are_told_to_wait_for_reset_at_most() {
    for (reset, left, expected) in [
        (30 * SECOND, 5 * SECOND, 5 * SECOND),
        (2 * SECOND, 5 * SECOND, 2 * SECOND),
        (2 * SECOND, 100 * MS, 100 * MS),
    ] {
        let mut instance = with(Options {
            reset: Duration::from_micros(reset),
            ..options(0)
        });
        let mut tried = told(4, TRIAL, Cause::Leased, "other");
        tried.lease = Some((Who::new("other").expect("a name"), left));
        instance.heard(SECOND, &tried);
        instance.follows(SECOND);
        instance.followed(SECOND, Ok(generation(1)));
        let refused = instance.probe_wanted(SECOND).expect_err("another probes");
        assert_eq!(refused, Duration::from_micros(expected));
        let refused = instance.probe_wanted(SECOND + left / 2);
        let refused = refused.expect_err("another probes");
        assert_eq!(refused, Duration::from_micros(expected.min(left / 2)));
        let soon = SECOND + left - 50 * MS;
        assert!(instance.probe_wanted(soon).is_err(), "it calls often");
        assert!(instance.probe_wanted(SECOND + left).is_err());
        let (_, command) = instance.asks(SECOND + left);
        assert!(matches!(command, Command::Lease { .. }), "{command:?}");
    }
    // What is left of an opening is known.
    let mut instance = with(options(0));
    let hour = Shared {
        wait: 3600 * SECOND,
        ..OPEN
    };
    instance.heard(SECOND, &told(4, hour, Cause::Operator, "other"));
    instance.follows(SECOND);
    instance.followed(SECOND, Ok(generation(1)));
    let refused = instance.probe_wanted(SECOND).expect_err("it is open");
    assert_eq!(refused, Duration::from_secs(3600));
}

#[test]
fn an_order_or_somebody_else_makes_the_lease_useless() {
    let (mut instance, asked) = leasing();
    instance.changed(2 * SECOND, &happened(2, OPEN, Cause::Operator));
    instance.replied(2 * SECOND, asked, Ok(&granted(5, "node-0")));
    assert!(!instance.has_lease(2 * SECOND));
    let (mut instance, asked) = leasing();
    instance.replied(2 * SECOND, asked, Ok(&granted(5, "node-0")));
    instance.changed(2 * SECOND, &happened(2, OPEN, None));
    assert!(!instance.has_lease(2 * SECOND), "a snapshot was restored");
    let (mut instance, asked) = leasing();
    instance.replied(2 * SECOND, asked, Ok(&granted(5, "other")));
    assert!(!instance.has_lease(2 * SECOND));
    let (mut instance, asked) = leasing();
    instance.heard(2 * SECOND, &told(6, OPEN, TRIPPED, "other"));
    instance.replied(2 * SECOND, asked, Ok(&granted(5, "node-0")));
    assert!(!instance.has_lease(2 * SECOND));
}

#[test]
fn a_lease_that_was_not_answered_is_not_asked_for_without_a_call() {
    let (mut instance, asked) = leasing();
    let _ = instance.probe_wanted(2 * SECOND);
    instance.replied(2 * SECOND, asked, Err(Unanswered::Unknown));
    let now = instance.due(2 * SECOND).expect("it tries again");
    let known = Some(version(4));
    assert_eq!(instance.asks(now).1, Command::Read { known });
}

#[test]
fn a_circuit_that_nobody_knows_is_asked_for_before_it_is_tried_alone() {
    let over = Shared { wait: 0, ..OPEN };
    let mut instance = Instance::new(Arc::new(options(0)), &happened(1, over, None), 0, 3);
    instance.found(0);
    assert!(instance.probe_wanted(0).is_err());
    let (asked, command) = instance.asks(0);
    assert!(
        matches!(command, Command::Lease { known: None, .. }),
        "{command:?}"
    );
    let nothing = Reply {
        verdict: Verdict::Missing,
        now: None,
        listeners: None,
    };
    instance.replied(0, asked, Ok(&nothing));
    assert_eq!(instance.probe_wanted(0), Ok(()));
    // By another Redis, perhaps.
    instance.lost(0);
    instance.found(0);
    assert!(instance.probe_wanted(0).is_err());
}

#[test]
fn a_lease_that_it_heard_that_it_has_is_asked_for_at_once() {
    let (mut instance, _) = leasing();
    instance.lost(2 * SECOND);
    instance.found(2 * SECOND);
    let told = granted(5, "node-0").now.expect("how it stands");
    instance.heard(2 * SECOND, &told);
    assert!(!instance.has_lease(2 * SECOND));
    let left = instance.probe_wanted(2 * SECOND).expect_err("not yet");
    assert!(left < Duration::from_millis(10), "{left:?}");
    let (_, command) = instance.asks(2 * SECOND);
    assert!(matches!(command, Command::Lease { .. }), "{command:?}");
}
