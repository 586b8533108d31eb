//! The shape in which snapshots are written down: version 1, which stays.

use super::{CircuitName, SnapshotOf, Snapshots};
use breaker_core::{Snapshot, State};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

#[derive(Serialize, Deserialize)]
#[serde(rename = "Snapshots")]
struct Written {
    version: Version,
    breakers: Vec<WrittenOf>,
}

/// The only one that there is. Written first, so that one of a later shape is known by it.
struct Version;

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(rename = "SnapshotOf")]
struct WrittenOf {
    breaker: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(with = "state_by_name")]
    state: State,
    #[serde(default, skip_serializing_if = "is_default")]
    time_left_us: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    imposed: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    consecutive: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    reopenings: u8,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

mod state_by_name {
    use super::{Deserialize, Deserializer, Serializer, State};
    use serde::de::Error as _;

    pub(super) fn serialize<S: Serializer>(state: &State, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(state.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<State, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        VERSION.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match u32::deserialize(from)? {
            VERSION => Ok(Self),
            other => Err(D::Error::custom(format_args!(
                "snapshots of version {other}: this release reads version {VERSION}"
            ))),
        }
    }
}

impl From<&SnapshotOf> for WrittenOf {
    fn from(of: &SnapshotOf) -> Self {
        let CircuitName { breaker, key } = of.circuit.clone();
        let micros = of.snapshot.time_left.as_micros();
        Self {
            breaker,
            key,
            state: of.snapshot.state,
            time_left_us: u64::try_from(micros).unwrap_or(u64::MAX),
            imposed: of.snapshot.imposed,
            consecutive: of.snapshot.consecutive,
            reopenings: of.snapshot.reopenings,
        }
    }
}

impl From<WrittenOf> for SnapshotOf {
    fn from(written: WrittenOf) -> Self {
        Self {
            circuit: CircuitName {
                breaker: written.breaker,
                key: written.key,
            },
            snapshot: Snapshot {
                state: written.state,
                time_left: Duration::from_micros(written.time_left_us),
                imposed: written.imposed,
                consecutive: written.consecutive,
                reopenings: written.reopenings,
            },
        }
    }
}

impl Serialize for Snapshots {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let written = Written {
            version: Version,
            breakers: self.iter().map(WrittenOf::from).collect(),
        };
        written.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Snapshots {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(from)?;
        Ok(written.breakers.into_iter().map(SnapshotOf::from).collect())
    }
}
