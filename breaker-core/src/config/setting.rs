//! The settings by name, and what a value of each is.

use super::OnCancel;
use core::fmt;
use core::time::Duration;

/// A setting of a breaker: what an error is about, or what [`Overrides`](super::Overrides) hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Setting {
    /// `threshold`
    Threshold,
    /// `reset`
    Reset,
    /// `max_reset`
    MaxReset,
    /// `probes`
    Probes,
    /// `probes` beside `close_rate`
    ProbesByRate,
    /// `close_after`
    CloseAfter,
    /// `close_rate`
    CloseRate,
    /// `probe_timeout`
    ProbeTimeout,
    /// `timeout`
    Timeout,
    /// `failure_rate`
    FailureRate,
    /// `window`
    Window,
    /// the number of buckets of `window`
    Buckets,
    /// `min_calls`
    MinCalls,
    /// `slow`
    Slow,
    /// `slow_rate`
    SlowRate,
    /// `backoff`
    Backoff,
    /// `jitter`
    Jitter,
    /// `on_cancel`
    OnCancel,
}

/// What a value of a [`Setting`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SettingKind {
    /// A whole number: [`SettingValue::Count`].
    Count,
    /// A share or a factor: [`SettingValue::Number`].
    Number,
    /// A length of time: [`SettingValue::Duration`].
    Duration,
    /// `ignore` or `failure`: [`SettingValue::OnCancel`].
    OnCancel,
}

/// A value of a [`Setting`]. Displays as it is written: `5`, `0.5`, `1.5s`, `failure`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingValue {
    /// Of `threshold`, `probes`, `close_after` and `min_calls`.
    Count(u32),
    /// Of `failure_rate`, `slow_rate`, `close_rate`, `backoff` and `jitter`.
    Number(f64),
    /// Of `reset`, `max_reset`, `probe_timeout` and `slow`.
    Duration(Duration),
    /// Of `on_cancel`.
    OnCancel(OnCancel),
}

impl Setting {
    /// The settings that [`Overrides`](super::Overrides) may hold, in the order of the docs.
    pub const OVERRIDABLE: [Self; 14] = [
        Self::Threshold,
        Self::FailureRate,
        Self::MinCalls,
        Self::Slow,
        Self::SlowRate,
        Self::Reset,
        Self::Backoff,
        Self::MaxReset,
        Self::Jitter,
        Self::Probes,
        Self::CloseAfter,
        Self::CloseRate,
        Self::ProbeTimeout,
        Self::OnCancel,
    ];

    /// Its name, as in the attribute.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Reset => "reset",
            Self::MaxReset => "max_reset",
            Self::Probes | Self::ProbesByRate => "probes",
            Self::CloseAfter => "close_after",
            Self::CloseRate => "close_rate",
            Self::ProbeTimeout => "probe_timeout",
            Self::Timeout => "timeout",
            Self::FailureRate => "failure_rate",
            Self::Window | Self::Buckets => "window",
            Self::MinCalls => "min_calls",
            Self::Slow => "slow",
            Self::SlowRate => "slow_rate",
            Self::Backoff => "backoff",
            Self::Jitter => "jitter",
            Self::OnCancel => "on_cancel",
        }
    }

    /// The setting of that name, of those that can be changed at run time.
    ///
    /// ```
    /// use breaker_core::Setting;
    ///
    /// assert_eq!(Setting::overridable("max_reset"), Some(Setting::MaxReset));
    /// assert_eq!(Setting::overridable("window"), None);
    /// ```
    #[must_use]
    pub fn overridable(name: &str) -> Option<Self> {
        let mut settings = Self::OVERRIDABLE.into_iter();
        settings.find(|setting| setting.name() == name)
    }

    /// What its values are; `None` for what can't be changed at run time.
    #[must_use]
    pub const fn kind(self) -> Option<SettingKind> {
        Some(match self {
            Self::Threshold | Self::Probes | Self::CloseAfter | Self::MinCalls => {
                SettingKind::Count
            }
            Self::FailureRate | Self::SlowRate | Self::CloseRate | Self::Backoff | Self::Jitter => {
                SettingKind::Number
            }
            Self::Reset | Self::MaxReset | Self::ProbeTimeout | Self::Slow => SettingKind::Duration,
            Self::OnCancel => SettingKind::OnCancel,
            Self::ProbesByRate | Self::Timeout | Self::Window | Self::Buckets => return None,
        })
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Duration(duration) => fmt::Debug::fmt(duration, f),
            Self::OnCancel(counts_as) => counts_as.fmt(f),
        }
    }
}

impl fmt::Display for OnCancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ignore => "ignore",
            Self::Failure => "failure",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;

    #[test]
    fn a_setting_that_can_be_changed_has_a_kind_and_one_that_cannot_has_none() {
        for setting in Setting::OVERRIDABLE {
            assert!(setting.kind().is_some(), "{setting}");
            assert_eq!(Setting::overridable(setting.name()), Some(setting));
        }
        for setting in [
            Setting::Timeout,
            Setting::Window,
            Setting::Buckets,
            Setting::ProbesByRate,
        ] {
            assert_eq!(setting.kind(), None, "{setting}");
        }
    }

    #[test]
    fn each_setting_takes_values_of_its_kind_and_no_others() {
        let values = [
            (SettingKind::Count, SettingValue::Count(7)),
            (SettingKind::Number, SettingValue::Number(0.25)),
            (
                SettingKind::Duration,
                SettingValue::Duration(Duration::from_millis(1_500)),
            ),
            (
                SettingKind::OnCancel,
                SettingValue::OnCancel(OnCancel::Failure),
            ),
        ];
        for setting in Setting::OVERRIDABLE {
            for (kind, value) in values {
                let set = Overrides::new().set(setting, value);
                assert_eq!(
                    set.is_some(),
                    setting.kind() == Some(kind),
                    "{setting} {value}"
                );
                let Some(set) = set else { continue };
                assert_eq!(set.get(setting), Some(value), "{setting}");
                assert_eq!(set.iter().next(), Some((setting, value)));
                assert_eq!(set.iter().count(), 1);
                assert!(set.without(setting).is_empty());
            }
        }
    }
}
