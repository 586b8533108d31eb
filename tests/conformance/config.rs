//! From what a case writes to what the public API takes.

use std::time::Duration;

use breakerbox::{Config, ConfigError, OnCancel, RateConfig, Settings, Snapshot, State, Window};
use serde_json::{Map, Value};

use crate::case::{Millis, RawConfig};

/// A configuration that was accepted, of either policy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Accepted {
    Consecutive(Config),
    Rate(RateConfig),
}

/// Why a configuration was refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The types of the settings can't hold the value of this key.
    Inexpressible(&'static str),
    /// A rule is broken.
    Rule(ConfigError),
}

impl Refusal {
    /// True if the refusal is for this rule of the contract, or has no name of its own there.
    pub(crate) fn is_for(&self, rule: &str) -> bool {
        self.rule().is_none_or(|broken| broken == rule)
    }

    fn rule(&self) -> Option<&'static str> {
        let Self::Rule(error) = self else {
            return None;
        };
        match error {
            ConfigError::ZeroThreshold => Some("zero_threshold"),
            ConfigError::ZeroProbes => Some("zero_probes"),
            ConfigError::ZeroCloseAfter => Some("zero_close_after"),
            ConfigError::ZeroReset => Some("zero_reset"),
            ConfigError::ZeroMinCalls => Some("zero_min_calls"),
            ConfigError::ZeroWindow => Some("zero_window"),
            ConfigError::MinCallsAboveWindow => Some("min_calls_above_window"),
            ConfigError::ThresholdWithFailureRate => Some("threshold_with_failure_rate"),
            ConfigError::Ratio(_) => Some("ratio"),
            ConfigError::CloseAfterWithCloseRate => Some("close_after_with_close_rate"),
            ConfigError::Jitter => Some("jitter"),
            ConfigError::Backoff => Some("backoff"),
            ConfigError::MaxResetBelowReset => Some("max_reset_below_reset"),
            ConfigError::Overflow(_) => Some("overflow"),
            _ => None,
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Inexpressible(key) => write!(f, "refused (`{key}` can't be expressed)"),
            Self::Rule(error) => write!(f, "refused ({error})"),
        }
    }
}

/// The configuration of a case, every default of the format's set.
pub(crate) fn build(raw: &RawConfig) -> Result<Accepted, Refusal> {
    let mut settings = Settings::new().jitter(0.0);
    if let Some(threshold) = get(raw, "threshold", count)? {
        settings = settings.threshold(threshold);
    }
    if let Some(reset) = get(raw, "reset_ms", duration)? {
        settings = settings.reset(reset).probe_timeout(reset);
    }
    if let Some(after) = get(raw, "probe_timeout_ms", duration)? {
        settings = settings.probe_timeout(after);
    }
    if let Some(factor) = get(raw, "backoff", number)? {
        settings = settings.backoff(factor);
    }
    if let Some(most) = get(raw, "max_reset_ms", duration)? {
        settings = settings.max_reset(most);
    }
    if let Some(probes) = get(raw, "probes", count)? {
        settings = settings.probes(probes);
    }
    if let Some(successes) = get(raw, "close_after", count)? {
        settings = settings.close_after(successes);
    }
    if let Some(failures) = get(raw, "close_rate", number)? {
        settings = settings.close_rate(failures);
    }
    if let Some(share) = get(raw, "jitter", number)? {
        settings = settings.jitter(share);
    }
    if let Some(counts_as) = get(raw, "on_cancel", on_cancel)? {
        settings = settings.on_cancel(counts_as);
    }
    let by_rate = get(raw, "failure_rate", number)?;
    let Some(failures) = by_rate else {
        let config = settings.build().map_err(Refusal::Rule)?;
        return Ok(Accepted::Consecutive(config));
    };
    settings = settings.failure_rate(failures);
    if let Some(window) = get(raw, "window", window)? {
        settings = settings.window(window);
    }
    if let Some(calls) = get(raw, "min_calls", count)? {
        settings = settings.min_calls(calls);
    }
    if let Some(than) = get(raw, "slow_ms", duration)? {
        settings = settings.slow(than);
    }
    if let Some(share) = get(raw, "slow_rate", number)? {
        settings = settings.slow_rate(share);
    }
    let config = settings.build_rate().map_err(Refusal::Rule)?;
    Ok(Accepted::Rate(config))
}

fn window(value: &Value) -> Option<Window> {
    if let Some(calls) = value.get("calls") {
        return Some(Window::calls(count(calls)?));
    }
    let length = duration(value.get("ms")?)?;
    Some(Window::time(length).buckets(count(value.get("buckets")?)?))
}

/// The value of a key; `None` if it is absent or null.
fn get<T>(
    raw: &RawConfig,
    key: &'static str,
    read: fn(&Value) -> Option<T>,
) -> Result<Option<T>, Refusal> {
    match raw.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match read(value) {
            Some(value) => Ok(Some(value)),
            None => Err(Refusal::Inexpressible(key)),
        },
    }
}

fn count(value: &Value) -> Option<u32> {
    let number = value.as_f64()?;
    let fits = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    fits.then_some(number as u32)
}

fn duration(value: &Value) -> Option<Duration> {
    Millis::from_json(value)?.duration()
}

/// A number, or what JSON has no number for: `"NaN"`.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn on_cancel(value: &Value) -> Option<OnCancel> {
    match value.as_str()? {
        "ignore" => Some(OnCancel::Ignore),
        "failure" => Some(OnCancel::Failure),
        _ => None,
    }
}

/// A literal snapshot; `None` if the types can't express it.
pub(crate) fn snapshot(raw: &Map<String, Value>) -> Option<Snapshot> {
    let natural = |key: &str| match raw.get(key) {
        None | Some(Value::Null) => Some(0),
        Some(value) => value.as_u64(),
    };
    let left = match raw.get("left_ms") {
        None | Some(Value::Null) => Duration::ZERO,
        Some(value) => Millis::from_json(value)?
            .duration()
            .unwrap_or(Duration::MAX),
    };
    // A breaker's own counts stop at the largest they can hold, and so do these.
    Some(Snapshot {
        state: raw.get("state")?.as_str()?.parse::<State>().ok()?,
        time_left: left,
        imposed: false,
        consecutive: u32::try_from(natural("consecutive")?).unwrap_or(u32::MAX),
        reopenings: u8::try_from(natural("reopenings")?).unwrap_or(u8::MAX),
    })
}
