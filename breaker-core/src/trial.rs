//! The payload of `HalfOpen`: the probes of a trial.
//!
//! ```text
//! close_after:  turn 9             | successes 9 | in flight 9
//! close_rate:   turn 3 | failures 8 | successes 8 | in flight 8
//! ```
//! With `close_after` the first failure reopens, so none has to be counted.
//! The turn goes on with each probe that is admitted. Without it, a slot given
//! back and taken again would leave the word as it was, and a thread that was
//! held up meanwhile could still replace the trial of a probe just admitted.

use crate::config::Close;
use crate::word::PAYLOAD_BITS;

/// Bits of each tally: `close_after`, `close_rate`.
const WIDE: u32 = 9;
const NARROW: u32 = 8;

/// The most probes of a trial that `close_after` decides.
pub(crate) const MAX_WIDE: u32 = mask(WIDE);

/// The most probes of a trial that `close_rate` decides.
pub(crate) const MAX_NARROW: u32 = mask(NARROW);

const fn mask(bits: u32) -> u32 {
    (1 << bits) - 1
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trial {
    pub(crate) in_flight: u32,
    pub(crate) successes: u32,
    pub(crate) failures: u32,
    pub(crate) turn: u32,
}

impl Trial {
    /// A trial whose first probe was just admitted.
    pub(crate) const FIRST_PROBE: Self = Self {
        in_flight: 1,
        successes: 0,
        failures: 0,
        turn: 0,
    };

    pub(crate) const fn read(payload: u32, close: Close) -> Self {
        match close {
            Close::After(_) => Self {
                in_flight: payload & mask(WIDE),
                successes: (payload >> WIDE) & mask(WIDE),
                failures: 0,
                turn: payload >> (2 * WIDE),
            },
            Close::Rate(_) => Self {
                in_flight: payload & mask(NARROW),
                successes: (payload >> NARROW) & mask(NARROW),
                failures: (payload >> (2 * NARROW)) & mask(NARROW),
                turn: payload >> (3 * NARROW),
            },
        }
    }

    pub(crate) const fn payload(self, close: Close) -> u32 {
        match close {
            Close::After(_) => {
                let turn = self.turn & mask(PAYLOAD_BITS - 2 * WIDE);
                self.in_flight | self.successes << WIDE | turn << (2 * WIDE)
            }
            Close::Rate(_) => {
                let turn = self.turn & mask(PAYLOAD_BITS - 3 * NARROW);
                self.in_flight
                    | self.successes << NARROW
                    | self.failures << (2 * NARROW)
                    | turn << (3 * NARROW)
            }
        }
    }

    /// With one probe more.
    pub(crate) const fn admit(self) -> Self {
        Self {
            in_flight: self.in_flight + 1,
            turn: self.turn + 1,
            ..self
        }
    }

    /// With one probe less.
    pub(crate) const fn release(self) -> Self {
        Self {
            in_flight: self.in_flight.saturating_sub(1),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio::Ratio;

    const AFTER: Close = Close::After(1);

    fn rate() -> Close {
        Close::Rate(Ratio::new(0.5).unwrap())
    }

    #[test]
    fn every_tally_is_kept() {
        let wide = Trial {
            in_flight: MAX_WIDE,
            successes: MAX_WIDE - 1,
            failures: 0,
            turn: 5,
        };
        assert_eq!(Trial::read(wide.payload(AFTER), AFTER), wide);
        let narrow = Trial {
            in_flight: MAX_NARROW,
            successes: 1,
            failures: MAX_NARROW,
            turn: 7,
        };
        assert_eq!(Trial::read(narrow.payload(rate()), rate()), narrow);
    }

    #[test]
    fn a_slot_given_back_and_taken_again_leaves_another_word() {
        for close in [AFTER, rate()] {
            let mut payload = Trial::FIRST_PROBE.payload(close);
            for _ in 0..1_000 {
                let again = Trial::read(payload, close).release().admit().payload(close);
                assert_ne!(again, payload);
                assert!(again < 1 << PAYLOAD_BITS);
                payload = again;
            }
            assert_eq!(Trial::read(payload, close).in_flight, 1);
        }
    }
}
