//! The word that is the whole state of a breaker.
//!
//! ```text
//! bit 63                 37 36        29 28                       3 2      0
//!     +--------------------+------------+--------------------------+--------+
//!     | payload, 27        | reopenings | generation, 26           | state  |
//!     +--------------------+------------+--------------------------+--------+
//! ```
//! The payload means: failures in a row in `Closed` and `Shadow`; the trial, as
//! [`crate::trial`] encodes it, in `HalfOpen`; the wait, as [`crate::wait`]
//! encodes it, in `Open`.

use crate::state::{Generation, State};

const STATE_BITS: u32 = 3;
pub(crate) const GENERATION_BITS: u32 = 26;
const REOPENING_BITS: u32 = 8;
pub(crate) const PAYLOAD_BITS: u32 = 64 - STATE_BITS - GENERATION_BITS - REOPENING_BITS;

const GENERATION_SHIFT: u32 = STATE_BITS;
const REOPENING_SHIFT: u32 = GENERATION_SHIFT + GENERATION_BITS;
const PAYLOAD_SHIFT: u32 = REOPENING_SHIFT + REOPENING_BITS;

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// Payload of `Shadow` once it has reported that it would have tripped.
/// No count of failures reaches it.
pub(crate) const REPORTED: u32 = mask(PAYLOAD_BITS) as u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(u64);

impl Word {
    /// Closed, generation 0, nothing counted.
    pub(crate) const NEW: Self = Self(0);

    pub(crate) const fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    pub(crate) const fn raw(self) -> u64 {
        self.0
    }

    /// Closed with no failure before: the one word on which a success in the
    /// consecutive policy writes nothing.
    pub(crate) const fn idle(generation: Generation) -> Self {
        Self((generation.0 as u64) << GENERATION_SHIFT)
    }

    pub(crate) const fn is_closed(self) -> bool {
        self.0 & mask(STATE_BITS) == 0
    }

    pub(crate) const fn state(self) -> State {
        match self.0 & mask(STATE_BITS) {
            1 => State::Open,
            2 => State::HalfOpen,
            3 => State::ForcedOpen,
            4 => State::Disabled,
            5 => State::Shadow,
            // 0; 6 and 7 are never written.
            _ => State::Closed,
        }
    }

    pub(crate) const fn generation(self) -> Generation {
        Generation(((self.0 >> GENERATION_SHIFT) & mask(GENERATION_BITS)) as u32)
    }

    pub(crate) const fn reopenings(self) -> u8 {
        ((self.0 >> REOPENING_SHIFT) & mask(REOPENING_BITS)) as u8
    }

    pub(crate) const fn payload(self) -> u32 {
        (self.0 >> PAYLOAD_SHIFT) as u32
    }

    pub(crate) const fn with_payload(self, payload: u32) -> Self {
        let kept = self.0 & mask(PAYLOAD_SHIFT);
        Self(kept | (payload as u64 & mask(PAYLOAD_BITS)) << PAYLOAD_SHIFT)
    }

    /// The first word of the next generation.
    pub(crate) const fn enter(self, state: State, reopenings: u8, payload: u32) -> Self {
        let tag = match state {
            State::Closed => 0,
            State::Open => 1,
            State::HalfOpen => 2,
            State::ForcedOpen => 3,
            State::Disabled => 4,
            State::Shadow => 5,
        };
        let generation = (self.generation().0 as u64 + 1) & mask(GENERATION_BITS);
        Self(tag | generation << GENERATION_SHIFT | (reopenings as u64) << REOPENING_SHIFT)
            .with_payload(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_touch_each_other() {
        for state in State::ALL {
            for (reopenings, payload) in [(0, 0), (255, 0), (0, REPORTED), (255, REPORTED), (3, 5)]
            {
                let word = Word::NEW.enter(state, reopenings, payload);
                assert_eq!(word.state(), state);
                assert_eq!(word.reopenings(), reopenings);
                assert_eq!(word.payload(), payload);
                assert_eq!(word.generation().get(), 1);
                assert_eq!(Word::from_raw(word.raw()), word);
            }
        }
    }

    #[test]
    fn the_generation_after_the_last_is_the_first() {
        let last = Word::idle(Generation((1 << GENERATION_BITS) - 1));
        assert_eq!(last.state(), State::Closed);
        let next = last.enter(State::Open, 7, 9);
        assert_eq!(next.generation().get(), 0);
        assert_eq!(
            (next.state(), next.reopenings(), next.payload()),
            (State::Open, 7, 9)
        );
    }
}
