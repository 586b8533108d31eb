//! What others did, and what happens here meanwhile.

use super::{ByHand, OPEN, TRIAL, TRIPPED, at, done, generation, happened, told, version, with};
use crate::node::{CLOSED, probes};
use crate::races::options;
use crate::world::{MS, SECOND};
use breaker_redis::instance::{Instance, Options, Step};
use breaker_redis::protocol::{Cause, Command, Quorum, Shared, Told};
use breakerbox::State;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn what_happens_after_a_follow_is_told_although_the_follow_was_told_later() {
    let mut instance = at(CLOSED);
    instance.heard(2 * SECOND, &told(5, OPEN, TRIPPED, "other"));
    let follow = instance.follows(2 * SECOND);
    assert_eq!(
        (follow.only_in, follow.to.state),
        (generation(0), State::Open)
    );
    assert_eq!(follow.why.version, version(5));
    // It followed as 1, and was closed and tripped again before that was told.
    instance.changed(2 * SECOND, &happened(2, TRIAL, Cause::Leased));
    instance.changed(2 * SECOND, &happened(3, CLOSED, Cause::Recovered));
    instance.followed(2 * SECOND, Ok(generation(1)));
    let (_, command) = instance.asks(2 * SECOND);
    let expected = Command::Change {
        known: Some(version(5)),
        to: CLOSED,
        cause: Cause::Recovered,
        again: false,
    };
    assert_eq!(command, expected);
}

#[test]
fn what_happens_before_a_follow_counts_for_nothing() {
    let mut instance = at(OPEN);
    instance.heard(2 * SECOND, &told(5, CLOSED, Cause::Operator, "other"));
    instance.follows(2 * SECOND);
    instance.changed(2 * SECOND, &happened(2, OPEN, TRIPPED));
    instance.followed(2 * SECOND, Err(generation(2)));
    let follow = instance.follows(2 * SECOND);
    assert_eq!(
        (follow.only_in, follow.to.state),
        (generation(2), State::Closed)
    );
    instance.followed(2 * SECOND, Ok(generation(3)));
    instance.waits(2 * SECOND);
}

#[test]
fn what_it_could_not_follow_it_follows_once_it_is_told_why() {
    let mut instance = at(OPEN);
    instance.heard(2 * SECOND, &told(5, CLOSED, Cause::Recovered, "other"));
    instance.follows(2 * SECOND);
    instance.followed(2 * SECOND, Err(generation(2)));
    instance.waits(2 * SECOND);
    instance.changed(2 * SECOND, &happened(2, OPEN, TRIPPED));
    assert_eq!(instance.follows(2 * SECOND).only_in, generation(2));
}

#[test]
fn what_it_could_not_follow_and_is_never_told_why_it_follows_after_the_next_poll() {
    let mut instance = at(OPEN);
    instance.heard(2 * SECOND, &told(5, CLOSED, Cause::Recovered, "other"));
    instance.follows(2 * SECOND);
    instance.followed(2 * SECOND, Err(generation(2)));
    let poll = instance.waits(2 * SECOND).expect("a poll");
    let (asked, _) = instance.asks(poll);
    let reply = done(told(5, CLOSED, Cause::Recovered, "other"));
    instance.replied(poll + MS, asked, Ok(&reply));
    assert_eq!(instance.follows(poll + MS).only_in, generation(2));
}

#[test]
fn what_came_while_it_followed_is_followed_next() {
    let mut instance = at(CLOSED);
    instance.heard(2 * SECOND, &told(5, OPEN, TRIPPED, "other"));
    instance.follows(2 * SECOND);
    let longer = Shared {
        wait: 60 * SECOND,
        ..OPEN
    };
    instance.heard(2 * SECOND, &told(6, longer, Cause::Operator, "other"));
    instance.followed(2 * SECOND, Ok(generation(1)));
    let follow = instance.follows(2 * SECOND);
    assert_eq!(
        (follow.only_in, follow.to.state),
        (generation(1), State::Open)
    );
    assert_eq!(follow.to.time_left.as_secs(), 60);
}

