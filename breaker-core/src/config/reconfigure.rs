//! What a breaker's configuration becomes when settings are laid over the declared ones.

use super::{Close, Config, Overrides, Setting, Settings};
use crate::error::ConfigError;
use crate::rate::Limits;

/// A configuration was changed at run time: what held before, and what holds from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reconfiguration {
    /// What held before.
    pub from: Config,
    /// What holds from now on.
    pub to: Config,
}

/// Overrides that a breaker does not take. It stayed as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReconfigureError {
    /// Together with what was declared they could never work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A setting of a breaker by rate, and this one counts failures in a row.
    #[error(
        "`{0}` is for a breaker that trips by rate, and this one counts failures in a row: \
         set `threshold`, or declare it with `failure_rate`"
    )]
    CountsInARow(Setting),
    /// `threshold`, and the breaker trips by rate.
    #[error(
        "`threshold` counts failures in a row, and this breaker trips by rate: \
         set `failure_rate` and `min_calls`"
    )]
    TripsByRate,
    /// `slow` or `slow_rate`, and the breaker was declared without: its calls are not timed.
    #[error(
        "`{0}` needs to know how long calls take, and this breaker does not time them: \
         declare it with `slow` and `slow_rate`"
    )]
    NotTimed(Setting),
    /// `close_rate`, and the breaker was declared without.
    #[error(
        "`close_rate` can't take the place of `close_after` at run time: \
         set `close_after`, or declare the breaker with `close_rate`"
    )]
    ClosesAfter,
    /// `close_after`, and the breaker was declared with `close_rate`.
    #[error(
        "`close_after` can't take the place of `close_rate` at run time: \
         set `close_rate`, or declare the breaker with `close_after`"
    )]
    ClosesByRate,
    /// Another thread is just reconfiguring the same breaker.
    #[error("another reconfiguration of this breaker is under way: try again")]
    UnderWay,
    /// The breaker of one key.
    #[error(
        "the breakers of all keys have one configuration: \
         reconfigure them together, as `KeyedBreakers` or by `find_keyed`"
    )]
    OneKey,
}

impl ReconfigureError {
    /// The settings that it is about, the one to change first.
    #[must_use]
    pub const fn settings(&self) -> &'static [Setting] {
        match self {
            Self::Config(error) => of_config(error),
            Self::CountsInARow(Setting::FailureRate) | Self::NotTimed(Setting::FailureRate) => {
                &[Setting::FailureRate]
            }
            Self::CountsInARow(Setting::MinCalls) => &[Setting::MinCalls],
            Self::CountsInARow(Setting::Slow) | Self::NotTimed(Setting::Slow) => &[Setting::Slow],
            Self::CountsInARow(_) | Self::NotTimed(_) => &[Setting::SlowRate],
            Self::TripsByRate => &[Setting::Threshold],
            Self::ClosesAfter => &[Setting::CloseRate],
            Self::ClosesByRate => &[Setting::CloseAfter],
            Self::UnderWay | Self::OneKey => &[],
        }
    }
}

/// The settings that can be changed at run time, of those that break a rule.
const fn of_config(error: &ConfigError) -> &'static [Setting] {
    match error {
        ConfigError::ZeroThreshold | ConfigError::TooLarge(Setting::Threshold) => {
            &[Setting::Threshold]
        }
        ConfigError::ZeroProbes
        | ConfigError::TooLarge(Setting::Probes | Setting::ProbesByRate) => &[Setting::Probes],
        ConfigError::ZeroCloseAfter | ConfigError::TooLarge(Setting::CloseAfter) => {
            &[Setting::CloseAfter]
        }
        ConfigError::CloseAfterWithCloseRate => &[Setting::CloseAfter, Setting::CloseRate],
        ConfigError::ZeroReset | ConfigError::Overflow(Setting::Reset) => &[Setting::Reset],
        ConfigError::ZeroProbeTimeout | ConfigError::Overflow(Setting::ProbeTimeout) => {
            &[Setting::ProbeTimeout]
        }
        // Where `probe_timeout` is not set, it follows from `reset`.
        ConfigError::TimeoutAboveProbeTimeout => &[Setting::ProbeTimeout, Setting::Reset],
        ConfigError::MaxResetBelowReset => &[Setting::MaxReset, Setting::Reset],
        ConfigError::Overflow(Setting::MaxReset) => &[Setting::MaxReset],
        ConfigError::ZeroMinCalls
        | ConfigError::MinCallsAboveWindow
        | ConfigError::TooLarge(Setting::MinCalls) => &[Setting::MinCalls],
        ConfigError::Overflow(Setting::Slow) => &[Setting::Slow],
        ConfigError::Ratio(Setting::CloseRate) => &[Setting::CloseRate],
        ConfigError::Ratio(Setting::SlowRate) => &[Setting::SlowRate],
        ConfigError::Ratio(_) => &[Setting::FailureRate],
        ConfigError::Jitter => &[Setting::Jitter],
        ConfigError::Backoff => &[Setting::Backoff],
        _ => &[],
    }
}

