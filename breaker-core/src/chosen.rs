//! The policy of a breaker whose settings are known only at run time.

use crate::circuit::{BareCircuit, Circuit};
use crate::config::{Config, Settings};
use crate::error::ConfigError;
use crate::live::LiveConfig;
use crate::policy::{Call, Consecutive, Counted, Policy, Tally, sealed};
use crate::rate::Rate;
use crate::sliding::{Counters, took};
use crate::state::Generation;
use crate::sync::AtomicU64;
use crate::word::Word;
use core::fmt;

/// One word of a window, kept by the caller. A new one is `Slot::new(0)`.
pub type Slot = AtomicU64;

/// [`Consecutive`], or by rate over a window whose slots stand in an `S`,
/// allocated as many as it takes: `Chosen<Box<[Slot]>>`.
///
/// For settings that are read from somewhere. Where they are written in the
/// program, [`Consecutive`] and [`Sliding`](crate::Sliding) decide nothing at
/// run time and allocate nothing.
///
/// ```
/// use breaker_core::{Chosen, Circuit, Settings, Slot, Window};
///
/// type Policy = Chosen<Box<[Slot]>>;
/// let in_a_row = Circuit::<Policy>::chosen(Settings::new().threshold(3))?;
/// let by_rate = Circuit::<Policy>::chosen(Settings::new().failure_rate(0.5))?;
/// # Ok::<(), breaker_core::ConfigError>(())
/// ```
pub struct Chosen<S>(Kind<S>);

enum Kind<S> {
    Consecutive,
    Sliding { counters: Counters, slots: S },
}

impl<S: AsRef<[Slot]> + FromIterator<Slot>> Chosen<S> {
    fn sliding(rate: Rate) -> Self {
        let slots = (0..rate.span.slots()).map(|_| Slot::new(0)).collect();
        let counters = Counters::new(rate);
        Self(Kind::Sliding { counters, slots })
    }
}

impl<S: AsRef<[Slot]> + FromIterator<Slot>> Circuit<Chosen<S>> {
    /// A closed circuit that trips as the settings say: by rate if any of
    /// `failure_rate`, `window`, `min_calls`, `slow` and `slow_rate` was set,
    /// else after `threshold` failures in a row.
    ///
    /// # Errors
    /// The first rule that the settings break.
    pub fn chosen(settings: Settings) -> Result<Self, ConfigError> {
        let (policy, rate) = if settings.is_by_rate() {
            let rate = settings.rate()?;
            (Chosen::sliding(rate), Some(rate))
        } else {
            (Chosen(Kind::Consecutive), None)
        };
        Ok(Self {
            bare: BareCircuit::new(policy),
            live: LiveConfig::new(settings.build_any(rate)?),
        })
    }
}

impl<S: AsRef<[Slot]> + FromIterator<Slot>> Policy for Chosen<S> {
    type Started = Option<u64>;

    #[inline]
    fn start(&self, exact: impl FnOnce() -> u64) -> Option<u64> {
        match &self.0 {
            Kind::Consecutive => None,
            Kind::Sliding { counters, .. } => counters.start(exact),
        }
    }

    #[inline]
    fn took(&self, started: Option<u64>, exact: impl FnOnce() -> u64) -> u64 {
        took(started, exact)
    }
}

impl<S: AsRef<[Slot]> + FromIterator<Slot>> sealed::Policy for Chosen<S> {
    #[inline]
    fn counts_in_word(&self) -> bool {
        matches!(self.0, Kind::Consecutive)
    }

    #[inline]
    fn count_at_once(
        &self,
        generation: Generation,
        took: u64,
        moment: &impl sealed::Moment,
    ) -> bool {
        match &self.0 {
            Kind::Consecutive => Consecutive.count_at_once(generation, took, moment),
            Kind::Sliding { counters, slots } => {
                counters.count_at_once(slots.as_ref(), generation, took, moment)
            }
        }
    }

    fn tally(&self, word: Word, call: Call<impl sealed::Moment>, config: &Config) -> Tally {
        match &self.0 {
            Kind::Consecutive => Consecutive.tally(word, call, config),
            Kind::Sliding { counters, slots } => counters.tally(slots.as_ref(), word, call, config),
        }
    }

    fn enter(&self, generation: Generation, moment: &impl sealed::Moment) {
        match &self.0 {
            Kind::Consecutive => Consecutive.enter(generation, moment),
            Kind::Sliding { counters, slots } => {
                counters.enter(slots.as_ref(), generation, moment);
            }
        }
    }

    fn counted(&self, word: Word, moment: &impl sealed::Moment) -> Counted {
        match &self.0 {
            Kind::Consecutive => Consecutive.counted(word, moment),
            Kind::Sliding { counters, slots } => counters.counted(slots.as_ref(), word, moment),
        }
    }

    fn is_slow(&self, took: u64, live: &LiveConfig) -> bool {
        match &self.0 {
            Kind::Consecutive => Consecutive.is_slow(took, live),
            Kind::Sliding { counters, .. } => counters.is_slow(took, live),
        }
    }

    fn fresh(&self) -> Self {
        match &self.0 {
            Kind::Consecutive => Self(Kind::Consecutive),
            Kind::Sliding { counters, .. } => Self::sliding(counters.rate),
        }
    }
}

impl<S> fmt::Debug for Chosen<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Consecutive => f.write_str("Consecutive"),
            Kind::Sliding { counters, .. } => f
                .debug_struct("Sliding")
                .field("rate", &counters.rate)
                .finish_non_exhaustive(),
        }
    }
}
