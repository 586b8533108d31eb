//! Settings as they are written, and the rules by which they make sense.

use super::origins::Origins;
use super::setting::{Setting, SettingValue as Value};
use super::window::Kind;
use super::{
    Close, Config, MAX_BUCKETS, MAX_PROBES, MAX_PROBES_BY_RATE, MAX_THRESHOLD, MAX_WINDOW_CALLS,
    OnCancel, RateConfig, Window,
};
use crate::error::ConfigError;
use crate::nanos::{self, Nanos};
use crate::rate::{Limits, MAX_MIN_CALLS, Rate, Span};
use crate::ratio::Ratio;
use core::num::NonZeroU64;
use core::time::Duration;

/// The shortest bucket of a window of time, in nanoseconds: a millisecond.
const LEAST_BUCKET: u64 = 1_000_000;

const DEFAULT_THRESHOLD: u32 = 5;
const DEFAULT_WINDOW: Window = Window::calls(100);
const DEFAULT_MIN_CALLS: u32 = 20;
const DEFAULT_RESET: u64 = 30_000_000_000;
const DEFAULT_JITTER: f64 = 0.1;
const LEAST_DEFAULT_PROBE_TIMEOUT: u64 = 60_000_000_000;

/// Settings as they are written down, not yet checked.
///
/// Every setting that isn't made has its default. [`build`](Self::build)
/// checks and never panics; [`must`](Self::must) is for `const`s and
/// `static`s, where a senseless configuration then does not compile.
///
/// ```
/// use breaker_core::{Config, ConfigError, Settings};
/// use core::time::Duration;
///
/// const PMS: Config = Settings::new()
///     .threshold(3)
///     .reset(Duration::from_secs(10))
///     .backoff(2.0)
///     .max_reset(Duration::from_secs(300))
///     .must();
/// assert_eq!(PMS.threshold(), 3);
///
/// let read_from_a_file = 0;
/// assert_eq!(Settings::new().threshold(read_from_a_file).build(), Err(ConfigError::ZeroThreshold));
/// ```
///
/// ```compile_fail
/// # use breaker_core::{Config, Settings};
/// const NEVER_TRIPS: Config = Settings::new().threshold(0).must();
/// # fn main() { let _ = NEVER_TRIPS; }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[must_use = "settings do nothing until they are built"]
pub struct Settings {
    threshold: Option<u32>,
    failure_rate: Option<f64>,
    window: Option<Window>,
    min_calls: Option<u32>,
    slow: Option<Nanos>,
    slow_rate: Option<f64>,
    reset: Option<Nanos>,
    backoff: Option<f64>,
    max_reset: Option<Nanos>,
    jitter: Option<f64>,
    jitter_seed: Option<u64>,
    probes: Option<u32>,
    pub(super) close_after: Option<u32>,
    close_rate: Option<f64>,
    pub(super) probe_timeout: Option<Nanos>,
    on_cancel: Option<OnCancel>,
    pub(super) timeout: Option<Nanos>,
}

impl Settings {
    /// The defaults: see [`Config::DEFAULT`].
    pub const fn new() -> Self {
        Self {
            threshold: None,
            failure_rate: None,
            window: None,
            min_calls: None,
            slow: None,
            slow_rate: None,
            reset: None,
            backoff: None,
            max_reset: None,
            jitter: None,
            jitter_seed: None,
            probes: None,
            close_after: None,
            close_rate: None,
            probe_timeout: None,
            on_cancel: None,
            timeout: None,
        }
    }

    /// Counted failures in a row that trip the breaker: 1 to
    /// [`MAX_THRESHOLD`]. Default 5.
    pub const fn threshold(mut self, failures: u32) -> Self {
        self.threshold = Some(failures);
        self
    }

    /// Instead of `threshold`: the share of failures in the `window` that trips
    /// the breaker. Above 0, at most 1.
    pub const fn failure_rate(mut self, share: f64) -> Self {
        self.failure_rate = Some(share);
        self
    }

    /// The samples of which the rates are taken. Default: the last 100 calls.
    pub const fn window(mut self, window: Window) -> Self {
        self.window = Some(window);
        self
    }

    /// Counted calls in the window before which nothing trips; at least 1, at
    /// most a window of calls holds, and at most [`MAX_MIN_CALLS`](crate::MAX_MIN_CALLS). Default 20,
    /// or as many as the window holds.
    pub const fn min_calls(mut self, calls: u32) -> Self {
        self.min_calls = Some(calls);
        self
    }

