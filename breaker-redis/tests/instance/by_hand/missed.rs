//! An operator's word that was missed, of which only what came after is heard.

use super::{ByHand, OPEN, TRIPPED, done, generation, happened, told, with};
use crate::node::CLOSED;
use crate::races::options;
use crate::world::SECOND;
use breaker_redis::instance::{Instance, Options, Step};
use breaker_redis::protocol::{Cause, Command, Quorum, Told, Version};
use breakerbox::State;

/// What became of a circuit after an operator had closed it.
fn later() -> Told {
    let epoch = 8;
    Told {
        version: Version { epoch, counter: 4 },
        operated: Some(Version { epoch, counter: 1 }),
        ..told(4, CLOSED, Cause::Recovered, "other")
    }
}

/// One that has failures of its own, and is open by itself if it `tripped`.
fn knowing(tripped: bool) -> Instance {
    let mut instance = with(Options {
        quorum: Quorum::Instances(3),
        ..options(0)
    });
    let (asked, _) = instance.asks(SECOND);
    let told = told(4, CLOSED, Cause::Recovered, "other");
    instance.replied(SECOND, asked, Ok(&done(told.clone())));
    if tripped {
        instance.changed(SECOND, &happened(1, OPEN, TRIPPED));
        let (asked, command) = instance.asks(SECOND);
        assert!(matches!(command, Command::Vote { open: true, .. }));
        instance.replied(SECOND, asked, Ok(&done(told)));
    }
    instance
}

#[test]
fn who_is_open_by_itself_closes_by_it_and_votes_no_more() {
    let mut instance = knowing(true);
    instance.heard(2 * SECOND, &later());
    let follow = instance.follows(2 * SECOND);
    assert_eq!(follow.to.state, State::Closed);
    instance.followed(2 * SECOND, Ok(generation(2)));
    let mut now = 2 * SECOND;
    while now < 20 * SECOND {
        match instance.next(now) {
            Step::Ask(asked, Command::Read { .. }) => {
                instance.replied(now, asked, Ok(&done(later())));
            }
            Step::Wait(until) => now = until.expect("a poll"),
            step => panic!("{step:?}"),
        }
    }
}

#[test]
fn failures_of_before_it_count_no_more_for_who_is_closed() {
    let mut instance = knowing(false);
    instance.heard(2 * SECOND, &later());
    // A state that begins anew, with nothing counted.
    assert_eq!(instance.follows(2 * SECOND).to.state, State::Closed);
}

#[test]
fn where_redis_has_lost_all_what_was_counted_still_counts() {
    for operated in [
        None,
        // A word that was known here already, offered again.
        Some(Version {
            epoch: 7,
            counter: 2,
        }),
    ] {
        for tripped in [false, true] {
            let mut instance = knowing(tripped);
            let anew = Told {
                operated,
                ..later()
            };
            instance.heard(2 * SECOND, &anew);
            match instance.next(2 * SECOND) {
                Step::Ask(_, Command::Vote { open: true, .. }) if tripped => {}
                Step::Wait(_) if !tripped => {}
                step => panic!("{step:?}, with {operated:?}"),
            }
        }
    }
}
