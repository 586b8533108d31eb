//! Durations as people read them.

use core::fmt;
use core::time::Duration;

/// Displays a duration to the millisecond, rounded up; below a millisecond as it
/// is.
pub(crate) struct Brief(pub(crate) Duration);

impl fmt::Display for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MILLI: u32 = 1_000_000;
        let Self(exact) = *self;
        if exact < Duration::from_nanos(u64::from(MILLI)) {
            return write!(f, "{exact:?}");
        }
        let millis = exact.subsec_nanos().div_ceil(MILLI);
        let whole = Duration::from_secs(exact.as_secs());
        let rounded = whole.saturating_add(Duration::from_millis(u64::from(millis)));
        write!(f, "{rounded:?}")
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn to_the_millisecond_and_never_less() {
        for (nanos, text) in [
            (0, "0ns"),
            (999_999, "999.999µs"),
            (1_000_000, "1ms"),
            (415_172_119, "416ms"),
            (999_000_001, "1s"),
            (30_000_000_000, "30s"),
            (u64::MAX, "18446744073.71s"),
        ] {
            assert_eq!(Brief(Duration::from_nanos(nanos)).to_string(), text);
        }
        assert_eq!(
            Brief(Duration::MAX).to_string(),
            format!("{:?}", Duration::MAX)
        );
    }
}
