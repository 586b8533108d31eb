//! What becomes of a circuit that Redis has lost, or has as it was earlier.

use super::super::{Command, Quorum, Stored, Verdict};
use super::rules::{HOUR, Redis, SECOND, change, count, lease, offer, shared, vote};
use super::script::{CLOSE, OPEN, READ};
use breakerbox::State;

#[test]
fn a_redis_that_was_emptied_begins_an_epoch_that_wins() {
    let mut redis = Redis::new();
    let before = redis.opened().unwrap();
    for now in [redis.now + SECOND, redis.now - HOUR] {
        redis.stored = Stored::default();
        redis.now = now;
        let known = Some(before);
        let missing = redis.ask("web-1", &Command::Read { known });
        assert_eq!(missing.reply.verdict, Verdict::Missing);
        let told = redis.done("web-1", &offer(before, OPEN));
        assert!(told.version > before && told.version.epoch > before.epoch);
        assert_eq!(told.offered, Some(before));
    }
}

#[test]
fn of_what_is_offered_the_latest_is_taken() {
    let mut redis = Redis::new();
    let old = redis.opened().unwrap();
    redis.now += SECOND;
    let late = redis.done("web-1", &CLOSE).version;
    redis.now += SECOND;
    let offers = [(old, OPEN), (late, shared(State::Closed))];
    for (first, second) in [(0, 1), (1, 0)] {
        redis.stored = Stored::default();
        let (known, to) = offers[first];
        redis.done("web-1", &offer(known, to));
        let (known, to) = offers[second];
        redis.ask("web-2", &offer(known, to));
        assert_eq!(redis.done("web-3", &READ).shared.state, State::Closed);
    }
    // Once something has happened, what was before is over.
    redis.stored = Stored::default();
    let told = redis.done("web-1", &offer(old, OPEN));
    redis.done("web-1", &change(Some(told.version), State::Closed));
    redis.refused("web-2", &offer(late, OPEN));
    // Of this life, nobody offers.
    let told = redis.done("web-3", &READ);
    redis.done("web-3", &offer(told.version, OPEN));
    assert_eq!(redis.done("web-3", &READ), told);
}

#[test]
fn older_data_is_found_out_and_made_up_for() {
    let mut redis = Redis::new();
    redis.opened();
    let older = redis.stored.clone();
    let known = redis.done("web-1", &CLOSE).version;
    let lost = redis.done("web-1", &CLOSE).version;
    redis.stored = older;
    for command in [
        Command::Read { known: Some(lost) },
        lease(Some(lost)),
        count(Some(lost), 9, 5),
        vote(Some(lost), Quorum::Instances(1)),
        Command::Release { known: Some(lost) },
    ] {
        redis.answers("web-1", &command, Verdict::Behind);
    }
    let told = redis.done("web-1", &offer(lost, shared(State::Closed)));
    // Nothing of what was lost is ever taken for later than what comes now.
    assert!(told.version.epoch > known.epoch);
    redis.refused("web-2", &offer(known, OPEN));
    let tripped = redis.done("web-2", &change(Some(told.version), State::Open));
    assert!(tripped.version > lost);
}
