//! What a breaker is set to: [`Settings`] as they are written, [`Config`] once
//! they were found to make sense.

mod origins;
mod overrides;
// JavaScript's module, which is to be small, stays as it was declared.
#[cfg(not(one_thread))]
mod reconfigure;
mod setting;
mod settings;
mod window;
#[cfg(not(one_thread))]
mod words;

pub use overrides::Overrides;
#[cfg(not(one_thread))]
pub use reconfigure::{Mistakes, Reconfiguration, ReconfigureError};
pub use setting::{Setting, SettingKind, SettingValue};
pub use settings::Settings;
pub use window::{MAX_BUCKETS, MAX_WINDOW_CALLS, Window};
#[cfg(not(one_thread))]
pub(crate) use words::WORDS;

use crate::rate::{Limits, Rate};
use crate::ratio::Ratio;
use crate::trial;
use crate::word::REPORTED;
use core::time::Duration;
use origins::Origins;

/// The largest `threshold` that a breaker's word can hold: 134,217,726.
pub const MAX_THRESHOLD: u32 = REPORTED - 1;

/// The largest `probes` and `close_after` that a breaker's word can hold: 511.
pub const MAX_PROBES: u32 = trial::MAX_WIDE;

/// The largest `probes` beside `close_rate`: 255.
pub const MAX_PROBES_BY_RATE: u32 = trial::MAX_NARROW;

/// The largest `min_calls` of a window of time: 131,071.
pub const MAX_MIN_CALLS: u32 = crate::rate::MAX_MIN_CALLS;

/// What a call counts as that was dropped before it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnCancel {
    /// Neutral: nothing is counted. The default.
    #[default]
    Ignore,
    /// A failure. For callers who wrap the call in a timeout of their own,
    /// which drops it: otherwise the breaker never learns of the outage.
    Failure,
}

/// A configuration by rate that makes sense: made by
/// [`Settings::build_rate`] or [`Settings::must_rate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateConfig {
    pub(crate) config: Config,
    pub(crate) rate: Rate,
}

impl RateConfig {
    /// The configuration.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// How many slots a [`Sliding`](crate::Sliding) needs for the window.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.rate.span.slots()
    }
}

/// How a trial ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Close {
    /// So many successes close, the first failure reopens.
    After(u32),
    /// After `probes` results, this share of failures reopens.
    Rate(Ratio),
}

/// A configuration that makes sense: made by [`Settings::build`] or
/// [`Settings::must`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    threshold: u32,
    reset: u64,
    backoff: f64,
    max_reset: u64,
    jitter: f64,
    /// The same in 31 binary places: without a floating-point unit, a refusal
    /// would else take its time.
    jitter_q31: u32,
    jitter_was_set: bool,
    jitter_seed: Option<u64>,
    probes: u32,
    close: Close,
    probe_timeout: u64,
    origins: Origins,
    on_cancel: OnCancel,
    /// `None`: failures in a row trip.
    #[cfg(not(one_thread))]
    rate: Option<Rate>,
}

impl Config {
    /// threshold 5, reset 30 s, backoff 1, jitter 0.1, one probe that closes,
    /// probe timeout 60 s, cancelled calls ignored.
    pub const DEFAULT: Self = Settings::new().must();

    /// Counted failures in a row that trip the breaker. Means nothing to one that trips by
    /// rate.
    #[must_use]
    pub const fn threshold(&self) -> u32 {
        self.threshold
    }

    /// The wait after a trip, before backoff, jitter and the clock's
    /// resolution.
    #[must_use]
    pub const fn reset(&self) -> Duration {
        Duration::from_nanos(self.reset)
    }

    /// The factor by which the wait grows with each reopening.
    #[must_use]
    pub const fn backoff(&self) -> f64 {
        self.backoff
    }

    /// The cap of the wait that `backoff` may reach; `None`: no cap.
    #[must_use]
    pub const fn max_reset(&self) -> Option<Duration> {
        if self.max_reset == u64::MAX {
            None
        } else {
            Some(Duration::from_nanos(self.max_reset))
        }
    }