    /// A call that took longer than this is slow. Goes with `slow_rate`.
    pub const fn slow(mut self, than: Duration) -> Self {
        self.slow = Some(nanos::checked(than));
        self
    }

    /// The share of slow calls in the window that trips the breaker, beside
    /// `failure_rate`. Above 0, at most 1.
    pub const fn slow_rate(mut self, share: f64) -> Self {
        self.slow_rate = Some(share);
        self
    }

    /// How long an opening lasts before a call is let through as a probe;
    /// above 0. Default 30 s.
    pub const fn reset(mut self, wait: Duration) -> Self {
        self.reset = Some(nanos::checked(wait));
        self
    }

    /// The factor by which the wait grows with each reopening since the last
    /// close; at least 1. Default 1.
    pub const fn backoff(mut self, factor: f64) -> Self {
        self.backoff = Some(factor);
        self
    }

    /// The longest wait that `backoff` may reach; at least `reset`. Default:
    /// none.
    pub const fn max_reset(mut self, wait: Duration) -> Self {
        self.max_reset = Some(nanos::checked(wait));
        self
    }

    /// The largest share of the wait that is added to it at random, 0 to 1, so
    /// that a fleet does not probe in step. Default 0.1, and 0 under a clock
    /// without entropy, which is one for tests.
    pub const fn jitter(mut self, share: f64) -> Self {
        self.jitter = Some(share);
        self
    }

    /// Fixes what `jitter` is drawn from, for tests that must repeat. Default:
    /// the clock's entropy mixed with the breaker's address.
    pub const fn jitter_seed(mut self, seed: u64) -> Self {
        self.jitter_seed = Some(seed);
        self
    }

    /// Probes that may be in flight at once while half-open, or, with
    /// `close_rate`, that a trial consists of: 1 to [`MAX_PROBES`] (with
    /// `close_rate`: [`MAX_PROBES_BY_RATE`]). Default 1.
    pub const fn probes(mut self, probes: u32) -> Self {
        self.probes = Some(probes);
        self
    }

    /// Successes of a trial that close the breaker, of which the first failure
    /// reopens it: 1 to [`MAX_PROBES`]. Default: as many as `probes`.
    pub const fn close_after(mut self, successes: u32) -> Self {
        self.close_after = Some(successes);
        self
    }

    /// Decides a trial by the share of failures among its `probes` results:
    /// reached, the breaker reopens; not reached, it closes. Above 0, at most 1.
    pub const fn close_rate(mut self, failures: f64) -> Self {
        self.close_rate = Some(failures);
        self
    }

    /// How long after the last probe was admitted a full trial is given up and
    /// a new one starts; above 0. Default: the larger of `reset` and 60 s.
    pub const fn probe_timeout(mut self, after: Duration) -> Self {
        self.probe_timeout = Some(nanos::checked(after));
        self
    }

    /// What a dropped call counts as. Default: nothing.
    pub const fn on_cancel(mut self, counts_as: OnCancel) -> Self {
        self.on_cancel = Some(counts_as);
        self
    }

    /// The time after which the caller gives a call up. The core starts no
    /// timer: this is here to be checked, for a timeout longer than
    /// `probe_timeout` makes every probe come too late.
    pub const fn timeout(mut self, after: Duration) -> Self {
        self.timeout = Some(nanos::checked(after));
        self
    }

