//! How old an answer is that outlived its process.

use super::super::moment::Moment;
use core::time::Duration;

/// By how much a clock may have been set back since an answer was saved: a day,
/// as for a clock that was on another time zone's time. Such an answer counts as
/// of now; of one from a later future nobody can say how old it is.
const SET_BACK: i64 = 24 * 3600 * 1_000_000_000;

/// Nanoseconds since 1970 by the wall clock, less what an answer was old already.
/// What doesn't fit (1677 to 2262) is the nearest that does.
pub(super) fn time_of(now: Moment, age: Duration) -> i64 {
    let age = i128::try_from(age.as_nanos()).unwrap_or(i128::MAX);
    let time = now.wall().saturating_sub(age);
    i64::try_from(time).unwrap_or(if time < 0 { i64::MIN } else { i64::MAX })
}

/// When an answer was given that says to be of that time. An error, by how much
/// it is too far in the future.
pub(super) fn given(time: i64, now: i64) -> Result<i64, Duration> {
    if time <= now {
        return Ok(time);
    }
    if time.saturating_sub(now) <= SET_BACK {
        return Ok(now);
    }
    Err(Duration::from_nanos(time.abs_diff(now)))
}

/// Time from then to now.
pub(super) fn since(given: i64, now: i64) -> Duration {
    Duration::from_nanos(
        now.checked_sub(given)
            .map_or(u64::MAX, |passed| u64::try_from(passed).unwrap_or(0)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3600 * 1_000_000_000;
    const NOW: i64 = 1_796_000_000 * 1_000_000_000;

    #[test]
    fn a_clock_that_was_set_back_a_little_gives_age_0() {
        for (ahead, age) in [(-HOUR, 3600), (0, 0), (1, 0), (HOUR, 0), (24 * HOUR, 0)] {
            let given = given(NOW + ahead, NOW).unwrap();
            assert_eq!(since(given, NOW), Duration::from_secs(age), "{ahead}");
        }
    }

    #[test]
    fn a_far_future_is_nobodys_age() {
        assert_eq!(
            given(NOW + 24 * HOUR + 1, NOW),
            Err(Duration::from_nanos(24 * HOUR as u64 + 1))
        );
        assert!(given(i64::MAX, NOW).is_err());
        assert!(given(i64::MAX, i64::MIN).is_err());
    }

    #[test]
    fn the_farthest_past_is_very_old() {
        let long = since(given(i64::MIN, i64::MAX).unwrap(), i64::MAX);
        assert!(
            long > Duration::from_secs(500 * 365 * 24 * 3600),
            "{long:?}"
        );
    }
}