    /// The largest share of the wait that is added to it at random.
    #[must_use]
    pub const fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Probes at once, or in a trial decided by `close_rate`.
    #[must_use]
    pub const fn probes(&self) -> u32 {
        self.probes
    }

    /// Successes that close a trial; `None` where `close_rate` decides.
    #[must_use]
    pub const fn close_after(&self) -> Option<u32> {
        match self.close {
            Close::After(successes) => Some(successes),
            Close::Rate(_) => None,
        }
    }

    /// The share of failures that reopens; `None` where `close_after` decides.
    #[must_use]
    pub const fn close_rate(&self) -> Option<f64> {
        match self.close {
            Close::After(_) => None,
            Close::Rate(ratio) => Some(ratio.as_f64()),
        }
    }

    /// How long after its last probe was admitted a full trial is given up.
    #[must_use]
    pub const fn probe_timeout(&self) -> Duration {
        Duration::from_nanos(self.probe_timeout)
    }

    /// What a dropped call counts as.
    #[must_use]
    pub const fn on_cancel(&self) -> OnCancel {
        self.on_cancel
    }

    /// What a window's counts trip at, where a policy isn't to go by its own.
    #[cfg(not(one_thread))]
    pub(crate) const fn limits(&self) -> Option<&Limits> {
        match &self.rate {
            Some(rate) => Some(&rate.limits),
            None => None,
        }
    }

    #[cfg(one_thread)]
    pub(crate) const fn limits(&self) -> Option<&Limits> {
        None
    }

    /// That of a breaker that counts failures in a row.
    pub(crate) const fn in_a_row(self) -> Self {
        #[cfg(not(one_thread))]
        let config = Self { rate: None, ..self };
        #[cfg(one_thread)]
        let config = self;
        config
    }

    pub(crate) const fn reset_nanos(&self) -> u64 {
        self.reset
    }

    pub(crate) const fn max_reset_nanos(&self) -> u64 {
        self.max_reset
    }

    pub(crate) const fn probe_timeout_nanos(&self) -> u64 {
        self.probe_timeout
    }

    pub(crate) const fn jitter_q31(&self) -> u32 {
        self.jitter_q31
    }

    pub(crate) const fn jitter_was_set(&self) -> bool {
        self.jitter_was_set
    }

    pub(crate) const fn jitter_seed(&self) -> Option<u64> {
        self.jitter_seed
    }

    pub(crate) const fn close(&self) -> Close {
        self.close
    }
}

/// Of a breaker that trips by rate.
#[cfg(not(one_thread))]
impl Config {
    /// The share of failures that trips; `None` where failures in a row do.
    #[must_use]
    pub const fn failure_rate(&self) -> Option<f64> {
        match &self.rate {
            Some(rate) => Some(rate.limits.failures.as_f64()),
            None => None,
        }
    }

    /// The window of which the rates are taken; `None` where failures in a row trip.
    #[must_use]
    pub const fn window(&self) -> Option<Window> {
        match &self.rate {
            Some(rate) => Some(Window::of(rate.span)),
            None => None,
        }
    }

    /// Calls in the window before which nothing trips; `None` where failures in a row do.
    #[must_use]
    pub const fn min_calls(&self) -> Option<u32> {
        match &self.rate {
            Some(rate) => Some(rate.limits.min_calls),
            None => None,
        }
    }

    /// What a slow call takes longer than; `None` where it doesn't matter.
    #[must_use]
    pub const fn slow(&self) -> Option<Duration> {
        match self.limits() {
            Some(Limits {
                slow: Some((than, _)),
                ..
            }) => Some(Duration::from_nanos(*than)),
            _ => None,
        }
    }

    /// The share of slow calls that trips; `None` where it doesn't matter.
    #[must_use]
    pub const fn slow_rate(&self) -> Option<f64> {
        match self.limits() {
            Some(Limits {
                slow: Some((_, share)),
                ..
            }) => Some(share.as_f64()),
            _ => None,
        }
    }

    pub(crate) const fn rate(&self) -> Option<&Rate> {
        self.rate.as_ref()
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}
