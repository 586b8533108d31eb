//! Fleets that call many keys, a tenth of which is on a shard that fails.

use std::time::Duration;

use breaker_core::{Circuit, Config, ConfigError, Settings};
use breaker_redis::instance::Options;
use breaker_redis::protocol::{Limits, Who};

use super::world::{Setup, World};
use super::{Fails, Outcome};
use crate::clock::{Moment, SECOND};

/// How circuits are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Circuits {
    /// One per key, each instance by itself.
    Alone,
    /// One per key, shared.
    Shared,
    /// One per key, for which the failures of all instances count together.
    Counting,
    /// One for all keys, for which the failures of all instances count together.
    OneForAll,
}

/// A fleet with many keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByKey {
    /// How many instances it has.
    pub instances: u32,
    /// How many keys each of them calls, one as often as the other.
    pub keys: u32,
    /// How they keep their circuits.
    pub circuits: Circuits,
}

/// Of so many shards one fails: of the keys a tenth.
const SHARDS: u32 = 10;

/// Failures in a row that open, and for how long.
const THRESHOLD: u32 = 5;
const RESET: Duration = Duration::from_secs(10);

/// Calls that each instance makes, a second.
const CALLS_A_SECOND: f64 = 50.0;

/// How long the shard is dead for.
const LASTS: Moment = 60 * SECOND;

/// So many closed circuits, and so many of all, a process asks for in a second at most.
const QUIET_POLLS_IN_A_SECOND: u32 = 20;
const POLLS_IN_A_SECOND: u32 = 200;

/// Instances and keys.
const FLEETS: [(u32, u32); 4] = [(20, 100), (20, 1_000), (100, 1_000), (20, 10_000)];

impl ByKey {
    /// All of the guide's chapter.
    pub fn all() -> impl Iterator<Item = Self> {
        FLEETS.into_iter().flat_map(|(instances, keys)| {
            [
                Circuits::Alone,
                Circuits::Shared,
                Circuits::Counting,
                Circuits::OneForAll,
            ]
            .map(|circuits| Self {
                instances,
                keys,
                circuits,
            })
        })
    }

    /// Its name in tables.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.circuits {
            Circuits::Alone => "per key, alone",
            Circuits::Shared => "per key, shared",
            Circuits::Counting => "per key, shared, counting",
            Circuits::OneForAll => "one for all keys, shared, counting",
        }
    }

    /// Plays it to its end.
    ///
    /// # Errors
    /// Never: these settings make sense.
    pub fn play(&self, seed: u64) -> Result<Outcome, ConfigError> {
        let circuit = |seed: u64| {
            let settings = Settings::new().threshold(THRESHOLD).reset(RESET);
            let config: Config = settings.jitter(0.1).jitter_seed(seed).build()?;
            Ok(Circuit::new(config))
        };
        let options = |me| self.options(me);
        let is_shared = self.circuits != Circuits::Alone;
        let setup = Setup {
            instances: self.instances,
            keys: self.keys,
            circuits: self.circuits_each(),
            circuit: &circuit,
            options: is_shared.then_some(&options),
            fails: Fails::Shard(SHARDS),
            calls_a_second: CALLS_A_SECOND,
            lasts: LASTS,
        };
        Ok(World::new(setup, seed)?.play())
    }

    fn circuits_each(&self) -> u32 {
        match self.circuits {
            Circuits::OneForAll => 1,
            _ => self.keys,
        }
    }

    /// As a `Fleet` has them for so many keys.
    fn options(&self, me: Who) -> Options {
        let usual = Options::new(me);
        let circuits = self.circuits_each();
        let stretched = |a_second| {
            usual
                .poll
                .max(Duration::from_secs(1) * (circuits / a_second))
        };
        let quiet = stretched(QUIET_POLLS_IN_A_SECOND);
        if self.circuits == Circuits::Shared {
            let poll = stretched(POLLS_IN_A_SECOND);
            let alive = usual.alive.max(poll * 4);
            return Options {
                poll,
                alive,
                quiet,
                ..usual
            };
        }
        Options {
            quiet,
            reset: RESET,
            counting: Some(Limits::Consecutive {
                threshold: THRESHOLD,
            }),
            ..usual
        }
    }

    /// For the progress bar: about milliseconds of instances that make five calls a second.
    pub(super) fn work(&self) -> u64 {
        let of_circuits = u64::from(self.instances * self.circuits_each()) * 2_000;
        u64::from(self.instances) * LASTS / 1_000_000 * 20 + of_circuits
    }
}