#[test]
fn an_older_message_and_the_same_one_again_change_nothing() {
    let mut instance = at(OPEN);
    for counter in [3, 4] {
        instance.heard(2 * SECOND, &told(counter, CLOSED, Cause::Operator, "other"));
        instance.waits(2 * SECOND);
        assert_eq!(instance.known(), Some(version(4)));
    }
}

#[test]
fn an_operators_word_is_followed_by_who_is_closed_already_and_a_new_life_is_not() {
    for (cause, offered, follows) in [
        (Cause::Operator, None, true),
        (Cause::Founded, None, false),
        // It was an operator's before Redis lost it.
        (Cause::Operator, Some(version(4)), false),
    ] {
        let mut instance = at(CLOSED);
        let mut told = Told {
            offered,
            ..told(1, CLOSED, cause, "other")
        };
        told.version.epoch += 1;
        told.operated = told.operated.map(|_| offered.unwrap_or(told.version));
        instance.heard(2 * SECOND, &told);
        match instance.next(2 * SECOND) {
            // What was counted until then is forgotten with it.
            Step::Follow(follow) => assert!(follows, "{follow:?}"),
            step => assert!(!follows, "{step:?}"),
        }
        assert_eq!(instance.known(), Some(told.version));
    }
}

/// To follow would be told to observers as a change.
#[test]
fn who_stands_so_already_does_not_follow() {
    let open = |wait| Shared { wait, ..OPEN };
    let of = |state| Shared { state, ..CLOSED };
    let imposed = Shared {
        imposed: true,
        ..OPEN
    };
    let again = Shared {
        reopenings: 1,
        ..OPEN
    };
    for (here, there, follows) in [
        // Of the two seconds one has passed.
        (OPEN, open(SECOND), false),
        (OPEN, open(1_900 * MS), false),
        (OPEN, open(9 * SECOND), true),
        (OPEN, imposed, true),
        (OPEN, again, true),
        (OPEN, of(State::ForcedOpen), true),
        (of(State::ForcedOpen), of(State::ForcedOpen), false),
        (of(State::Disabled), of(State::Disabled), false),
        (of(State::Shadow), of(State::Shadow), false),
        (of(State::ForcedOpen), of(State::Disabled), true),
        (of(State::ForcedOpen), OPEN, true),
        (of(State::ForcedOpen), CLOSED, true),
    ] {
        for offered in [Some(version(4)), None] {
            let mut instance = at(here);
            let mut told = Told {
                offered,
                ..told(1, there, Cause::Operator, "other")
            };
            told.version.epoch += 1;
            instance.heard(2 * SECOND + 2 * MS, &told);
            // Where nothing was lost, it is another opening.
            let follows = follows || there.state == State::Open && offered.is_none();
            match instance.next(2 * SECOND + 2 * MS) {
                Step::Follow(follow) => assert!(follows, "{here:?} {follow:?}"),
                step => assert!(!follows, "{here:?} {there:?} {step:?}"),
            }
            assert_eq!(instance.known(), Some(told.version));
            // What it does from there on is known to be later.
            if !follows {
                instance.changed(3 * SECOND, &happened(2, CLOSED, Cause::Operator));
                let (_, command) = instance.asks(3 * SECOND);
                assert_eq!(command.known(), Some(told.version));
            }
        }
    }
}

#[test]
fn another_state_of_the_same_number_is_followed_where_redis_says_so() {
    let mut instance = at(OPEN);
    let poll = instance.waits(2 * SECOND).expect("a poll");
    let (asked, _) = instance.asks(poll);
    let reply = done(told(4, CLOSED, Cause::Operator, "other"));
    instance.replied(poll, asked, Ok(&reply));
    assert_eq!(instance.follows(poll).to.state, State::Closed);
}

#[test]
fn what_was_heard_since_it_asked_is_not_forgotten_for_what_it_had_asked_with() {
    let mut instance = at(CLOSED);
    instance.heard(2 * SECOND, &told(9, CLOSED, Cause::Recovered, "other"));
    instance.follows(2 * SECOND);
    instance.followed(2 * SECOND, Ok(generation(1)));
    let poll = instance.waits(2 * SECOND).expect("a poll");
    let (asked, command) = instance.asks(poll);
    assert_eq!(command.known(), Some(version(9)));
    instance.heard(poll, &told(12, OPEN, TRIPPED, "other"));
    // That 9 isn't believed says nothing of 12.
    let reply = done(told(5, CLOSED, Cause::Recovered, "other"));
    instance.replied(poll, asked, Ok(&reply));
    assert_eq!(instance.known(), Some(version(12)));
}

