//! When an answer was given.

use crate::clock::DEFAULT;
use breaker_core::Clock;
use core::time::Duration;

/// A reading of both clocks: one that never steps back, and one that goes on while
/// a machine is suspended. Inside a test scope, the scope's clock is both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Nanoseconds since whenever, in this process alone.
    monotonic: u64,
    /// Nanoseconds since 1970 (UTC), before it negative.
    wall: i128,
}

/// When test scopes begin, by their wall clock: 2026-01-01.
#[cfg(feature = "test-util")]
const SCOPES_BEGIN: i128 = 1_767_225_600 * 1_000_000_000;

impl Moment {
    pub(crate) fn now() -> Self {
        #[cfg(feature = "test-util")]
        if let Some(scope) = crate::test::current() {
            let elapsed = scope.now();
            return Self {
                monotonic: elapsed,
                wall: SCOPES_BEGIN + i128::from(elapsed),
            };
        }
        Self {
            monotonic: DEFAULT.exact(),
            wall: wall_clock(),
        }
    }

    /// By the wall clock, for what outlives the process: nanoseconds since 1970
    /// (UTC).
    #[cfg(any(
        test,
        all(
            feature = "last-good-disk",
            not(all(target_family = "wasm", target_os = "unknown"))
        )
    ))]
    pub(crate) fn wall(self) -> i128 {
        self.wall
    }

    /// Nanoseconds since whenever, in this process alone.
    #[cfg(all(
        feature = "last-good-disk",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    pub(crate) fn monotonic(self) -> u64 {
        self.monotonic
    }

    #[cfg(all(test, feature = "last-good-disk"))]
    pub(crate) fn at(monotonic: u64, wall: i128) -> Self {
        Self { monotonic, wall }
    }

    /// How much later this is, in nanoseconds: by the clock that says more.
    fn later_than(self, other: Self) -> i128 {
        let monotonic = i128::from(self.monotonic) - i128::from(other.monotonic);
        monotonic.max(self.wall.saturating_sub(other.wall))
    }
}

/// Nanoseconds since 1970 (UTC).
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn wall_clock() -> i128 {
    use std::time::SystemTime;

    match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => nanos(since),
        Err(before) => -nanos(before.duration()),
    }
}

/// Nanoseconds since 1970 (UTC).
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn wall_clock() -> i128 {
    i128::from(crate::clock::JsClock::date())
}

/// When an answer was given: so long before the moment of its storing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    stored: Moment,
    age: Duration,
}

impl Given {
    pub(crate) fn new(stored: Moment, age: Duration) -> Self {
        Self { stored, age }
    }

    /// The age at that moment.
    pub(crate) fn age(self, now: Moment) -> Duration {
        let nanos = u128::try_from(self.ago(now)).unwrap_or(0);
        let (secs, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        match u64::try_from(secs) {
            // Less than a second, so it fits.
            Ok(secs) => Duration::new(secs, nanos as u32),
            Err(_) => Duration::MAX,
        }
    }

    /// Whether the other was given later. It may have been stored meanwhile.
    pub(crate) fn is_before(self, other: Self) -> bool {
        other.ago(self.stored) < self.ago(self.stored)
    }

    /// Nanoseconds from then to that moment: less than none, if it was later.
    fn ago(self, now: Moment) -> i128 {
        nanos(self.age).saturating_add(now.later_than(self.stored))
    }
}

/// More than fits into 128 bits there can't be.
fn nanos(duration: Duration) -> i128 {
    i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i128 = 1_000_000_000;

    /// So many seconds by each clock.
    fn at(monotonic: u64, wall: i128) -> Moment {
        Moment {
            monotonic: monotonic * 1_000_000_000,
            wall: wall * SECOND,
        }
    }

    fn fresh(stored: Moment) -> Given {
        Given::new(stored, Duration::ZERO)
    }

    #[test]
    fn an_answer_ages_by_the_clock_that_says_more() {
        let given = fresh(at(100, 5_000));
        for (now, seconds, why) in [
            (at(100, 5_000), 0, "no time has passed"),
            (at(160, 5_060), 60, "both agree"),
            (at(160, 1_000), 60, "the wall clock was set back"),
            (at(101, 33_800), 28_800, "the machine was suspended"),
            (at(160, 9_000), 4_000, "the wall clock was set forward"),
            (at(90, 4_990), 0, "a reading of before"),
        ] {
            assert_eq!(given.age(now), Duration::from_secs(seconds), "{why}");
        }
    }

    #[test]
    fn an_answer_is_as_old_as_it_was_when_it_was_stored_and_what_passed_since() {
        let given = Given::new(at(100, 5_000), Duration::from_millis(90_500));
        assert_eq!(given.age(at(101, 5_001)), Duration::from_millis(91_500));
    }

    #[test]
    fn ages_beyond_all_bounds_saturate() {
        let given = Given::new(at(0, 0), Duration::MAX);
        assert_eq!(given.age(at(100, 100)), Duration::MAX);
        let given = fresh(at(0, i128::MIN / SECOND));
        assert_eq!(given.age(at(0, i128::MAX / SECOND)), Duration::MAX);
        let before_1970 = fresh(at(7, -10));
        assert_eq!(before_1970.age(at(7, 10)), Duration::from_secs(20));
    }

    #[test]
    fn the_later_answer_is_the_younger_one_whoever_asks() {
        let (early, late) = (fresh(at(10, 1_010)), fresh(at(11, 1_011)));
        assert!(early.is_before(late));
        assert!(!late.is_before(early));
        assert!(!early.is_before(early), "equally old: the later one stays");
    }

    #[test]
    fn an_answer_that_was_old_when_it_was_stored_is_the_older_one() {
        let there = fresh(at(10, 1_010));
        let primed = Given::new(at(20, 1_020), Duration::from_secs(11));
        assert!(primed.is_before(there));
        let younger = Given::new(at(20, 1_020), Duration::from_secs(9));
        assert!(!younger.is_before(there));
    }

    #[test]
    fn an_answer_of_before_a_suspension_is_older_than_one_that_was_primed_after_it() {
        let there = fresh(at(10, 1_000));
        let primed = Given::new(at(11, 29_800), Duration::from_secs(3_600));
        assert!(!primed.is_before(there));
    }

    #[test]
    #[cfg(feature = "test-util")]
    fn in_a_scope_both_clocks_are_the_scopes() {
        let scope = crate::test::scope();
        let given = fresh(Moment::now());
        assert_eq!(Moment::now().wall(), SCOPES_BEGIN);
        scope.advance(Duration::from_millis(1_500));
        assert_eq!(given.age(Moment::now()), Duration::from_millis(1_500));
        assert_eq!(Moment::now().wall(), SCOPES_BEGIN + 1_500_000_000);
    }

    #[test]
    fn outside_of_a_scope_they_are_the_systems() {
        let given = fresh(Moment::now());
        let age = given.age(Moment::now());
        assert!(age < Duration::from_secs(3_600), "{age:?}");
        // 2020, at least.
        assert!(Moment::now().wall() > 1_577_836_800 * SECOND);
    }
}
