//! When a closed breaker trips.

use crate::config::Config;
use crate::live::LiveConfig;
use crate::outcome::Trigger;
use crate::state::Generation;
use crate::word::Word;

/// When a closed breaker trips. A policy keeps what it must remember in the
/// breaker's word or in itself, inline.
///
/// The trait is sealed: the policies are this crate's, [`Consecutive`],
/// [`Sliding`](crate::Sliding), and one of both by [`Chosen`](crate::Chosen).
pub trait Policy: sealed::Policy {
    /// When a call was admitted, where the policy wants to know how long it
    /// took; else nothing.
    #[doc(hidden)]
    type Started: Copy + Default + Send + Sync + Unpin + 'static;

    /// `exact` reads the exact clock.
    #[doc(hidden)]
    fn start(&self, exact: impl FnOnce() -> u64) -> Self::Started;

    /// Nanoseconds since then, 0 where the policy doesn't care or the clock went
    /// back.
    #[doc(hidden)]
    fn took(&self, started: Self::Started, exact: impl FnOnce() -> u64) -> u64;
}

pub(crate) mod sealed {
    use super::{Call, Config, Counted, Generation, LiveConfig, Tally, Word};

    pub trait Policy: Sized {
        /// Whether failures in a row are counted in the word. Then a success on
        /// a word without any changes nothing.
        fn counts_in_word(&self) -> bool;

        /// Counts a success of a closed breaker that stands at the idle word of
        /// `generation`, if it takes no more than looking, or one swap. `false`:
        /// nothing was done.
        fn count_at_once(&self, generation: Generation, took: u64, moment: &impl Moment) -> bool;

        /// What a counted call means to a closed (or shadowed) breaker that
        /// stands at `word`.
        fn tally(&self, word: Word, call: Call<impl Moment>, config: &Config) -> Tally;

        /// The breaker entered a state, of `generation`: what was counted in an
        /// earlier one is forgotten.
        fn enter(&self, generation: Generation, moment: &impl Moment);

        /// What a closed breaker that stands at `word` has counted, at this moment.
        fn counted(&self, word: Word, moment: &impl Moment) -> Counted;

        /// Whether a call that took so many nanoseconds counts as slow now.
        fn is_slow(&self, took: u64, live: &LiveConfig) -> bool;

        /// The same policy with nothing in it.
        fn fresh(&self) -> Self;
    }

    /// What a policy may ask while it counts.
    pub trait Moment {
        /// The clock.
        fn now(&self) -> u64;

        /// Whether the breaker is still in the generation of `word`.
        fn is_current(&self) -> bool;

        /// Whether the call is judged by the declared configuration.
        fn is_by_declared(&self) -> bool;
    }
}

/// What a closed circuit has counted: see [`Circuit::counted`](crate::Circuit::counted).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Calls in the window; 0 where failures in a row count.
    pub calls: u32,
    /// Failures in the window, or in a row.
    pub failures: u32,
    /// Slow calls in the window.
    pub slow: u32,
}

impl Counted {
    /// So many failures, of no window.
    pub(crate) const fn failures(failures: u32) -> Self {
        Self {
            calls: 0,
            failures,
            slow: 0,
        }
    }
}

/// A counted call.
#[derive(Clone, Copy, Debug)]
pub struct Call<M> {
    pub(crate) failed: bool,
    /// Nanoseconds.
    pub(crate) took: u64,
    pub(crate) moment: M,
}

/// What a policy makes of one counted call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tally {
    /// The word's payload becomes this.
    Count(u32),
    /// The breaker trips by what was counted.
    Trip { trigger: Trigger, counted: Counted },
    /// The generation was over before the call was counted.
    Late,
}

/// `threshold` counted failures in a row trip. The count is in the breaker's
/// word, so a success after a success writes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Consecutive;

impl Policy for Consecutive {
    type Started = ();

    #[inline]
    fn start(&self, _: impl FnOnce() -> u64) {}

    #[inline]
    fn took(&self, (): (), _: impl FnOnce() -> u64) -> u64 {
        0
    }
}

impl sealed::Policy for Consecutive {
    #[inline]
    fn counts_in_word(&self) -> bool {
        true
    }

    #[inline]
    fn count_at_once(&self, _: Generation, _: u64, _: &impl sealed::Moment) -> bool {
        true
    }

    fn tally(&self, word: Word, call: Call<impl sealed::Moment>, config: &Config) -> Tally {
        if !call.failed {
            return Tally::Count(0);
        }
        let failures = word.payload() + 1;
        if failures >= config.threshold() {
            Tally::Trip {
                trigger: Trigger::Failures,
                counted: Counted::failures(failures),
            }
        } else {
            Tally::Count(failures)
        }
    }

    /// The word itself is new.
    fn enter(&self, _: Generation, _: &impl sealed::Moment) {}

    fn counted(&self, word: Word, _: &impl sealed::Moment) -> Counted {
        Counted::failures(word.payload())
    }

    fn is_slow(&self, _: u64, _: &LiveConfig) -> bool {
        false
    }

    fn fresh(&self) -> Self {
        Self
    }
}