#[test]
fn what_a_thread_tells_late_and_was_followed_over_is_not_told() {
    let mut instance = at(OPEN);
    instance.changed(2 * SECOND, &happened(0, OPEN, TRIPPED));
    instance.waits(2 * SECOND);
}

#[test]
fn who_waits_for_a_trial_follows_only_what_is_another_wait() {
    let over = Shared { wait: 0, ..OPEN };
    let more = Shared {
        reopenings: 1,
        ..over
    };
    for (to, cause, follows) in [
        (over, Cause::Released, false),
        (TRIAL, Cause::Leased, false),
        (more, Cause::Released, true),
        (over, Cause::Operator, true),
        (OPEN, TRIPPED, true),
    ] {
        // Its own clock may be a little behind.
        let mut instance = at(OPEN);
        instance.heard(2 * SECOND, &told(5, to, cause, "other"));
        assert_eq!(
            matches!(instance.next(2 * SECOND), Step::Follow(_)),
            follows,
            "{to:?}"
        );
        // One in between was missed, or not yet followed: it may have been anything.
        let mut instance = at(OPEN);
        instance.heard(2 * SECOND, &told(6, to, cause, "other"));
        instance.follows(2 * SECOND);
        let mut instance = at(OPEN);
        instance.heard(2 * SECOND, &told(5, CLOSED, Cause::Recovered, "other"));
        instance.heard(2 * SECOND, &told(6, to, cause, "other"));
        instance.follows(2 * SECOND);
    }
}

#[test]
fn what_happens_in_ignorance_of_what_is_to_be_followed_counts_for_nothing() {
    let mut instance = at(OPEN);
    instance.heard(2 * SECOND, &told(5, CLOSED, Cause::Operator, "other"));
    instance.changed(2 * SECOND, &happened(2, OPEN, TRIPPED));
    assert_eq!(instance.follows(2 * SECOND).only_in, generation(2));
    instance.followed(2 * SECOND, Ok(generation(3)));
    instance.waits(2 * SECOND);
}

#[test]
fn a_vote_is_given_again_in_a_new_life() {
    let mut instance = with(Options {
        quorum: Quorum::Instances(2),
        ..options(0)
    });
    instance.changed(SECOND, &happened(1, OPEN, TRIPPED));
    let (asked, command) = instance.asks(SECOND);
    assert!(
        matches!(command, Command::Vote { open: true, .. }),
        "{command:?}"
    );
    let founded = told(4, CLOSED, Cause::Founded, "node-0");
    instance.replied(SECOND, asked, Ok(&done(founded)));
    instance.waits(SECOND);
    let mut anew = told(1, CLOSED, Cause::Founded, "other");
    anew.version.epoch += 1;
    instance.heard(SECOND, &anew);
    let (_, command) = instance.asks(SECOND);
    let known = command.known();
    assert!(
        matches!(command, Command::Vote { open: true, .. }),
        "{command:?}"
    );
    assert_eq!(known, Some(anew.version));
}

#[test]
fn a_trip_before_the_first_answer_counts_where_that_says_closed() {
    for (there, follows) in [(CLOSED, false), (OPEN, true)] {
        let mut instance = with(options(0));
        let (asked, _) = instance.asks(SECOND);
        instance.changed(SECOND, &happened(1, OPEN, TRIPPED));
        let (_, command) = instance.asks(SECOND);
        assert!(
            matches!(command, Command::Change { known: None, .. }),
            "{command:?}"
        );
        let reply = done(told(4, there, Cause::Recovered, "other"));
        instance.replied(SECOND, asked, Ok(&reply));
        assert_eq!(matches!(instance.next(SECOND), Step::Follow(_)), follows);
    }
}

