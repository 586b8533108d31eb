//! What is said in the end of one that counts or votes.

use super::lease::{granted, leasing};
use super::{ByHand, OPEN, TRIPPED, done, generation, happened, told, version, with};
use crate::node::CLOSED;
use crate::races::options;
use crate::world::SECOND;
use breaker_redis::instance::{Instance, Options, Settled, Unanswered};
use breaker_redis::protocol::{Cause, Command, Counts, Limits, Quorum, Shared, Stored, Who, apply};
use breakerbox::{Generation, State};

fn counting() -> Instance {
    let mut instance = with(Options {
        counting: Some(Limits::Consecutive { threshold: 9 }),
        ..options(0)
    });
    let (asked, _) = instance.asks(SECOND);
    let told = told(4, CLOSED, Cause::Recovered, "other");
    instance.replied(SECOND, asked, Ok(&done(told)));
    instance
}

fn fails(instance: &mut Instance) {
    instance.settled(
        2 * SECOND,
        &Settled {
            generation: Generation::from_number(0),
            counted: true,
            counts: Counts {
                failures: 1,
                ..Counts::default()
            },
        },
    );
}

#[test]
fn what_was_counted_is_withdrawn() {
    let mut instance = counting();
    assert_eq!(instance.farewell(2 * SECOND), [], "it has counted nothing");
    fails(&mut instance);
    assert_eq!(instance.farewell(2 * SECOND), [], "nor told anybody");
    for is_answered in [true, false] {
        let mut instance = counting();
        fails(&mut instance);
        let (asked, command) = instance.asks(2 * SECOND);
        assert!(matches!(command, Command::Count { .. }), "{command:?}");
        let leave = Command::Leave {
            known: instance.known(),
        };
        if is_answered {
            let told = told(4, CLOSED, Cause::Recovered, "other");
            instance.replied(2 * SECOND, asked, Ok(&done(told)));
        }
        assert_eq!(instance.farewell(2 * SECOND), [leave], "{is_answered}");
    }
    let mut instance = counting();
    fails(&mut instance);
    let (asked, _) = instance.asks(2 * SECOND);
    instance.replied(2 * SECOND, asked, Err(Unanswered::Unknown));
    let said = instance.farewell(3 * SECOND);
    assert!(matches!(said[..], [Command::Leave { .. }]), "{said:?}");
}

#[test]
fn a_vote_is_withdrawn_and_one_that_is_not_told_never_is() {
    let mut instance = with(Options {
        quorum: Quorum::Instances(2),
        ..options(0)
    });
    let (asked, _) = instance.asks(SECOND);
    let told = told(4, CLOSED, Cause::Recovered, "other");
    instance.replied(SECOND, asked, Ok(&done(told)));
    assert_eq!(instance.farewell(2 * SECOND), []);
    instance.changed(2 * SECOND, &happened(1, OPEN, TRIPPED));
    let leave = Command::Leave {
        known: instance.known(),
    };
    assert_eq!(instance.farewell(2 * SECOND), [leave]);
}

#[test]
fn an_operators_word_is_said_first() {
    let mut instance = counting();
    fails(&mut instance);
    instance.asks(2 * SECOND);
    instance.changed(2 * SECOND, &happened(1, OPEN, Cause::Operator));
    let said = instance.farewell(2 * SECOND);
    let is_expected = matches!(
        said[..],
        [
            Command::Change {
                cause: Cause::Operator,
                ..
            },
            Command::Leave { .. }
        ]
    );
    assert!(is_expected, "{said:?}");
}

#[test]
fn who_counts_among_those_alive_does_no_more() {
    let share = breaker_redis::protocol::Share::new(0.5).expect("a share");
    let mut instance = with(Options {
        quorum: Quorum::Share(share),
        ..options(0)
    });
    let known = None;
    assert_eq!(instance.farewell(SECOND), [Command::Leave { known }]);
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
