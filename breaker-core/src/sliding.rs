//! The policy that trips by rate, over a window that slides.

mod calls;
mod time;

use crate::config::{Config, RateConfig};
use crate::error::ConfigError;
use crate::live::LiveConfig;
use crate::policy::{Call, Counted, Policy, Tally, sealed};
use crate::rate::{Counts, Judged, Rate, Sample, Span};
use crate::state::Generation;
use crate::sync::{AtomicU64, const_fn};
use crate::word::Word;
use core::fmt;

/// Trips by rate: failures, or slow calls, among the last calls or the calls of
/// the last time. [`Window::slots`](crate::Window::slots) says how many `SLOTS`
/// a window needs.
///
/// Everything is inline: 24 bytes, 8 for each slot, and the settings; nothing
/// is allocated and no lock is taken.
///
/// # What is promised when threads count at once
/// - Each counted call is in the window once, or, if its generation was over
///   before it was counted, not at all ([`Effect::Late`](crate::Effect::Late)).
/// - A window of calls is exactly the last calls, in the order in which they
///   were counted, and each rate is taken of the window as it stood when that
///   call was counted. A call that is counted swaps one word, and another where
///   its outcome differs from the one whose place it takes.
/// - A window of time is exact in the same way, with two exceptions. A rate is
///   taken just after its call was counted, and so with what other threads
///   counted meanwhile. And a thread may be held up while it counts, until its
///   bucket is no longer the newest: its call may enter its bucket late, or not
///   at all once the bucket has left the window.
///   A bucket holds 262,143 calls; beyond that its numbers are halved, which
///   keeps their ratio.
pub struct Sliding<const SLOTS: usize> {
    counters: Counters,
    slots: [AtomicU64; SLOTS],
}

impl<const SLOTS: usize> Sliding<SLOTS> {
    const_fn! {
        pub(crate) const fn new(config: &RateConfig) -> Result<Self, ConfigError> {
            if SLOTS < config.slots() {
                return Err(ConfigError::TooFewSlots);
            }
            Ok(Self::empty(config.rate))
        }
    }

    #[cfg(not(loom))]
    const fn empty(rate: Rate) -> Self {
        Self {
            counters: Counters::new(rate),
            slots: [const { AtomicU64::new(0) }; SLOTS],
        }
    }

