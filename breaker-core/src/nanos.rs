//! Durations as the core keeps them: a `u64` of nanoseconds, 584 years.

use core::time::Duration;

pub(crate) const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A duration that was asked for; `None`: longer than is kept.
pub(crate) type Nanos = Option<u64>;

/// `None` for what is longer. (Not by `as_nanos`: without 128-bit numbers that is
/// a function of its own.)
pub(crate) const fn checked(duration: Duration) -> Nanos {
    let secs = duration.as_secs();
    if secs > u64::MAX / NANOS_PER_SEC {
        return None;
    }
    (secs * NANOS_PER_SEC).checked_add(duration.subsec_nanos() as u64)
}

/// The longest for what is longer.
pub(crate) const fn saturating(duration: Duration) -> u64 {
    match checked(duration) {
        Some(nanos) => nanos,
        None => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_exact_as_as_nanos_up_to_the_longest() {
        let longest = Duration::from_nanos(u64::MAX);
        let nano = Duration::from_nanos(1);
        for duration in [
            Duration::ZERO,
            nano,
            Duration::new(7, 999_999_999),
            Duration::from_secs(u64::MAX / NANOS_PER_SEC),
            longest - nano,
            longest,
            longest + nano,
            Duration::from_secs(u64::MAX / NANOS_PER_SEC + 1),
            Duration::MAX,
        ] {
            let exact = u64::try_from(duration.as_nanos()).ok();
            assert_eq!(checked(duration), exact, "{duration:?}");
            assert_eq!(saturating(duration), exact.unwrap_or(u64::MAX));
        }
    }
}
