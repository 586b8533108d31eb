//! Shares of a whole, as exact in Rust as in Redis' scripts.

const ONE: f64 = 1e9;

/// A share above 0 and at most 1, to the nearest billionth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share(u32);

impl Share {
    /// `None` for NaN, for what is not above 0, and for what is above 1.
    ///
    /// ```
    /// use breaker_redis::protocol::Share;
    ///
    /// assert_eq!(Share::new(0.25).map(Share::as_f64), Some(0.25));
    /// assert_eq!(Share::new(1.5), None);
    /// ```
    #[must_use]
    pub fn new(share: f64) -> Option<Self> {
        if !(share > 0.0 && share <= 1.0) {
            return None;
        }
        // Rounded, so that 0.07 is 7 of 100. Too small to be told from 0, it still is above it.
        Some(Self(((share * ONE + 0.5) as u32).max(1)))
    }

    /// As a number.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / ONE
    }

    /// What [`billionths`](Self::billionths) gave.
    pub(crate) fn of_billionths(billionths: u32) -> Option<Self> {
        (1..=1_000_000_000)
            .contains(&billionths)
            .then_some(Self(billionths))
    }

    pub(crate) fn billionths(self) -> u32 {
        self.0
    }

    /// Whether so many of so many are at least this share. In doubles, as scripts count: beyond nine
    /// million, rounding may decide where it is equal.
    pub(crate) fn reached(self, part: u64, whole: u64) -> bool {
        part as f64 * ONE >= whole as f64 * f64::from(self.0)
    }
}
