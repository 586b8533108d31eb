//! What is said in the end of one that counts or votes.

use super::{ByHand, OPEN, TRIPPED, done, happened, told, with};
use crate::node::CLOSED;
use crate::races::options;
use crate::world::SECOND;
use breaker_redis::instance::{Instance, Options, Settled, Unanswered};
use breaker_redis::protocol::{Cause, Command, Counts, Limits, Quorum};
use breakerbox::Generation;

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
