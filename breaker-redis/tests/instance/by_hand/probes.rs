//! The probes of a trial: which are waited for.

use super::lease::{ended, granted, leasing};
use super::{ByHand, OPEN, TRIAL, TRIPPED, at, done, happened, told, version};
use crate::world::{MS, SECOND};
use breaker_redis::protocol::{Cause, Command, Shared};

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
fn after_a_lease_that_was_of_no_use_who_calls_rarely_probes_at_once() {
    // Another has the lease for a second from 2 s on, and calls as rarely.
    for (asked_at, may) in [(None, true), (Some(2_500 * MS), false)] {
        let mut instance = at(Shared { wait: 0, ..OPEN });
        let held = granted(5, "node-1").now.expect("how it stands");
        instance.heard(2 * SECOND, &held);
        if let Some(at) = asked_at {
            assert!(instance.probe_wanted(at).is_err(), "the other has it");
            instance.waits(at);
        }
        // It isn't known to be over for longer than a message may take.
        let lapsed = 3_200 * MS;
        assert_eq!(instance.probe_wanted(lapsed).is_ok(), may, "{asked_at:?}");
        let (_, command) = instance.asks(lapsed);
        assert!(matches!(command, Command::Lease { .. }), "{command:?}");
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