    #[cfg(loom)]
    fn empty(rate: Rate) -> Self {
        Self {
            counters: Counters::new(rate),
            slots: core::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

impl<const SLOTS: usize> Policy for Sliding<SLOTS> {
    type Started = Option<u64>;

    #[inline]
    fn start(&self, exact: impl FnOnce() -> u64) -> Option<u64> {
        self.counters.start(exact)
    }

    #[inline]
    fn took(&self, started: Option<u64>, exact: impl FnOnce() -> u64) -> u64 {
        took(started, exact)
    }
}

impl<const SLOTS: usize> sealed::Policy for Sliding<SLOTS> {
    #[inline]
    fn counts_in_word(&self) -> bool {
        false
    }

    #[inline]
    fn count_at_once(
        &self,
        generation: Generation,
        took: u64,
        moment: &impl sealed::Moment,
    ) -> bool {
        self.counters
            .count_at_once(&self.slots, generation, took, moment)
    }

    fn tally(&self, word: Word, call: Call<impl sealed::Moment>, config: &Config) -> Tally {
        self.counters.tally(&self.slots, word, call, config)
    }

    fn enter(&self, generation: Generation, moment: &impl sealed::Moment) {
        self.counters.enter(&self.slots, generation, moment);
    }

    fn counted(&self, word: Word, moment: &impl sealed::Moment) -> Counted {
        self.counters.counted(&self.slots, word, moment)
    }

    fn is_slow(&self, took: u64, live: &LiveConfig) -> bool {
        self.counters.is_slow(took, live)
    }

    fn fresh(&self) -> Self {
        Self::empty(self.counters.rate)
    }
}

impl<const SLOTS: usize> fmt::Debug for Sliding<SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sliding")
            .field("rate", &self.counters.rate)
            .finish_non_exhaustive()
    }
}

/// What is kept of a window beside its slots.
pub(crate) struct Counters {
    /// As declared.
    pub(crate) rate: Rate,
    head: AtomicU64,
    /// Only of a window of time.
    offset: AtomicU64,
    /// Only of a window of time: the newest bucket with which enough calls were
    /// judged, and did not trip.
    judged: AtomicU64,
}

/// The words of a window.
enum Window<'a> {
    Calls(calls::Window<'a>),
    Time(time::Window<'a>),
}

impl Counters {
    const_fn! {
        pub(crate) const fn new(rate: Rate) -> Self {
            Self {
                rate,
                head: AtomicU64::new(0),
                offset: AtomicU64::new(0),
                judged: AtomicU64::new(time::NO_BUCKET),
            }
        }
    }

    #[inline]
    fn window<'a>(&'a self, slots: &'a [AtomicU64]) -> Window<'a> {
        let (head, offset, judged) = (&self.head, &self.offset, &self.judged);
        match self.rate.span {
            Span::Calls(size) => Window::Calls(calls::Window { head, slots, size }),
            Span::Time { width, buckets } => {
                // Whoever made the slots saw to it that there are as many.
                let needed = slots.get(..buckets.get() as usize);
                Window::Time(time::Window {
                    head,
                    offset,
                    judged,
                    slots: needed.unwrap_or(slots),
                    len: buckets,
                    width,
                })
            }
        }
    }

    #[inline]
    pub(crate) fn start(&self, exact: impl FnOnce() -> u64) -> Option<u64> {
        self.rate.limits.slow.map(|_| exact())
    }

    #[inline]
    pub(crate) fn count_at_once(
        &self,
        slots: &[AtomicU64],
        generation: Generation,
        took: u64,
        moment: &impl sealed::Moment,
    ) -> bool {
        !self.rate.limits.is_slow(took)
            && match self.window(slots) {
                Window::Calls(window) => window.count_at_once(generation),
                Window::Time(window) => window.count_at_once(generation, moment),
            }
    }

    pub(crate) fn tally(
        &self,
        slots: &[AtomicU64],
        word: Word,
        call: Call<impl sealed::Moment>,
        config: &Config,
    ) -> Tally {
        let limits = config.limits().unwrap_or(&self.rate.limits);
        let sample = Sample {
            failed: call.failed,
            slow: limits.is_slow(call.took),
        };
        let generation = word.generation();
        let judged = match self.window(slots) {
            Window::Calls(window) => window.count(generation, sample, &call.moment, limits),
            Window::Time(window) => window.count(generation, sample, &call.moment, limits),
        };
        match judged {
            Err(Late) => Tally::Late,
            Ok(Judged { trigger, counts }) => match trigger {
                Some(trigger) => Tally::Trip {
                    trigger,
                    counted: counts.into(),
                },
                None => Tally::Count(word.payload()),
            },
        }
    }

    pub(crate) fn counted(
        &self,
        slots: &[AtomicU64],
        word: Word,
        moment: &impl sealed::Moment,
    ) -> Counted {
        let generation = word.generation();
        let counts = match self.window(slots) {
            Window::Calls(window) => window.counts(generation),
            Window::Time(window) => window.counts(generation, moment),
        };
        counts.into()
    }

    pub(crate) fn is_slow(&self, took: u64, live: &LiveConfig) -> bool {
        let held = live.overridden();
        let limits = held.as_ref().and_then(Config::limits);
        limits.unwrap_or(&self.rate.limits).is_slow(took)
    }

    pub(crate) fn enter(
        &self,
        slots: &[AtomicU64],
        generation: Generation,
        moment: &impl sealed::Moment,
    ) {
        match self.window(slots) {
            Window::Calls(window) => window.enter(generation, moment),
            Window::Time(window) => window.enter(generation, moment),
        }
    }
}

impl From<Counts> for Counted {
    fn from(counts: Counts) -> Self {
        let Counts {
            calls,
            failures,
            slow,
        } = counts;
        Self {
            calls,
            failures,
            slow,
        }
    }
}

/// Nanoseconds since a call started; 0 where nobody cares, or the clock went
/// back.
#[inline]
pub(crate) fn took(started: Option<u64>, exact: impl FnOnce() -> u64) -> u64 {
    started.map_or(0, |started| exact().saturating_sub(started))
}

/// The generation was over before the call was counted.
struct Late;
