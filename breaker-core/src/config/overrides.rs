//! What an operator sets at run time.

use super::setting::{Setting, SettingValue as Value};
use super::{OnCancel, Settings};
use crate::ratio::Ratio;
use core::time::Duration;

/// Settings that lie over a breaker's declared ones at run time, until they are cleared:
/// see [`Circuit::reconfigure`](crate::Circuit::reconfigure).
///
/// Each method is the setting of that name in [`Settings`]; what isn't set stays as declared.
/// `window`, `timeout` and `jitter_seed` can't be changed at run time. Rates are kept to a
/// billionth.
///
/// ```
/// use breaker_core::{Overrides, Setting, SettingValue};
/// use core::time::Duration;
///
/// let patient = Overrides::new().threshold(20).reset(Duration::from_secs(5));
/// assert_eq!(patient.get(Setting::Threshold), Some(SettingValue::Count(20)));
///
/// // From names and values that were read from somewhere:
/// let setting = Setting::overridable("reset").unwrap();
/// let minute = SettingValue::Duration(Duration::from_secs(60));
/// let read = Overrides::new().set(setting, minute).unwrap();
/// assert_eq!(read.over(patient), patient.reset(Duration::from_secs(60)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[must_use = "overrides do nothing until a breaker is reconfigured with them"]
pub struct Overrides(pub(super) Settings);

impl Overrides {
    /// None.
    pub const fn new() -> Self {
        Self(Settings::new())
    }

    /// See [`Settings::threshold`].
    pub const fn threshold(self, failures: u32) -> Self {
        Self(self.0.threshold(failures))
    }

    /// See [`Settings::failure_rate`].
    pub const fn failure_rate(self, share: f64) -> Self {
        Self(self.0.failure_rate(as_kept(share)))
    }

    /// See [`Settings::min_calls`].
    pub const fn min_calls(self, calls: u32) -> Self {
        Self(self.0.min_calls(calls))
    }

    /// See [`Settings::slow`].
    pub const fn slow(self, than: Duration) -> Self {
        Self(self.0.slow(than))
    }

    /// See [`Settings::slow_rate`].
    pub const fn slow_rate(self, share: f64) -> Self {
        Self(self.0.slow_rate(as_kept(share)))
    }

    /// See [`Settings::reset`].
    pub const fn reset(self, wait: Duration) -> Self {
        Self(self.0.reset(wait))
    }

    /// See [`Settings::backoff`].
    pub const fn backoff(self, factor: f64) -> Self {
        Self(self.0.backoff(factor))
    }

    /// See [`Settings::max_reset`].
    pub const fn max_reset(self, wait: Duration) -> Self {
        Self(self.0.max_reset(wait))
    }

    /// See [`Settings::jitter`].
    pub const fn jitter(self, share: f64) -> Self {
        Self(self.0.jitter(share))
    }

    /// See [`Settings::probes`].
    pub const fn probes(self, probes: u32) -> Self {
        Self(self.0.probes(probes))
    }

    /// See [`Settings::close_after`].
    pub const fn close_after(self, successes: u32) -> Self {
        Self(self.0.close_after(successes))
    }

    /// See [`Settings::close_rate`].
    pub const fn close_rate(self, failures: f64) -> Self {
        Self(self.0.close_rate(as_kept(failures)))
    }

    /// See [`Settings::probe_timeout`].
    pub const fn probe_timeout(self, after: Duration) -> Self {
        Self(self.0.probe_timeout(after))
    }

    /// See [`Settings::on_cancel`].
    pub const fn on_cancel(self, counts_as: OnCancel) -> Self {
        Self(self.0.on_cancel(counts_as))
    }

    /// Sets one by name. `None` where it can't be changed at run time, or the value is not of
    /// its [kind](Setting::kind).
    #[must_use]
    pub const fn set(self, setting: Setting, value: Value) -> Option<Self> {
        Some(match (setting, value) {
            (Setting::Threshold, Value::Count(count)) => self.threshold(count),
            (Setting::MinCalls, Value::Count(count)) => self.min_calls(count),
            (Setting::Probes, Value::Count(count)) => self.probes(count),
            (Setting::CloseAfter, Value::Count(count)) => self.close_after(count),
            (Setting::FailureRate, Value::Number(share)) => self.failure_rate(share),
            (Setting::SlowRate, Value::Number(share)) => self.slow_rate(share),
            (Setting::CloseRate, Value::Number(share)) => self.close_rate(share),
            (Setting::Backoff, Value::Number(factor)) => self.backoff(factor),
            (Setting::Jitter, Value::Number(share)) => self.jitter(share),
            (Setting::Slow, Value::Duration(than)) => self.slow(than),
            (Setting::Reset, Value::Duration(wait)) => self.reset(wait),
            (Setting::MaxReset, Value::Duration(wait)) => self.max_reset(wait),
            (Setting::ProbeTimeout, Value::Duration(after)) => self.probe_timeout(after),
            (Setting::OnCancel, Value::OnCancel(counts_as)) => self.on_cancel(counts_as),
            _ => return None,
        })
    }

    /// One by name; `None` where it is not set. A duration that is longer than is kept (584
    /// years) is [`Duration::MAX`].
    #[must_use]
    pub const fn get(&self, setting: Setting) -> Option<Value> {
        self.0.get(setting)
    }

    /// Those that are set, in the order of [`Setting::OVERRIDABLE`].
    pub fn iter(&self) -> impl Iterator<Item = (Setting, Value)> + use<> {
        let all = *self;
        let set = move |setting: Setting| Some((setting, all.get(setting)?));
        Setting::OVERRIDABLE.into_iter().filter_map(set)
    }

    /// The same without one.
    pub const fn without(self, setting: Setting) -> Self {
        Self(self.0.without(setting))
    }

    /// Whether none is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Both: where both set one, these win.
    pub fn over(self, below: Self) -> Self {
        Self(self.0.over(below.0))
    }
}

/// A ratio, rounded as it is kept, so that it is read again as it was set. What is none stays
/// as it is, to be refused.
const fn as_kept(share: f64) -> f64 {
    match Ratio::new(share) {
        Some(ratio) => ratio.as_f64(),
        None => share,
    }
}
