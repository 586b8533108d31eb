//! The lease.

use super::{
    ByHand, OPEN, TRIAL, TRIPPED, at, done, generation, happened, refused, told, version, with,
};
use crate::races::options;
use crate::world::{MS, SECOND};
use breaker_redis::instance::{Asked, Instance, Options, Settled, Step, Unanswered};
use breaker_redis::protocol::{Cause, Command, Counts, Reply, Shared, Stored, Verdict, Who, apply};
use breakerbox::State;
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
fn leasing() -> (Instance, Asked) {
    let mut instance = at(Shared { wait: 0, ..OPEN });
    let _ = instance.probe_wanted(2 * SECOND);
    let (asked, command) = instance.asks(2 * SECOND);
    assert!(matches!(command, Command::Lease { .. }), "{command:?}");
    (instance, asked)
}

fn granted(counter: u64, holder: &str) -> Reply {
    let mut granted = told(counter, TRIAL, Cause::Leased, holder);
    granted.lease = Some((Who::new(holder).expect("a name"), SECOND));
    done(granted)
}

fn ended(instance: &mut Instance, number: u32) {
    let settled = Settled {
        generation: generation(number),
        counted: false,
        counts: Counts::default(),
    };
    instance.settled(2 * SECOND, &settled);
}

#[test]
fn at_the_end_the_lease_is_given_back() {
    let known = Some(version(5));
    let release = vec![Command::Release { known }];
    let (mut instance, asked) = leasing();
    assert_eq!(
        instance.farewell(2 * SECOND),
        release,
        "by then it may be its"
    );
    instance.replied(2 * SECOND, asked, Ok(&granted(5, "node-0")));
    assert_eq!(instance.farewell(2 * SECOND), [], "it is not its any more");
    let (mut instance, _) = leasing();
    instance.changed(2 * SECOND, &happened(2, OPEN, Cause::Operator));
    let told = instance.farewell(2 * SECOND);
    assert!(matches!(told[..], [Command::Change { .. }]), "{told:?}");
    let (mut instance, asked) = leasing();
    instance.replied(2 * SECOND, asked, Ok(&granted(5, "node-0")));
    assert_eq!(instance.farewell(2 * SECOND), release);
    assert_eq!(instance.farewell(3 * SECOND), [], "it has run out");
}