#[test]
fn what_could_not_be_followed_for_an_order_here_is_not_followed_after_it() {
    let mut instance = at(OPEN);
    instance.heard(2 * SECOND, &told(5, CLOSED, Cause::Recovered, "other"));
    instance.follows(2 * SECOND);
    let disabled = Shared {
        state: State::Disabled,
        ..CLOSED
    };
    instance.changed(2 * SECOND, &happened(2, disabled, Cause::Operator));
    let (asked, _) = instance.asks(2 * SECOND);
    let reply = done(told(6, disabled, Cause::Operator, "node-0"));
    instance.replied(2 * SECOND, asked, Ok(&reply));
    instance.followed(2 * SECOND, Err(generation(2)));
    instance.waits(2 * SECOND);
}

/// One that follows a recovery within 10 s, and is open.
fn slow() -> Instance {
    let mut instance = with(Options {
        slow_start: Duration::from_secs(10),
        ..options(0)
    });
    let (asked, _) = instance.asks(SECOND);
    let reply = done(told(4, OPEN, TRIPPED, "other"));
    instance.replied(SECOND, asked, Ok(&reply));
    instance.follows(SECOND);
    instance.followed(SECOND, Ok(generation(1)));
    instance.waits(SECOND);
    instance
}

#[test]
fn a_slow_start_follows_a_recovery_later_and_says_when() {
    let mut instance = slow();
    let heard = 4 * SECOND;
    instance.heard(heard, &told(5, TRIAL, Cause::Leased, "other"));
    instance.heard(heard, &told(6, CLOSED, Cause::Recovered, "other"));
    assert!(instance.time_left(heard) > Duration::from_secs(1));
    let left = probes(&mut instance, heard).expect_err("not yet");
    let until = heard + u64::try_from(left.as_micros()).expect("few");
    assert!(
        until > heard + SECOND && until <= heard + 10 * SECOND,
        "{until}"
    );

    let mut now = heard;
    while now < until {
        match instance.next(now) {
            // A poll, by which nothing begins anew.
            Step::Ask(asked, Command::Read { .. }) => {
                let reply = done(told(6, CLOSED, Cause::Recovered, "other"));
                instance.replied(now, asked, Ok(&reply));
            }
            Step::Wait(Some(next)) if next > now => now = next.min(until),
            step => panic!("{step:?} at {now}"),
        }
    }
    assert!(instance.time_left(until) <= Duration::from_millis(1));
    let follow = instance.follows(until);
    assert_eq!(follow.to.state, State::Closed);
}

#[test]
fn a_slow_start_does_not_hold_up_what_else_others_do() {
    for (state, cause) in [
        (CLOSED, Cause::Operator),
        (OPEN, TRIPPED),
        (
            Shared {
                state: State::ForcedOpen,
                ..CLOSED
            },
            Cause::Operator,
        ),
    ] {
        let mut instance = slow();
        instance.heard(4 * SECOND, &told(6, CLOSED, Cause::Recovered, "other"));
        instance.heard(4 * SECOND, &told(7, state, cause, "other"));
        assert_eq!(instance.follows(4 * SECOND).to.state, state.state);
    }
}

#[test]
fn who_is_cut_off_in_a_slow_start_still_follows() {
    let mut instance = slow();
    instance.heard(4 * SECOND, &told(6, CLOSED, Cause::Recovered, "other"));
    instance.lost(4 * SECOND);
    let until = instance.waits(4 * SECOND).expect("to follow");
    assert!(until > 4 * SECOND && until <= 14 * SECOND, "{until}");
    assert_eq!(instance.follows(until).to.state, State::Closed);
}

#[test]
fn slow_starts_are_spread() {
    let follows: Vec<Duration> = (0..8)
        .map(|seed| {
            let options = Options {
                slow_start: Duration::from_secs(10),
                ..options(0)
            };
            let mut instance = Instance::new(Arc::new(options), &happened(0, OPEN, None), 0, seed);
            instance.found(0);
            instance.heard(SECOND, &told(6, CLOSED, Cause::Recovered, "other"));
            instance.probe_wanted(SECOND).expect_err("not yet")
        })
        .collect();
    assert!(follows.iter().max() > follows.iter().min().map(|least| *least * 2).as_ref());
}
