//! A case as it is written. Keys that are not named here are ignored.

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

/// A configuration as it is written: the types of a breaker may not be able to express it.
pub(crate) type RawConfig = Map<String, Value>;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Case {
    #[serde(default)]
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) name: String,
    /// `None`: the first step builds the breaker.
    pub(crate) config: Option<RawConfig>,
    pub(crate) steps: Vec<Step>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Step {
    pub(crate) at_ms: Millis,
    pub(crate) op: String,
    pub(crate) id: Option<String>,
    pub(crate) of: Option<String>,
    pub(crate) n: Option<u64>,
    pub(crate) took_ms: Option<Millis>,
    pub(crate) for_ms: Option<Millis>,
    pub(crate) config: Option<RawConfig>,
    pub(crate) from: Option<Map<String, Value>>,
    #[serde(default, deserialize_with = "null_is_default")]
    pub(crate) expect: Expect,
}

fn null_is_default<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Expect, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// What a step names. What it does not name is free.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Expect {
    pub(crate) admitted: Option<bool>,
    pub(crate) reason: Option<String>,
    pub(crate) retry_after_ms: Option<Millis>,
    pub(crate) state: Option<String>,
    pub(crate) late: Option<bool>,
    pub(crate) tripped: Option<bool>,
    pub(crate) error: Option<String>,
    pub(crate) snapshot: Option<ExpectedSnapshot>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ExpectedSnapshot {
    pub(crate) state: Option<String>,
    pub(crate) left_ms: Option<Millis>,
    pub(crate) consecutive: Option<u64>,
    pub(crate) reopenings: Option<u64>,
}

/// Milliseconds, held as nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Millis(u128);

impl Millis {
    const NANOS: u128 = 1_000_000;

    /// `None` if the number is negative or none at all.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        if let Some(millis) = value.as_u64() {
            return Some(Self(u128::from(millis) * Self::NANOS));
        }
        let millis = value.as_f64()?;
        (millis >= 0.0 && millis.is_finite()).then(|| Self((millis * 1e6).round() as u128))
    }

    /// A reading of the clock or a duration: what is larger than it can be is the largest.
    pub(crate) fn nanos(self) -> u64 {
        u64::try_from(self.0).unwrap_or(u64::MAX)
    }

    /// `None` if it is longer than a duration can be.
    pub(crate) fn duration(self) -> Option<std::time::Duration> {
        const SECOND: u128 = 1_000_000_000;
        let seconds = u64::try_from(self.0 / SECOND).ok()?;
        Some(std::time::Duration::new(seconds, (self.0 % SECOND) as u32))
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::from_json(&value)
            .ok_or_else(|| de::Error::custom(format!("{value} is not a number of milliseconds")))
    }
}

impl std::fmt::Display for Millis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, part) = (self.0 / Self::NANOS, self.0 % Self::NANOS);
        match part {
            0 => write!(f, "{whole} ms"),
            _ => write!(f, "{whole}.{part:06} ms"),
        }
    }
}

impl From<std::time::Duration> for Millis {
    fn from(duration: std::time::Duration) -> Self {
        Self(duration.as_nanos())
    }
}

impl Case {
    /// `source/name`.
    pub(crate) fn full_name(&self) -> String {
        format!("{}/{}", self.source, self.name)
    }
}
