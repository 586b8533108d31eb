//! Which of two states is the later, also of those that somebody made up.

use super::super::version::{AHEAD, LATEST, MAX_NUMBER};
use super::super::{Cause, Command, Known, Record, Shared, Verdict, Version, Who};
use super::rules::{HOUR, Redis, SECOND, by_operator, change, count, lease, offer, shared, vote};
use super::script::{CLOSE, OPEN, READ};
use crate::protocol::Quorum;
use breakerbox::State;

fn version(epoch: u64, counter: u64) -> Version {
    Version { epoch, counter }
}

fn record(version: Version) -> Record {
    Record {
        version,
        shared: Shared {
            state: State::ForcedOpen,
            ..shared(State::Closed)
        },
        since: 0,
        cause: Cause::Operator,
        by: Who::new("somebody").unwrap(),
        lease: None,
        operated: Some(version),
        offered: None,
        census: None,
        declared: None,
    }
}

/// From those that are usual to the greatest that can be told.
fn any_versions(now: u64) -> Vec<Version> {
    let epochs = [
        0,
        now - 1,
        now,
        now + AHEAD - 1,
        now + AHEAD,
        now + AHEAD + 1,
        MAX_NUMBER - 1,
        MAX_NUMBER,
    ];
    let counters = [0, 1, MAX_NUMBER - 1, MAX_NUMBER];
    let of = |epoch| counters.map(|counter| version(epoch, counter));
    epochs.into_iter().flat_map(of).collect()
}

#[test]
fn versions_only_grow() {
    assert_eq!(version(1, 1).next(), version(1, 2));
    assert_eq!(version(1, MAX_NUMBER).next(), version(2, 1));
    assert_eq!(Version::founded(7, None), version(7, 1));
    assert_eq!(Version::founded(7, Some(version(7, 9))), version(8, 1));
    assert_eq!(Version::founded(7, Some(version(3, 9))), version(7, 1));
    for now in [7, 1_764_530_000 * SECOND, LATEST] {
        for known in any_versions(now) {
            if known.is_believed(now) {
                let (next, founded) = (known.next(), Version::founded(now, Some(known)));
                for later in [next, founded] {
                    assert!(later > known, "{known:?} {later:?}");
                    assert!(later.is_believed(now + 1), "{known:?} {later:?}");
                    assert_eq!(later.bounded(), later);
                }
            }
        }
    }
}

#[test]
fn after_any_version_there_are_later_ones() {
    let start = Redis::new().now;
    for forged in any_versions(start) {
        let mut redis = Redis::new();
        redis.stored.record = Some(record(forged));
        let mut known: Known = None;
        for round in 0..20 {
            redis.now += 1;
            let state = if round % 2 == 0 {
                State::Disabled
            } else {
                State::Closed
            };
            let told = redis.done("web-1", &by_operator(known, state, false));
            assert!(Some(told.version) > known, "{forged:?}: {told:?} {known:?}");
            if forged.is_believed(start) {
                assert!(told.version > forged, "{forged:?}: {told:?}");
            }
            assert_eq!(told.shared.state, state);
            known = Some(told.version);
            // No command comes in the same microsecond as another.
            redis.now += 1;
            let tripped = change(known, State::Open);
            if state == State::Closed {
                known = Some(redis.done("web-2", &tripped).version);
            }
            assert_eq!(redis.done("web-2", &READ).version, known.unwrap());
        }
        // The key is deleted: who knew the last one begins another.
        redis.stored.record = None;
        redis.now += 1;
        let told = redis.done("web-1", &offer(known.unwrap(), OPEN));
        assert!(Some(told.version) > known);
    }
}

