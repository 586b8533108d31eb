//! A configuration in words: what can be changed of it at run time.
//!
//! ```text
//! 0: threshold 27 | probes 9 | min_calls 17 | on_cancel 1
//! 1: close_after or close_rate 32 | failure_rate 32
//! 2: slow_rate 32 | jitter in binary places 32
//! 3 to 8: reset, max_reset, probe_timeout and slow, in nanoseconds; backoff, jitter
//! ```

use super::origins::Origins;
use super::{Close, Config, OnCancel, Overrides, Setting, SettingValue};
use crate::rate::{Limits, Rate};
use crate::ratio::Ratio;
use core::time::Duration;

pub(crate) const WORDS: usize = 9;

const PROBES_SHIFT: u32 = 27;
const MIN_CALLS_SHIFT: u32 = PROBES_SHIFT + 9;
const ON_CANCEL_SHIFT: u32 = MIN_CALLS_SHIFT + 17;

const fn field(word: u64, from: u32, to: u32) -> u32 {
    (word >> from & ((1 << (to - from)) - 1)) as u32
}

/// Two halves of a word.
const fn pair(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

const fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

impl Overrides {
    /// Which are set: a bit for each, in the order of [`Setting::OVERRIDABLE`].
    pub(crate) fn mask(&self) -> u64 {
        let settings = Setting::OVERRIDABLE.into_iter().enumerate();
        settings.fold(0, |mask, (bit, setting)| {
            mask | u64::from(self.get(setting).is_some()) << bit
        })
    }
}

const fn has(mask: u64, setting: Setting) -> bool {
    let mut bit = 0;
    // `for` is not for `const`.
    while bit < Setting::OVERRIDABLE.len() {
        if Setting::OVERRIDABLE[bit] as u32 == setting as u32 {
            return mask >> bit & 1 != 0;
        }
        bit += 1;
    }
    false
}

impl Config {
    pub(crate) fn words(&self) -> [u64; WORDS] {
        let close = match self.close {
            Close::After(successes) => successes,
            Close::Rate(ratio) => ratio.billionths(),
        };
        let (failures, min_calls) = match self.limits() {
            Some(limits) => (limits.failures.billionths(), limits.min_calls),
            None => (0, 0),
        };
        let (slow, slow_rate) = match self.limits() {
            Some(Limits {
                slow: Some((than, share)),
                ..
            }) => (*than, share.billionths()),
            _ => (0, 0),
        };
        let on_cancel = match self.on_cancel {
            OnCancel::Ignore => 0,
            OnCancel::Failure => 1,
        };
        let counts = u64::from(self.threshold)
            | u64::from(self.probes) << PROBES_SHIFT
            | u64::from(min_calls) << MIN_CALLS_SHIFT
            | on_cancel << ON_CANCEL_SHIFT;
        [
            counts,
            pair(close, failures),
            pair(slow_rate, self.jitter_q31),
            self.reset,
            self.max_reset,
            self.probe_timeout,
            slow,
            self.backoff.to_bits(),
            self.jitter.to_bits(),
        ]
    }

    /// What words and mask mean over this as the declared one.
    pub(crate) fn under(&self, mask: u64, words: &[u64; WORDS]) -> Self {
        let [
            counts,
            rates,
            shares,
            reset,
            max_reset,
            probe_timeout,
            than,
            backoff,
            jitter,
        ] = *words;
        let (close, failures) = halves(rates);
        let (slow_rate, jitter_q31) = halves(shares);
        Self {
            threshold: field(counts, 0, PROBES_SHIFT),
            reset,
            backoff: f64::from_bits(backoff),
            max_reset,
            jitter: f64::from_bits(jitter),
            jitter_q31,
            jitter_was_set: self.jitter_was_set || has(mask, Setting::Jitter),
            jitter_seed: self.jitter_seed,
            probes: field(counts, PROBES_SHIFT, MIN_CALLS_SHIFT),
            close: match self.close {
                Close::After(_) => Close::After(close),
                Close::Rate(_) => Close::Rate(Ratio::of_billionths(close)),
            },
            probe_timeout,
            origins: Origins {
                close_after_was_set: self.origins.close_after_was_set
                    || has(mask, Setting::CloseAfter),
                probe_timeout_was_set: self.origins.probe_timeout_was_set
                    || has(mask, Setting::ProbeTimeout),
                timeout: self.origins.timeout,
            },
            on_cancel: match field(counts, ON_CANCEL_SHIFT, ON_CANCEL_SHIFT + 1) {
                0 => OnCancel::Ignore,
                _ => OnCancel::Failure,
            },
            rate: self.rate.map(|Rate { limits, span }| Rate {
                limits: Limits {
                    failures: Ratio::of_billionths(failures),
                    min_calls: field(counts, MIN_CALLS_SHIFT, ON_CANCEL_SHIFT),
                    slow: limits.slow.map(|_| (than, Ratio::of_billionths(slow_rate))),
                },
                span,
            }),
        }
    }

    /// Of this as what then holds, those that the mask says.
    pub(crate) fn overrides(&self, mask: u64) -> Overrides {
        let settings = Setting::OVERRIDABLE.into_iter();
        let overridden = settings.filter(|setting| has(mask, *setting));
        overridden.fold(Overrides::new(), |overrides, setting| {
            let value = match setting {
                // The longest is none, but was set.
                Setting::MaxReset => {
                    Some(SettingValue::Duration(Duration::from_nanos(self.max_reset)))
                }
                _ => self.get(setting),
            };
            let set = value.and_then(|value| overrides.set(setting, value));
            set.unwrap_or(overrides)
        })
    }

    /// A setting by name, of those that can be changed at run time; `None` where the breaker
    /// has none.
    ///
    /// ```
    /// use breaker_core::{Config, Setting, SettingValue};
    ///
    /// let threshold = Config::DEFAULT.get(Setting::Threshold);
    /// assert_eq!(threshold, Some(SettingValue::Count(5)));
    /// assert_eq!(Config::DEFAULT.get(Setting::FailureRate), None);
    /// ```
    #[must_use]
    pub fn get(&self, setting: Setting) -> Option<SettingValue> {
        let count = SettingValue::Count;
        let number = SettingValue::Number;
        let duration = SettingValue::Duration;
        match setting {
            Setting::Threshold => self.rate.is_none().then(|| count(self.threshold)),
            Setting::FailureRate => self.failure_rate().map(number),
            Setting::MinCalls => self.min_calls().map(count),
            Setting::Slow => self.slow().map(duration),
            Setting::SlowRate => self.slow_rate().map(number),
            Setting::Reset => Some(duration(self.reset())),
            Setting::Backoff => Some(number(self.backoff)),
            Setting::MaxReset => self.max_reset().map(duration),
            Setting::Jitter => Some(number(self.jitter)),
            Setting::Probes => Some(count(self.probes)),
            Setting::CloseAfter => self.close_after().map(count),
            Setting::CloseRate => self.close_rate().map(number),
            Setting::ProbeTimeout => Some(duration(self.probe_timeout())),
            Setting::OnCancel => Some(SettingValue::OnCancel(self.on_cancel)),
            _ => None,
        }
    }
}