#[test]
fn a_lease_that_is_on_its_way_is_given_back_if_it_is_got_and_else_nobody_loses_one() {
    for other_is_first in [false, true] {
        let (mut stored, now) = (Stored::default(), 10 * SECOND);
        let caller = |name: &str| Options::new(Who::new(name).expect("a name")).caller();
        let open = Shared { wait: 0, ..OPEN };
        let change = Command::Change {
            known: None,
            to: open,
            cause: TRIPPED,
            again: false,
        };
        let tripped = apply(&mut stored, now, &caller("other"), &change);
        let begun = tripped.reply.now.expect("how it stands");

        let mut instance = with(options(0));
        instance.heard(SECOND, &begun);
        instance.follows(SECOND);
        instance.followed(SECOND, Ok(generation(1)));
        assert!(instance.probe_wanted(2 * SECOND).is_err());
        let (_, lease) = instance.asks(2 * SECOND);
        assert!(matches!(lease, Command::Lease { .. }), "{lease:?}");
        let [release] = &instance.farewell(2 * SECOND)[..] else {
            panic!("no last word");
        };

        if other_is_first {
            apply(&mut stored, now, &caller("other"), &lease);
        }
        apply(&mut stored, now, &instance.caller(), &lease);
        apply(&mut stored, now, &instance.caller(), release);
        let record = stored.record.expect("a record");
        let holder = record.lease.map(|lease| lease.holder);
        let expected = other_is_first.then(|| caller("other").who);
        assert_eq!(holder, expected);
        let state = match other_is_first {
            true => State::HalfOpen,
            false => State::Open,
        };
        assert_eq!(record.shared.state, state);
    }
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
fn with_the_lease_it_probes_once_it_stands_as_the_fleet_does() {
    let (mut instance, asked) = leasing();
    instance.heard(2 * SECOND, &told(5, OPEN, TRIPPED, "other"));
    instance.follows(2 * SECOND);
    instance.replied(2 * SECOND, asked, Ok(&granted(6, "node-0")));
    assert!(instance.has_lease(2 * SECOND));
    assert!(instance.probe_wanted(2 * SECOND).is_err());
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
fn probes_of_a_trial_that_another_replaced_are_not_waited_for() {
    let (mut instance, asked) = leasing();
    instance.replied(2 * SECOND, asked, Ok(&granted(5, "node-0")));
    for number in [2, 3] {
        assert_eq!(instance.probe_wanted(2 * SECOND), Ok(()));
        instance.changed(2 * SECOND, &happened(number, TRIAL, Cause::Leased));
    }
    ended(&mut instance, 2);
    instance.waits(2 * SECOND);
    ended(&mut instance, 3);
    let known = Some(version(5));
    assert_eq!(instance.asks(2 * SECOND).1, Command::Release { known });
}

#[test]
fn a_trial_by_itself_has_no_lease_to_give_back_and_none_to_renew() {
    let (mut instance, _) = leasing();
    instance.lost(2 * SECOND);
    assert_eq!(instance.probe_wanted(2 * SECOND), Ok(()));
    instance.changed(2 * SECOND, &happened(2, TRIAL, Cause::Leased));
    ended(&mut instance, 2);
    instance.found(2 * SECOND);
    instance.waits(2 * SECOND);
    // Its next probe wants one, and doesn't come.
    let _ = instance.probe_wanted(2 * SECOND);
    let (asked, _) = instance.asks(2 * SECOND);
    instance.replied(2 * SECOND, asked, Ok(&granted(5, "node-0")));
    let poll = instance.waits(2 * SECOND).expect("it ends");
    assert_eq!(poll, 2 * SECOND + 875 * MS);
}

#[test]
fn all_probes_that_were_let_through_are_waited_for_in_each_trial() {
    let (mut instance, asked) = leasing();
    instance.replied(2 * SECOND, asked, Ok(&granted(5, "node-0")));
    assert_eq!(instance.probe_wanted(2 * SECOND), Ok(()));
    instance.changed(2 * SECOND, &happened(2, TRIAL, Cause::Leased));
    let over = Shared { wait: 0, ..OPEN };
    instance.changed(2 * SECOND, &happened(3, over, TRIPPED));
    assert!(!instance.has_lease(2 * SECOND), "the trial is over");
    let (asked, _) = instance.asks(2 * SECOND);
    instance.replied(
        2 * SECOND,
        asked,
        Ok(&done(told(6, over, TRIPPED, "node-0"))),
    );
    let _ = instance.probe_wanted(2 * SECOND);
    let (asked, _) = instance.asks(2 * SECOND);
    instance.replied(2 * SECOND, asked, Ok(&granted(7, "node-0")));
    // Two threads are let through before the first of them tells of it.
    assert_eq!(instance.probe_wanted(2 * SECOND), Ok(()));
    assert_eq!(instance.probe_wanted(2 * SECOND), Ok(()));
    instance.changed(2 * SECOND, &happened(4, TRIAL, Cause::Leased));
    ended(&mut instance, 4);
    instance.waits(2 * SECOND);
    ended(&mut instance, 4);
    let known = Some(version(7));
    assert_eq!(instance.asks(2 * SECOND).1, Command::Release { known });
}

#[test]
fn probes_that_were_allowed_and_not_made_are_not_waited_for() {
    let known = Some(version(5));
    // Two threads may, and one is quicker; the other says so before or after that one's probe has ended.
    for is_late in [true, false] {
        let (mut instance, asked) = leasing();
        instance.replied(2 * SECOND, asked, Ok(&granted(5, "node-0")));
        assert_eq!(instance.probe_wanted(2 * SECOND), Ok(()));
        assert_eq!(instance.probe_wanted(2 * SECOND), Ok(()));
        if !is_late {
            instance.probe_withdrawn(2 * SECOND);
        }
        instance.changed(2 * SECOND, &happened(2, TRIAL, Cause::Leased));
        if is_late {
            ended(&mut instance, 2);
            instance.waits(2 * SECOND);
            instance.probe_withdrawn(2 * SECOND);
        } else {
            let renewal = instance.waits(2 * SECOND);
            assert_eq!(renewal, Some(2 * SECOND + 500 * MS), "one probes");
            ended(&mut instance, 2);
        }
        assert_eq!(instance.asks(2 * SECOND).1, Command::Release { known });
    }
}

#[test]
fn a_lease_of_which_no_call_made_use_is_neither_renewed_nor_given_back() {
    let (mut instance, asked) = leasing();
    instance.replied(2 * SECOND, asked, Ok(&granted(5, "node-0")));
    for _ in 0..3 {
        assert_eq!(instance.probe_wanted(2 * SECOND), Ok(()));
        instance.probe_withdrawn(2 * SECOND);
        instance.probe_withdrawn(2 * SECOND);
    }
    let lapse = 2 * SECOND + 875 * MS;
    assert_eq!(instance.waits(2 * SECOND), Some(lapse));
    instance.waits(lapse);
    assert!(!instance.has_lease(lapse));
    assert_eq!(
        instance.probe_wanted(lapse + 200 * MS),
        Ok(()),
        "its calls are too rare for a lease"
    );
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

#[test]
fn a_lease_that_ended_unused_lets_one_call_through_and_not_two() {
    let (mut instance, asked) = leasing();
    instance.replied(2 * SECOND, asked, Ok(&granted(5, "node-0")));
    instance.waits(3 * SECOND);
    assert!(!instance.has_lease(3 * SECOND));
    assert_eq!(instance.probe_wanted(4 * SECOND), Ok(()));
    assert!(instance.probe_wanted(4 * SECOND).is_err());
    let (_, command) = instance.asks(4 * SECOND);
    assert!(matches!(command, Command::Lease { .. }), "{command:?}");
}
