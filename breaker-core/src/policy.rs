//! When a closed breaker trips.

use crate::config::Config;
use crate::word::Word;

/// When a closed breaker trips. A policy keeps what it must remember in the
/// breaker's word or in itself, inline.
///
/// The trait is sealed: the policies are this crate's.
pub trait Policy: sealed::Policy {}

pub(crate) mod sealed {
    use super::{Config, Tally, Word};

    pub trait Policy: Sized {
        /// Whether a success on a word that holds no failure changes nothing.
        const IDLE_SUCCESS_IS_FREE: bool;

        /// What a counted outcome means to a closed (or shadowed) breaker that
        /// stands at `word`. May be asked again for the same outcome, with the
        /// word that another thread has put there meanwhile.
        fn tally(&self, word: Word, failed: bool, config: &Config) -> Tally;

        /// Forgets everything: the breaker enters `Closed` or `Shadow`.
        fn clear(&self);

        /// The same policy with nothing in it.
        fn fresh(&self) -> Self;
    }
}

/// What a policy makes of one counted outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tally {
    /// The word's payload becomes this.
    Count(u32),
    /// The breaker trips, after so many failures.
    Trip { failures: u32 },
}

/// `threshold` counted failures in a row trip. The count is in the breaker's
/// word, so a success after a success writes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Consecutive;

impl Policy for Consecutive {}

impl sealed::Policy for Consecutive {
    const IDLE_SUCCESS_IS_FREE: bool = true;

    fn tally(&self, word: Word, failed: bool, config: &Config) -> Tally {
        if !failed {
            return Tally::Count(0);
        }
        let failures = word.payload() + 1;
        if failures >= config.threshold() {
            Tally::Trip { failures }
        } else {
            Tally::Count(failures)
        }
    }

    fn clear(&self) {}

    fn fresh(&self) -> Self {
        Self
    }
}