#[test]
fn what_is_not_believed_is_as_good_as_nothing() {
    let mut redis = Redis::new();
    let stands = redis.done("web-1", &CLOSE);
    let future: Vec<_> = any_versions(redis.now)
        .into_iter()
        .filter(|version| !version.is_believed(redis.now))
        .collect();
    assert_eq!(future.len(), 12);
    for known in future {
        // Whatever is asked: it is told how it stands, and neither that it is missing nor behind.
        for command in [
            Command::Read { known: Some(known) },
            count(Some(known), 1, 5),
        ] {
            assert_eq!(redis.done("web-1", &command), stands, "{known:?}");
        }
        for command in [
            offer(known, OPEN),
            lease(Some(known)),
            Command::Release { known: Some(known) },
        ] {
            assert_eq!(redis.refused("web-1", &command), stands, "{known:?}");
        }
        // Where nothing is held it founds a life of the present, and is not what was offered.
        for command in [
            offer(known, OPEN),
            change(Some(known), State::Open),
            count(Some(known), 1, 5),
            vote(Some(known), Quorum::Instances(9)),
        ] {
            let mut redis = Redis::new();
            let told = redis.done("web-1", &command);
            assert_eq!((told.version, told.offered), (version(redis.now, 1), None));
        }
        // Stored, it is forgotten, with all that was counted in it.
        let mut redis = Redis::new();
        redis.done("web-1", &count(None, 4, 5));
        redis.stored.record = Some(record(known));
        let missing = redis.ask("web-2", &READ);
        assert_eq!(missing.reply.verdict, Verdict::Missing, "{known:?}");
        assert_eq!(redis.stored.record, None);
        let told = redis.done("web-2", &count(None, 1, 5));
        assert_eq!(told.shared.state, State::Closed);
    }
}

#[test]
fn an_operators_word_is_later_than_all_before_it_also_than_what_was_lost() {
    let mut redis = Redis::new();
    let first = redis.done("web-1", &CLOSE);
    let older = redis.stored.clone();
    let mut lost = first.version;
    for _ in 0..100 {
        redis.now += SECOND;
        lost = redis
            .done("web-1", &by_operator(None, State::Disabled, false))
            .version;
        lost = redis
            .done("web-1", &by_operator(Some(lost), State::Closed, false))
            .version;
        lost = redis
            .done("web-1", &change(Some(lost), State::Open))
            .version;
    }
    redis.stored = older;
    redis.now += SECOND;
    // By one who knew nothing, or what Redis was restored to.
    for known in [None, Some(first.version)] {
        let mut redis = Redis {
            stored: redis.stored.clone(),
            ..redis
        };
        let told = redis.done("web-2", &by_operator(known, State::ForcedOpen, false));
        assert!(told.version > lost, "{told:?}");
        assert_eq!(
            redis.done("web-1", &Command::Read { known: Some(lost) }),
            told
        );
        assert_eq!(redis.refused("web-1", &offer(lost, OPEN)), told);
    }
}

#[test]
fn what_was_an_operators_word_and_is_offered_is_no_new_one() {
    let mut redis = Redis::new();
    let older = redis.done("web-1", &CLOSE).version;
    redis.now += SECOND;
    let later = redis
        .done("web-1", &by_operator(None, State::Disabled, false))
        .version;
    redis.now += HOUR;
    redis.stored.record = None;
    let offer = |known, state| Command::Offer {
        known,
        to: shared(state),
        cause: Cause::Operator,
    };
    let founded = redis.done("web-2", &offer(older, State::Closed));
    redis.now += SECOND;
    let told = redis.done("web-3", &offer(later, State::Disabled));
    assert_eq!(told.version, founded.version.next());
    assert_eq!(told.offered, Some(later));
}

#[test]
fn who_followed_an_offer_that_was_replaced_does_not_undo_the_later_one() {
    let mut redis = Redis::new();
    let older = redis.done("web-1", &CLOSE).version;
    redis.now += SECOND;
    let later = redis
        .done("web-1", &change(Some(older), State::Open))
        .version;
    redis.now += SECOND;
    redis.stored.record = None;
    let first = redis
        .done("web-1", &offer(older, shared(State::Closed)))
        .version;
    let second = redis.done("web-2", &offer(later, OPEN));
    assert_eq!(second.version, first.next());
    // It is later than what was offered second, but of this life.
    assert!(first > later);
    assert_eq!(
        redis.refused("web-3", &offer(first, shared(State::Closed))),
        second
    );
}