impl Config {
    /// What the configuration of a breaker declared so becomes under overrides. The rules are
    /// those of [`Settings`]: what follows from another setting, and was not declared itself,
    /// follows again.
    ///
    /// ```
    /// use breaker_core::{Config, ConfigError, Overrides, ReconfigureError, Settings};
    /// use core::time::Duration;
    ///
    /// let declared = Settings::new().max_reset(Duration::from_secs(60)).must();
    /// let under = |overrides| declared.overridden(&overrides);
    ///
    /// assert_eq!(under(Overrides::new().probes(3))?.close_after(), Some(3));
    /// assert_eq!(
    ///     under(Overrides::new().reset(Duration::from_secs(90))),
    ///     Err(ReconfigureError::Config(ConfigError::MaxResetBelowReset))
    /// );
    /// # Ok::<(), ReconfigureError>(())
    /// ```
    ///
    /// # Errors
    /// The first rule that they break.
    pub fn overridden(&self, overrides: &Overrides) -> Result<Self, ReconfigureError> {
        self.fits(overrides)?;
        let settings = overrides.0.over(self.settings());
        let rate = match self.rate() {
            Some(rate) => Some(settings.rate_over(rate.span)?),
            None => None,
        };
        Ok(settings.build_any(rate)?)
    }

    /// Every mistake in overrides, where [`overridden`](Self::overridden) gives the first. Each
    /// is looked for among those that are left when the ones before are taken out.
    ///
    /// ```
    /// use breaker_core::{Config, Overrides, Setting};
    ///
    /// let senseless = Overrides::new().threshold(0).jitter(7.0).probes(2);
    /// let mistaken: Vec<_> = Config::DEFAULT
    ///     .mistakes(&senseless)
    ///     .map(|(setting, error)| format!("{setting}: {error}"))
    ///     .collect();
    /// assert_eq!(mistaken, [
    ///     "threshold: `threshold` is 0: write at least 1",
    ///     "jitter: `jitter` is out of range: write a number from 0 to 1",
    /// ]);
    /// ```
    pub const fn mistakes(&self, overrides: &Overrides) -> Mistakes<'_> {
        Mistakes {
            declared: self,
            left: *overrides,
        }
    }

    /// Whether the breaker has what the overrides change.
    fn fits(&self, overrides: &Overrides) -> Result<(), ReconfigureError> {
        let sets = |setting: &Setting| overrides.get(*setting).is_some();
        match self.limits() {
            None => {
                let by_rate = [
                    Setting::FailureRate,
                    Setting::MinCalls,
                    Setting::Slow,
                    Setting::SlowRate,
                ];
                if let Some(setting) = by_rate.into_iter().find(sets) {
                    return Err(ReconfigureError::CountsInARow(setting));
                }
            }
            Some(limits) => {
                if sets(&Setting::Threshold) {
                    return Err(ReconfigureError::TripsByRate);
                }
                let timed = [Setting::Slow, Setting::SlowRate];
                if limits.slow.is_none()
                    && let Some(setting) = timed.into_iter().find(sets)
                {
                    return Err(ReconfigureError::NotTimed(setting));
                }
            }
        }
        // A trial under way is kept in the word in one of two ways.
        match self.close() {
            Close::After(_) if sets(&Setting::CloseRate) => Err(ReconfigureError::ClosesAfter),
            Close::Rate(_) if sets(&Setting::CloseAfter) => Err(ReconfigureError::ClosesByRate),
            _ => Ok(()),
        }
    }

    /// The settings of which it was made, but for the window.
    fn settings(&self) -> Settings {
        let mut settings = Settings::new()
            .backoff(self.backoff)
            .probes(self.probes)
            .on_cancel(self.on_cancel)
            .nanos(Setting::Reset, self.reset)
            .nanos(Setting::MaxReset, self.max_reset);
        if self.jitter_was_set {
            settings = settings.jitter(self.jitter);
        }
        if let Some(seed) = self.jitter_seed {
            settings = settings.jitter_seed(seed);
        }
        match self.close {
            Close::After(successes) if self.origins.close_after_was_set => {
                settings = settings.close_after(successes);
            }
            Close::After(_) => {}
            Close::Rate(ratio) => settings = settings.close_rate(ratio.as_f64()),
        }
        if self.origins.probe_timeout_was_set {
            settings = settings.nanos(Setting::ProbeTimeout, self.probe_timeout);
        }
        if self.origins.timeout != 0 {
            settings = settings.nanos(Setting::Timeout, self.origins.timeout);
        }
        match self.limits() {
            None => settings.threshold(self.threshold),
            Some(Limits {
                failures,
                min_calls,
                slow,
            }) => {
                settings = settings
                    .failure_rate(failures.as_f64())
                    .min_calls(*min_calls);
                match slow {
                    None => settings,
                    Some((than, share)) => settings
                        .nanos(Setting::Slow, *than)
                        .slow_rate(share.as_f64()),
                }
            }
        }
    }
}

/// The mistakes in overrides: see [`Config::mistakes`].
#[derive(Clone, Copy, Debug)]
pub struct Mistakes<'a> {
    declared: &'a Config,
    left: Overrides,
}

impl Iterator for Mistakes<'_> {
    type Item = (Setting, ReconfigureError);

    fn next(&mut self) -> Option<Self::Item> {
        let error = self.declared.overridden(&self.left).err()?;
        let mut about = error.settings().iter().copied();
        let setting = about.find(|setting| self.left.get(*setting).is_some())?;
        self.left = self.left.without(setting);
        Some((setting, error))
    }
}
