//! The word beside the state: when the present state was entered, or, while
//! half-open, when the last probe was admitted.
//!
//! ```text
//! bit 63                                        13 12                      0
//!     +-------------------------------------------+------------------------+
//!     | units of 10 us, 51 bits, rounded up       | low bits of generation |
//!     +-------------------------------------------+------------------------+
//! ```
//! The tag tells a reader whose generation the time belongs to: a time of
//! another generation is never acted on. Rounding up can only lengthen a wait.

use crate::state::Generation;

const TAG_BITS: u32 = 13;
const TAG_MASK: u64 = (1 << TAG_BITS) - 1;
const UNIT_NANOS: u64 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    pub(crate) const fn new(generation: Generation, nanos: u64) -> Self {
        // (Not `div_ceil`: where that isn't inlined, it could panic.)
        let units = nanos / UNIT_NANOS + !nanos.is_multiple_of(UNIT_NANOS) as u64;
        Self(units << TAG_BITS | generation.0 as u64 & TAG_MASK)
    }

    pub(crate) const fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    pub(crate) const fn raw(self) -> u64 {
        self.0
    }

    pub(crate) const fn belongs_to(self, generation: Generation) -> bool {
        self.0 & TAG_MASK == generation.0 as u64 & TAG_MASK
    }

    /// Whether it says the same time as another one of its generation, or a later.
    pub(crate) const fn is_no_earlier_than(self, other: Self) -> bool {
        self.0 >= other.0
    }

    /// Nanoseconds since the clock's origin, saturating.
    pub(crate) const fn nanos(self) -> u64 {
        // (Not `saturating_mul`: without 128-bit numbers that is a function of its
        // own.)
        let units = self.0 >> TAG_BITS;
        if units > u64::MAX / UNIT_NANOS {
            u64::MAX
        } else {
            units * UNIT_NANOS
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instant_is_kept_and_never_moved_forward_in_time_of_waiting() {
        for nanos in [
            0,
            1,
            9_999,
            10_000,
            10_001,
            1_000_000,
            u64::MAX - 1,
            u64::MAX,
        ] {
            let stamp = Stamp::new(Generation(8_191), nanos);
            assert!(stamp.nanos() >= nanos, "{nanos} was rounded down");
            assert!(stamp.nanos() - nanos < UNIT_NANOS);
            assert!(stamp.belongs_to(Generation(8_191)));
            assert!(!stamp.belongs_to(Generation(8_190)));
        }
    }

    #[test]
    fn whole_milliseconds_are_exact() {
        for ms in [1, 999, 18_446_744_073_709] {
            assert_eq!(
                Stamp::new(Generation(0), ms * 1_000_000).nanos(),
                ms * 1_000_000
            );
        }
    }

    #[test]
    fn the_tag_is_the_low_bits_of_the_generation() {
        let stamp = Stamp::new(Generation(8_192 * 3 + 5), 7);
        assert!(stamp.belongs_to(Generation(5)));
    }
}
