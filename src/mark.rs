//! The generation that admitted a call, and what else is to be known of its admission.

use breaker_core::Generation;

/// What is seldom so stands in the bits that a generation leaves: that a call is timed for an
/// observer, and that a panic unwound when it was admitted. So to a breaker such a call is none that
/// it can count at once, and where there is none nobody looks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark(Generation);

const TIMED: u32 = 1 << 31;
#[cfg(feature = "std")]
const UNWINDING: u32 = 1 << 30;
const GENERATIONS: u32 = (1 << 26) - 1;

impl Mark {
    /// Of no call.
    pub(crate) const NONE: Self = Self(Generation::NONE);

    #[inline]
    pub(crate) const fn untimed(generation: Generation) -> Self {
        Self(generation)
    }

    #[cfg(feature = "std")]
    pub(crate) const fn timed(generation: Generation) -> Self {
        Self(Generation::from_number(generation.get() | TIMED))
    }

    #[inline]
    pub(crate) fn is_some(self) -> bool {
        self != Self::NONE
    }

    #[inline]
    pub(crate) fn is_timed(self) -> bool {
        self.is_some() && self.0.get() & TIMED != 0
    }

    /// The same, of a call that is admitted while a panic unwinds.
    #[cfg(feature = "std")]
    pub(crate) const fn while_unwinding(self) -> Self {
        Self(Generation::from_number(self.0.get() | UNWINDING))
    }

    #[cfg(feature = "std")]
    pub(crate) fn was_unwinding(self) -> bool {
        self.is_some() && self.0.get() & UNWINDING != 0
    }

    /// That of the call; `NONE` of none.
    #[inline]
    pub(crate) fn generation(self) -> Generation {
        if self.is_some() {
            Generation::from_number(self.0.get() & GENERATIONS)
        } else {
            Generation::NONE
        }
    }

    /// The same where nothing else is to be known; else one that no breaker has.
    #[inline]
    pub(crate) fn if_nothing_else(self) -> Generation {
        self.0
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_seldom_makes_a_generation_of_no_breaker_until_it_is_asked_for() {
        for number in [0, 1, 5, (1 << 26) - 1] {
            let generation = Generation::from_number(number);
            let (untimed, timed) = (Mark::untimed(generation), Mark::timed(generation));
            assert_eq!((untimed.is_some(), untimed.is_timed()), (true, false));
            assert_eq!((timed.is_some(), timed.is_timed()), (true, true));
            assert_eq!(untimed.generation(), generation);
            assert_eq!(timed.generation(), generation);
            assert_eq!(untimed.if_nothing_else(), generation);
            assert!(timed.if_nothing_else().get() >= 1 << 26);
            for mark in [untimed, timed] {
                let unwinding = mark.while_unwinding();
                assert!(unwinding.was_unwinding() && !mark.was_unwinding());
                assert_eq!(unwinding.is_timed(), mark.is_timed());
                assert_eq!(unwinding.generation(), generation);
                assert!(unwinding.is_some());
                assert!(unwinding.if_nothing_else().get() >= 1 << 26);
            }
        }
        assert!(!Mark::NONE.is_some() && !Mark::NONE.is_timed());
        assert!(!Mark::NONE.was_unwinding());
        assert_eq!(Mark::NONE.generation(), Generation::NONE);
    }
}
