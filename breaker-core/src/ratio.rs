//! Ratios in integer arithmetic: 99 of 200 is not half.

use core::num::NonZeroU32;

/// Billionths, rounded to the nearest, so that 0.07 is exactly 7 of 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio(NonZeroU32);

const ONE: u32 = 1_000_000_000;

impl Ratio {
    /// `None` for NaN, for what is not above 0, and for what is above 1.
    pub(crate) const fn new(ratio: f64) -> Option<Self> {
        if !(ratio > 0.0 && ratio <= 1.0) {
            return None;
        }
        let billionths = (ratio * ONE as f64 + 0.5) as u32;
        // Too small to be told from 0, it still is above it.
        Some(Self::of_billionths(billionths))
    }

    /// Is `part` of `whole` at least this ratio?
    pub(crate) const fn reached(self, part: u32, whole: u32) -> bool {
        part as u64 * ONE as u64 >= whole as u64 * self.0.get() as u64
    }

    #[cfg(not(one_thread))]
    pub(crate) const fn billionths(self) -> u32 {
        self.0.get()
    }

    /// What [`billionths`](Self::billionths) gave.
    pub(crate) const fn of_billionths(billionths: u32) -> Self {
        Self(match NonZeroU32::new(billionths) {
            Some(billionths) => billionths,
            None => NonZeroU32::MIN,
        })
    }

    pub(crate) const fn as_f64(self) -> f64 {
        self.0.get() as f64 / ONE as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ratios_above_zero_up_to_one() {
        for senseless in [
            f64::NAN,
            0.0,
            -0.0,
            -0.1,
            1.000_000_1,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ] {
            assert_eq!(Ratio::new(senseless), None, "{senseless}");
        }
        for sensible in [1e-300, f64::MIN_POSITIVE, 0.07, 1.0] {
            assert!(Ratio::new(sensible).is_some(), "{sensible}");
        }
    }

    #[test]
    fn reached_exactly_and_not_one_before() {
        for (ratio, part, whole) in [
            (0.5, 100, 200),
            (0.07, 7, 100),
            (0.0101, 101, 10_000),
            (1.0, 3, 3),
        ] {
            let ratio = Ratio::new(ratio).unwrap();
            assert!(ratio.reached(part, whole));
            assert!(!ratio.reached(part - 1, whole));
        }
        assert!(Ratio::new(1.0).unwrap().reached(u32::MAX, u32::MAX));
    }
}
