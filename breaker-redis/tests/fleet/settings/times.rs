//! Times that can't work: each by itself, beside others of the fleet, and beside those of a breaker.

use crate::support::name;
use breaker_redis::{Fleet, FleetBreaker, FleetBuilder, FleetError, FleetKeyedBreakers};
use breaker_redis::{Sharing, SharingError};
use breakerbox::{Breaker, Settings};
use std::time::Duration;

const NANO: Duration = Duration::from_nanos(1);
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

const fn milliseconds(so_many: u64) -> Duration {
    Duration::from_millis(so_many)
}

fn plain() -> FleetBuilder {
    Fleet::builder("redis://127.0.0.1:1")
}

type Set = fn(FleetBuilder, Duration) -> FleetBuilder;

/// Each time, and within what it works, where those beside it let it.
const TIMES: [(&str, Set, Duration, Duration); 6] = [
    (
        "poll",
        |of, time| of.poll(time).alive(DAY),
        milliseconds(100),
        HOUR,
    ),
    (
        "alive",
        |of, time| of.poll(milliseconds(100)).alive(time),
        milliseconds(300),
        DAY,
    ),
    ("batch", FleetBuilder::batch, milliseconds(1), SECOND),
    (
        "lease",
        |of, time| of.answer(milliseconds(10)).lease(time),
        milliseconds(100),
        MINUTE,
    ),
    (
        "answer",
        |of, time| of.lease(MINUTE).answer(time),
        milliseconds(10),
        MINUTE,
    ),
    ("connect", FleetBuilder::connect, milliseconds(10), MINUTE),
];

#[test]
fn a_time_out_of_its_bounds_is_refused_with_both_and_what_to_set() {
    for (of, set, shortest, longest) in TIMES {
        for works in [shortest, longest] {
            let fleet = set(plain(), works).start();
            assert!(fleet.is_ok(), "{of} of {works:?}: {fleet:?}");
        }
        for short in [Duration::ZERO, shortest - NANO] {
            let error = set(plain(), short).start().expect_err(of);
            let FleetError::TooShort {
                setting,
                value,
                least,
                why,
            } = error
            else {
                panic!("{of} of {short:?}: {error:?}");
            };
            assert_eq!((setting, value, least), (of, short, shortest));
            says(&error, of, why);
        }
        for long in [longest + NANO, longest * 2, Duration::MAX] {
            let error = set(plain(), long).start().expect_err(of);
            let FleetError::TooLong {
                setting,
                value,
                most,
                why,
            } = error
            else {
                panic!("{of} of {long:?}: {error:?}");
            };
            assert_eq!((setting, value, most), (of, long, longest));
            says(&error, of, why);
        }
    }
}

fn says(error: &FleetError, setting: &str, why: &str) {
    let said = error.to_string();
    assert!(said.starts_with(&format!("`{setting}` is ")), "{said}");
    assert!(said.ends_with(why) && why.contains(", so set "), "{said}");
}

#[test]
fn times_that_cannot_work_beside_each_other_are_refused() {
    let seconds = Duration::from_secs;
    for (fleet, of, beside) in [
        (plain().poll(seconds(8)), "alive", "`poll`"),
        (plain().alive(seconds(10) - NANO), "alive", "`poll`"),
    ] {
        let error = fleet.start().expect_err(of);
        let FleetError::TooShort {
            setting,
            least,
            why,
            ..
        } = error
        else {
            panic!("{error:?}");
        };
        assert!(setting == of && [seconds(16), seconds(10)].contains(&least));
        assert!(why.contains(beside), "{why}");
        says(&error, of, why);
    }
    for (fleet, of, most, beside) in [
        (
            plain().poll(milliseconds(100)).batch(milliseconds(101)),
            "batch",
            milliseconds(100),
            "`poll`",
        ),
        (plain().answer(MINUTE), "answer", seconds(5), "`lease`"),
        (
            plain().lease(SECOND - NANO),
            "answer",
            SECOND - NANO,
            "`lease`",
        ),
    ] {
        let error = fleet.start().expect_err(of);
        let FleetError::TooLong {
            setting,
            most: bound,
            why,
            ..
        } = error
        else {
            panic!("{error:?}");
        };
        assert_eq!((setting, bound), (of, most));
        assert!(why.contains(beside), "{why}");
        says(&error, of, why);
    }
    for works in [
        plain().alive(seconds(10)),
        plain().poll(milliseconds(100)).batch(milliseconds(100)),
        plain().answer(seconds(5)),
        plain().lease(SECOND),
    ] {
        assert!(works.clone().start().is_ok(), "{works:?}");
    }
}

/// What only is known once it is shared. A fleet's own lease is no longer than a breaker's probes, however
/// long it was set.
#[test]
fn a_breakers_lease_is_looked_at_once_it_is_shared() {
    let fleet = plain()
        .answer(2 * SECOND)
        .lease(MINUTE)
        .start()
        .expect("a fleet");
    let probes = |timeout| Settings::new().probe_timeout(timeout).must();
    let share = |timeout, sharing: Sharing| {
        let breaker = Breaker::shared(name("leased"), probes(timeout));
        let breaker = FleetBreaker::try_of(breaker, sharing).expect("a breaker");
        fleet.share(&breaker)
    };
    let lease = |lease| Sharing::new().lease(lease);
    for (timeout, sharing) in [
        (milliseconds(50), Sharing::new()),
        (2 * SECOND, lease(2 * SECOND)),
        (MINUTE, lease(MINUTE)),
    ] {
        let shared = share(timeout, sharing);
        assert!(shared.is_ok(), "{sharing:?}: {shared:?}");
    }
    for (timeout, sharing, is_it) in [
        (
            3 * SECOND,
            lease(4 * SECOND),
            SharingError::LeaseAboveProbeTimeout {
                lease: 4 * SECOND,
                probe_timeout: 3 * SECOND,
            },
        ),
        (
            MINUTE,
            lease(SECOND),
            SharingError::LeaseBelowAnswer {
                lease: SECOND,
                answer: 2 * SECOND,
            },
        ),
    ] {
        let refused = share(timeout, sharing).expect_err("to be refused");
        let FleetError::Sharing { name, error } = &refused else {
            panic!("{refused:?}");
        };
        assert!(name.starts_with("leased"), "{refused}");
        assert_eq!(*error, is_it);
        assert!(refused.to_string().contains(": set "), "{refused}");
    }
    let keys = breakerbox::KeyedBreakers::<u64>::shared(name("keys"), probes(MINUTE), 10);
    let keys = FleetKeyedBreakers::of(keys.expect("breakers"), lease(SECOND));
    let refused = fleet.share_keyed(&keys).expect_err("to be refused");
    assert!(
        refused.to_string().contains("`answer` of the fleet"),
        "{refused}"
    );
}