    /// A duration among the settings, in nanoseconds. Any other setting stays.
    #[doc(hidden)]
    pub const fn nanos(mut self, setting: Setting, nanos: u64) -> Self {
        let nanos = Some(Some(nanos));
        match setting {
            Setting::Slow => self.slow = nanos,
            Setting::Reset => self.reset = nanos,
            Setting::MaxReset => self.max_reset = nanos,
            Setting::ProbeTimeout => self.probe_timeout = nanos,
            Setting::Timeout => self.timeout = nanos,
            _ => {}
        }
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// The first rule that they break. Rules: `CONTRACT`, "configuration that
    /// can never work is refused", and what the breaker's words can hold.
    pub const fn build(self) -> Result<Config, ConfigError> {
        if self.is_by_rate() {
            return Err(ConfigError::RateNotWanted);
        }
        self.build_any(None)
    }

    /// Whether something was set that only a breaker by rate has.
    pub(crate) const fn is_by_rate(&self) -> bool {
        self.failure_rate.is_some()
            || self.window.is_some()
            || self.min_calls.is_some()
            || self.slow.is_some()
            || self.slow_rate.is_some()
    }

    /// Checks the settings of a breaker that trips by rate.
    ///
    /// ```
    /// use breaker_core::{Circuit, ConfigError, Settings, Sliding, Window};
    ///
    /// let settings = Settings::new().failure_rate(0.5).window(Window::calls(100)).min_calls(20);
    /// let circuit = Circuit::<Sliding<8>>::by_rate(settings.build_rate()?)?;
    /// # Ok::<(), ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// The first rule that they break.
    pub const fn build_rate(self) -> Result<RateConfig, ConfigError> {
        let rate = match self.rate() {
            Err(error) => return Err(error),
            Ok(rate) => rate,
        };
        match self.build_any(Some(rate)) {
            Err(error) => Err(error),
            Ok(config) => Ok(RateConfig { config, rate }),
        }
    }

    /// What concerns the rate alone.
    pub(crate) const fn rate(&self) -> Result<Rate, ConfigError> {
        if self.threshold.is_some() && self.failure_rate.is_some() {
            return Err(ConfigError::ThresholdWithFailureRate);
        }
        match self.span() {
            Err(error) => Err(error),
            Ok(span) => self.rate_over(span),
        }
    }

    /// The same over a window that is known.
    pub(crate) const fn rate_over(&self, span: Span) -> Result<Rate, ConfigError> {
        let failures = match self.failures() {
            Err(error) => return Err(error),
            Ok(failures) => failures,
        };
        match self.limits(failures, span) {
            Err(error) => Err(error),
            Ok(limits) => Ok(Rate { limits, span }),
        }
    }

    const fn failures(&self) -> Result<Ratio, ConfigError> {
        match self.failure_rate {
            None => Err(ConfigError::NoFailureRate),
            Some(share) => match Ratio::new(share) {
                Some(ratio) => Ok(ratio),
                None => Err(ConfigError::Ratio(Setting::FailureRate)),
            },
        }
    }

    const fn span(&self) -> Result<Span, ConfigError> {
        let window = match self.window {
            None => DEFAULT_WINDOW,
            Some(window) => window,
        };
        match window.0 {
            Kind::Calls(0) => Err(ConfigError::ZeroWindow),
            Kind::Calls(calls) if calls > MAX_WINDOW_CALLS => {
                Err(ConfigError::TooLarge(Setting::Window))
            }
            Kind::Calls(calls) => Ok(Span::Calls(calls)),
            Kind::Time { length, buckets } => {
                let length = match length {
                    None => return Err(ConfigError::Overflow(Setting::Window)),
                    Some(0) => return Err(ConfigError::ZeroWindow),
                    Some(length) => length,
                };
                if buckets > MAX_BUCKETS {
                    return Err(ConfigError::TooLarge(Setting::Buckets));
                }
                let Some(buckets) = NonZeroU64::new(buckets as u64) else {
                    return Err(ConfigError::ZeroBuckets);
                };
                match NonZeroU64::new(length.div_ceil(buckets.get())) {
                    Some(width) if width.get() >= LEAST_BUCKET => Ok(Span::Time { width, buckets }),
                    _ => Err(ConfigError::BucketTooShort),
                }
            }
        }
    }

    const fn limits(&self, failures: Ratio, span: Span) -> Result<Limits, ConfigError> {
        let most_min_calls = match span {
            Span::Calls(calls) => calls,
            Span::Time { .. } => MAX_MIN_CALLS,
        };
        let min_calls = match self.min_calls {
            None if most_min_calls < DEFAULT_MIN_CALLS => most_min_calls,
            None => DEFAULT_MIN_CALLS,
            Some(0) => return Err(ConfigError::ZeroMinCalls),
            Some(most) if most > most_min_calls => {
                return Err(match span {
                    Span::Calls(_) => ConfigError::MinCallsAboveWindow,
                    Span::Time { .. } => ConfigError::TooLarge(Setting::MinCalls),
                });
            }
            Some(calls) => calls,
        };
        let slow = match (self.slow, self.slow_rate) {
            (Some(None), _) => return Err(ConfigError::Overflow(Setting::Slow)),
            (None, None) => None,
            (Some(Some(than)), Some(share)) => match Ratio::new(share) {
                Some(ratio) => Some((than, ratio)),
                None => return Err(ConfigError::Ratio(Setting::SlowRate)),
            },
            (Some(Some(_)), None) => return Err(ConfigError::SlowWithoutSlowRate),
            (None, Some(_)) => return Err(ConfigError::SlowRateWithoutSlow),
        };
        Ok(Limits {
            failures,
            min_calls,
            slow,
        })
    }

    /// Both: where both set one, these win.
    pub(crate) fn over(self, below: Self) -> Self {
        Self {
            threshold: self.threshold.or(below.threshold),
            failure_rate: self.failure_rate.or(below.failure_rate),
            window: self.window.or(below.window),
            min_calls: self.min_calls.or(below.min_calls),
            slow: self.slow.or(below.slow),
            slow_rate: self.slow_rate.or(below.slow_rate),
            reset: self.reset.or(below.reset),
            backoff: self.backoff.or(below.backoff),
            max_reset: self.max_reset.or(below.max_reset),
            jitter: self.jitter.or(below.jitter),
            jitter_seed: self.jitter_seed.or(below.jitter_seed),
            probes: self.probes.or(below.probes),
            close_after: self.close_after.or(below.close_after),
            close_rate: self.close_rate.or(below.close_rate),
            probe_timeout: self.probe_timeout.or(below.probe_timeout),
            on_cancel: self.on_cancel.or(below.on_cancel),
            timeout: self.timeout.or(below.timeout),
        }
    }

    /// A setting by name, of those that can be changed at run time.
    pub(crate) const fn get(&self, setting: Setting) -> Option<Value> {
        match setting {
            Setting::Threshold => count(self.threshold),
            Setting::MinCalls => count(self.min_calls),
            Setting::Probes => count(self.probes),
            Setting::CloseAfter => count(self.close_after),
            Setting::FailureRate => number(self.failure_rate),
            Setting::SlowRate => number(self.slow_rate),
            Setting::CloseRate => number(self.close_rate),
            Setting::Backoff => number(self.backoff),
            Setting::Jitter => number(self.jitter),
            Setting::Slow => duration(self.slow),
            Setting::Reset => duration(self.reset),
            Setting::MaxReset => duration(self.max_reset),
            Setting::ProbeTimeout => duration(self.probe_timeout),
            Setting::OnCancel => match self.on_cancel {
                Some(counts_as) => Some(Value::OnCancel(counts_as)),
                None => None,
            },
            _ => None,
        }
    }

    /// The same without one of those that can be changed at run time.
    pub(crate) const fn without(mut self, setting: Setting) -> Self {
        match setting {
            Setting::Threshold => self.threshold = None,
            Setting::MinCalls => self.min_calls = None,
            Setting::Probes => self.probes = None,
            Setting::CloseAfter => self.close_after = None,
            Setting::FailureRate => self.failure_rate = None,
            Setting::SlowRate => self.slow_rate = None,
            Setting::CloseRate => self.close_rate = None,
            Setting::Backoff => self.backoff = None,
            Setting::Jitter => self.jitter = None,
            Setting::Slow => self.slow = None,
            Setting::Reset => self.reset = None,
            Setting::MaxReset => self.max_reset = None,
            Setting::ProbeTimeout => self.probe_timeout = None,
            Setting::OnCancel => self.on_cancel = None,
            _ => {}
        }
        self
    }

    pub(crate) const fn build_any(self, rate: Option<Rate>) -> Result<Config, ConfigError> {
        #[cfg(one_thread)]
        let _ = rate; // The policy's own is the one.
        let threshold = match self.threshold {
            None => DEFAULT_THRESHOLD,
            Some(0) => return Err(ConfigError::ZeroThreshold),
            Some(most) if most > MAX_THRESHOLD => {
                return Err(ConfigError::TooLarge(Setting::Threshold));
            }
            Some(threshold) => threshold,
        };
        let reset = match self.reset {
            None => DEFAULT_RESET,
            Some(None) => return Err(ConfigError::Overflow(Setting::Reset)),
            Some(Some(0)) => return Err(ConfigError::ZeroReset),
            Some(Some(reset)) => reset,
        };
        let backoff = match self.backoff {
            None => 1.0,
            Some(factor) if factor >= 1.0 && factor < f64::INFINITY => factor,
            Some(_) => return Err(ConfigError::Backoff),
        };
        let max_reset = match self.max_reset {
            None => u64::MAX,
            Some(None) => return Err(ConfigError::Overflow(Setting::MaxReset)),
            Some(Some(most)) if most < reset => return Err(ConfigError::MaxResetBelowReset),
            Some(Some(most)) => most,
        };
        let jitter = match self.jitter {
            None => DEFAULT_JITTER,
            Some(share) if share >= 0.0 && share <= 1.0 => share,
            Some(_) => return Err(ConfigError::Jitter),
        };
        let probes = match self.probes {
            None => 1,
            Some(0) => return Err(ConfigError::ZeroProbes),
            Some(most) if most > MAX_PROBES => return Err(ConfigError::TooLarge(Setting::Probes)),
            Some(probes) => probes,
        };
        let close = match (self.close_after, self.close_rate) {
            (Some(_), Some(_)) => return Err(ConfigError::CloseAfterWithCloseRate),
            (None, None) => Close::After(probes),
            (Some(0), None) => return Err(ConfigError::ZeroCloseAfter),
            (Some(most), None) if most > MAX_PROBES => {
                return Err(ConfigError::TooLarge(Setting::CloseAfter));
            }
            (Some(successes), None) => Close::After(successes),
            (None, Some(_)) if probes > MAX_PROBES_BY_RATE => {
                return Err(ConfigError::TooLarge(Setting::ProbesByRate));
            }
            (None, Some(failures)) => match Ratio::new(failures) {
                Some(ratio) => Close::Rate(ratio),
                None => return Err(ConfigError::Ratio(Setting::CloseRate)),
            },
        };
        let probe_timeout = match self.probe_timeout {
            None if reset > LEAST_DEFAULT_PROBE_TIMEOUT => reset,
            None => LEAST_DEFAULT_PROBE_TIMEOUT,
            Some(None) => return Err(ConfigError::Overflow(Setting::ProbeTimeout)),
            Some(Some(0)) => return Err(ConfigError::ZeroProbeTimeout),
            Some(Some(after)) => after,
        };
        match self.timeout {
            None => {}
            Some(None) => return Err(ConfigError::Overflow(Setting::Timeout)),
            Some(Some(0)) => return Err(ConfigError::ZeroTimeout),
            Some(Some(timeout)) if timeout > probe_timeout => {
                return Err(ConfigError::TimeoutAboveProbeTimeout);
            }
            Some(Some(_)) => {}
        }
        Ok(Config {
            threshold,
            reset,
            backoff,
            max_reset,
            jitter,
            jitter_q31: (jitter * (1_u32 << 31) as f64) as u32,
            jitter_was_set: self.jitter.is_some(),
            jitter_seed: self.jitter_seed,
            probes,
            close,
            probe_timeout,
            origins: Origins::of(&self),
            #[cfg(not(one_thread))]
            rate,
            on_cancel: match self.on_cancel {
                None => OnCancel::Ignore,
                Some(counts_as) => counts_as,
            },
        })
    }

    /// The checked configuration of a breaker that trips by rate, for `const`s
    /// and `static`s.
    ///
    /// # Panics
    /// If [`build_rate`](Self::build_rate) gives an error. In a `const` or a
    /// `static` that is an error of the compiler, which names the broken rule.
    #[must_use]
    #[track_caller]
    pub const fn must_rate(self) -> RateConfig {
        match self.build_rate() {
            Ok(config) => config,
            Err(error) => panic!("{}", error.message()),
        }
    }

    /// The checked configuration, for `const`s and `static`s.
    ///
    /// # Panics
    /// If [`build`](Self::build) gives an error. In a `const` or a `static`
    /// that is an error of the compiler, which names the broken rule.
    #[must_use]
    #[track_caller]
    pub const fn must(self) -> Config {
        match self.build() {
            Ok(config) => config,
            Err(error) => panic!("{}", error.message()),
        }
    }
}

const fn count(set: Option<u32>) -> Option<Value> {
    match set {
        Some(count) => Some(Value::Count(count)),
        None => None,
    }
}

const fn number(set: Option<f64>) -> Option<Value> {
    match set {
        Some(number) => Some(Value::Number(number)),
        None => None,
    }
}

const fn duration(set: Option<Nanos>) -> Option<Value> {
    match set {
        Some(Some(nanos)) => Some(Value::Duration(Duration::from_nanos(nanos))),
        Some(None) => Some(Value::Duration(Duration::MAX)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_contracts() {
        let config = Config::default();
        assert_eq!(config.threshold(), 5);
        assert_eq!(config.reset(), Duration::from_secs(30));
        assert_eq!(config.backoff(), 1.0);
        assert_eq!(config.max_reset(), None);
        assert_eq!(config.jitter(), 0.1);
        assert_eq!(config.probes(), 1);
        assert_eq!(config.close_after(), Some(1));
        assert_eq!(config.close_rate(), None);
        assert_eq!(config.probe_timeout(), Duration::from_secs(60));
        assert_eq!(config.on_cancel(), OnCancel::Ignore);
    }

    #[test]
    fn what_follows_from_another_setting() {
        let config = Settings::new()
            .probes(3)
            .reset(Duration::from_secs(90))
            .must();
        assert_eq!(config.close_after(), Some(3));
        assert_eq!(config.probe_timeout(), Duration::from_secs(90));
    }

    #[test]
    fn every_senseless_setting_is_refused_by_its_name() {
        let s = Settings::new;
        let too_long = Duration::new(u64::MAX, 0);
        let sec = Duration::from_secs;
        let cases = [
            (s().threshold(0), ConfigError::ZeroThreshold),
            (
                s().threshold(MAX_THRESHOLD + 1),
                ConfigError::TooLarge(Setting::Threshold),
            ),
            (
                s().threshold(u32::MAX),
                ConfigError::TooLarge(Setting::Threshold),
            ),
            (s().reset(Duration::ZERO), ConfigError::ZeroReset),
            (s().reset(too_long), ConfigError::Overflow(Setting::Reset)),
            (s().backoff(0.99), ConfigError::Backoff),
            (s().backoff(0.0), ConfigError::Backoff),
            (s().backoff(-2.0), ConfigError::Backoff),
            (s().backoff(f64::NAN), ConfigError::Backoff),
            (s().backoff(f64::INFINITY), ConfigError::Backoff),
            (s().max_reset(sec(29)), ConfigError::MaxResetBelowReset),
            (
                s().max_reset(Duration::ZERO),
                ConfigError::MaxResetBelowReset,
            ),
            (
                s().max_reset(too_long),
                ConfigError::Overflow(Setting::MaxReset),
            ),
            (s().jitter(-0.1), ConfigError::Jitter),
            (s().jitter(1.1), ConfigError::Jitter),
            (s().jitter(f64::NAN), ConfigError::Jitter),
            (s().probes(0), ConfigError::ZeroProbes),
            (
                s().probes(MAX_PROBES + 1),
                ConfigError::TooLarge(Setting::Probes),
            ),
            (s().close_after(0), ConfigError::ZeroCloseAfter),
            (
                s().close_after(MAX_PROBES + 1),
                ConfigError::TooLarge(Setting::CloseAfter),
            ),
            (
                s().probes(256).close_rate(0.5),
                ConfigError::TooLarge(Setting::ProbesByRate),
            ),
            (s().close_rate(0.0), ConfigError::Ratio(Setting::CloseRate)),
            (s().close_rate(-0.5), ConfigError::Ratio(Setting::CloseRate)),
            (s().close_rate(1.01), ConfigError::Ratio(Setting::CloseRate)),
            (
                s().close_rate(f64::NAN),
                ConfigError::Ratio(Setting::CloseRate),
            ),
            (
                s().close_after(1).close_rate(0.5),
                ConfigError::CloseAfterWithCloseRate,
            ),
            (
                s().probe_timeout(Duration::ZERO),
                ConfigError::ZeroProbeTimeout,
            ),
            (
                s().probe_timeout(too_long),
                ConfigError::Overflow(Setting::ProbeTimeout),
            ),
            (s().timeout(Duration::ZERO), ConfigError::ZeroTimeout),
            (
                s().timeout(too_long),
                ConfigError::Overflow(Setting::Timeout),
            ),
            (s().timeout(sec(61)), ConfigError::TimeoutAboveProbeTimeout),
            (
                s().timeout(sec(6)).probe_timeout(sec(5)),
                ConfigError::TimeoutAboveProbeTimeout,
            ),
        ];
        for (settings, error) in cases {
            assert_eq!(settings.build(), Err(error), "{settings:?}");
        }
    }

    #[test]
    fn the_edges_are_accepted() {
        let s = Settings::new;
        let longest = Duration::from_nanos(u64::MAX);
        for settings in [
            s().threshold(1),
            s().threshold(MAX_THRESHOLD),
            s().reset(Duration::from_nanos(1)),
            s().reset(longest),
            s().backoff(1.0),
            s().backoff(f64::MAX),
            s().max_reset(Duration::from_secs(30)),
            s().jitter(0.0),
            s().jitter(1.0),
            s().probes(MAX_PROBES),
            s().close_after(MAX_PROBES),
            s().close_rate(1.0).probes(255),
            s().close_rate(f64::MIN_POSITIVE),
            s().probe_timeout(longest).timeout(longest),
            s().timeout(Duration::from_secs(60)),
        ] {
            assert!(settings.build().is_ok(), "{settings:?}");
        }
    }
}
