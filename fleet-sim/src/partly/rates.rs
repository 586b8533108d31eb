//! Fleets that count towards a rate, where only a part of the calls fails.

use std::time::Duration;

use breaker_core::{Circuit, ConfigError, Settings, Sliding, Window};
use breaker_redis::instance::Options;
use breaker_redis::protocol::{Limits, Share, Who};

use super::world::{Setup, World};
use super::{Fails, Outcome};
use crate::clock::{Moment, SECOND};

/// A fleet that counts towards a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByRate {
    /// How many instances it has.
    pub instances: u32,
    /// What fails.
    pub fails: Fails,
    /// Whether its instances count together, or each by itself.
    pub together: bool,
}

/// The rate that opens, within windows of so many calls.
const RATE: f64 = 0.5;
const CALLS: u32 = 100;
const SLOTS: usize = 8;

/// Calls that there must be.
const MIN_CALLS: u32 = 20;
const RESET: Duration = Duration::from_secs(10);

/// Calls that each instance makes, a second.
const CALLS_A_SECOND: f64 = 5.0;

/// How long it fails.
const LASTS: Moment = 40 * SECOND;

const SIZES: [u32; 3] = [10, 1_000, 10_000];

/// What fails, in the order of tables.
const FAILING: [Fails; 7] = [
    Fails::Instances(0.1),
    Fails::Instances(0.4),
    Fails::Instances(0.6),
    Fails::Calls(0.3),
    Fails::Calls(0.4),
    Fails::Calls(0.6),
    Fails::Calls(1.0),
];

impl ByRate {
    /// All of the guide's chapter.
    pub fn all() -> impl Iterator<Item = Self> {
        SIZES.into_iter().flat_map(|instances| {
            FAILING.into_iter().flat_map(move |fails| {
                [false, true].map(|together| Self {
                    instances,
                    fails,
                    together,
                })
            })
        })
    }

    /// Its name in tables.
    #[must_use]
    pub fn name(&self) -> &'static str {
        if self.together {
            "shared, counting"
        } else {
            "alone"
        }
    }

    /// Plays it to its end.
    ///
    /// # Errors
    /// Never: these settings make sense.
    pub fn play(&self, seed: u64) -> Result<Outcome, ConfigError> {
        let circuit = |seed: u64| {
            let settings = Settings::new()
                .failure_rate(RATE)
                .window(Window::calls(CALLS))
                .min_calls(MIN_CALLS)
                .reset(RESET)
                .jitter(0.1)
                .jitter_seed(seed);
            Circuit::<Sliding<SLOTS>>::by_rate(settings.build_rate()?)
        };
        let options = |me| self.options(me);
        let setup = Setup {
            instances: self.instances,
            keys: 1,
            circuits: 1,
            circuit: &circuit,
            options: self.together.then_some(&options),
            fails: self.fails,
            calls_a_second: CALLS_A_SECOND,
            lasts: LASTS,
        };
        let mut world = World::new(setup, seed)?;
        // All has been well for long: windows are full.
        for _ in 0..CALLS {
            world.has_answered_all();
        }
        Ok(world.play())
    }

    fn options(&self, me: Who) -> Options {
        let usual = Options::new(me);
        Options {
            quiet: usual.poll,
            reset: RESET,
            counting: Some(Limits::Rate {
                failures: Share::new(RATE),
                slow: None,
                min_calls: MIN_CALLS,
            }),
            ..usual
        }
    }

    /// For the progress bar: milliseconds of instances.
    pub(super) fn work(&self) -> u64 {
        u64::from(self.instances) * (LASTS / 1_000_000 + 20_000)
    }
}
