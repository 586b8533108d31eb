//! The lease.

use super::{ByHand, OPEN, TRIAL, at, done, generation, happened, refused, told, version};
use crate::world::{MS, SECOND};
use breaker_redis::instance::{Settled, Step};
use breaker_redis::protocol::{Cause, Command, Counts, Shared, Who};

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
    let mut granted = told(5, TRIAL, Cause::Leased, "node-0");
    granted.lease = Some((Who::new("node-0").expect("a name"), SECOND));
    let reply = done(granted);
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
    let mut granted = told(5, TRIAL, Cause::Leased, "node-0");
    granted.lease = Some((Who::new("node-0").expect("a name"), SECOND));
    instance.replied(2 * SECOND + 800 * MS, asked, Ok(&done(granted)));
    assert!(instance.has_lease(2 * SECOND + 874 * MS));
    assert!(!instance.has_lease(2 * SECOND + 876 * MS));
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
    let mut granted = told(5, TRIAL, Cause::Leased, "node-0");
    granted.lease = Some((Who::new("node-0").expect("a name"), SECOND));
    instance.replied(SECOND, asked, Ok(&done(granted)));
    assert!(instance.has_lease(10 * SECOND + 800 * MS));
}
