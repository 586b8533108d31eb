//! Who may probe for all, case by case.

use super::super::{Cause, Command, Version, Who};
use super::rules::{HOUR, LONGEST_LEASE, Redis, SECOND, change, lease};
use super::script::OPEN;
use breakerbox::State;

#[test]
fn after_the_wait_one_may_probe_for_all() {
    let mut redis = Redis::new();
    let known = redis.opened();
    redis.now += OPEN.wait - 1;
    assert_eq!(redis.refused("web-1", &lease(known)).shared.wait, 1);
    redis.now += 1;
    redis.refused("web-1", &lease(None));
    let told = redis.done("web-1", &lease(known));
    assert_eq!(
        (told.shared.state, told.cause),
        (State::HalfOpen, Cause::Leased)
    );
    let holder = Who::new("web-1").unwrap();
    assert_eq!(told.lease, Some((holder.clone(), 5 * SECOND)));
    let known = Some(told.version);
    redis.now += SECOND;
    let told = redis.refused("web-2", &lease(known));
    assert_eq!(told.lease, Some((holder, 4 * SECOND)));
    for command in [
        change(known, State::Closed),
        Command::Release { known },
        Command::Renew { known, lasts: 9 },
    ] {
        redis.refused("web-2", &command);
    }
    // Its answer was lost: it is the same lease.
    let again = redis.done("web-1", &lease(None));
    assert_eq!(Some(again.version), known);
    let closed = redis.done("web-1", &change(known, State::Closed));
    assert_eq!((closed.shared.state, closed.lease), (State::Closed, None));
}

#[test]
fn a_lease_lasts_as_long_as_it_is_renewed() {
    let mut redis = Redis::new();
    let known = redis.with_trial("web-1");
    let lasts = 5 * SECOND;
    for _ in 0..10 {
        redis.now += 4 * SECOND;
        // All hear of it: who calls rarely would take it for one that is of no use to its holder.
        let renewed = redis.ask("web-1", &Command::Renew { known, lasts });
        let told = renewed.reply.now.expect("how it stands");
        let left = told.lease.map(|(_, left)| left);
        assert_eq!((renewed.publish, left), (true, Some(lasts)));
        assert_eq!(Some(told.version), known);
        redis.refused("web-2", &lease(known));
    }
    // Its holder crashed. Until somebody else has asked it could still come back.
    redis.now += lasts;
    redis.done("web-1", &Command::Renew { known, lasts });
    redis.now += lasts;
    let taken = redis.done("web-2", &lease(known));
    assert_eq!(Some(taken.version), known.map(Version::next));
    for command in [
        change(known, State::Closed),
        Command::Renew { known, lasts },
        Command::Release { known },
        lease(known),
    ] {
        redis.refused("web-1", &command);
    }
}

#[test]
fn a_trial_that_decided_nothing_leaves_the_next_to_another() {
    let mut redis = Redis::new();
    let known = redis.with_trial("web-1");
    let told = redis.done("web-1", &Command::Release { known });
    assert_eq!((told.shared.state, told.shared.wait), (State::Open, 0));
    assert_eq!(told.cause, Cause::Released);
    redis.done("web-2", &lease(Some(told.version)));
}

#[test]
fn a_lease_lasts_as_long_as_any_can_and_no_longer() {
    let lasts = u64::MAX;
    let mut redis = Redis::new();
    let known = redis.opened();
    redis.now += OPEN.wait;
    let told = redis.done("web-1", &Command::Lease { known, lasts });
    let holder = Who::new("web-1").unwrap();
    assert_eq!(told.lease, Some((holder.clone(), LONGEST_LEASE)));
    let known = Some(told.version);
    redis.done("web-1", &Command::Renew { known, lasts });
    // What somebody else has written is cut as well: for who reads it, too, however often he does.
    if let Some(lease) = redis
        .stored
        .record
        .as_mut()
        .and_then(|record| record.lease.as_mut())
    {
        (lease.since, lease.lasts) = (redis.now + HOUR, 24 * HOUR);
    }
    for passed in 0..LONGEST_LEASE / SECOND {
        let left = LONGEST_LEASE - passed * SECOND;
        let told = redis.done("web-2", &Command::Read { known });
        assert_eq!(told.lease, Some((holder.clone(), left)));
        redis.refused("web-2", &lease(known));
        redis.now += SECOND;
    }
    redis.done("web-2", &lease(known));
}
