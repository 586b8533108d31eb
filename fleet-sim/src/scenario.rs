//! What is played: how the instances of a fleet keep their circuits, and what happens to their service.

use std::time::Duration;

use breaker_core::{Config, Settings};
use breaker_redis::instance::Options;
use breaker_redis::protocol::{Limits, Quorum, Share, Who};

use crate::clock::{MILLISECOND, Moment, SECOND};
use crate::redis::Costs;
use crate::service::Capacity;

/// How long circuits are open before a probe.
const RESET: Duration = Duration::from_secs(10);

/// Within what time instances follow a recovery, where they take their time.
const SLOW_START: Duration = Duration::from_secs(10);

/// How the instances keep their circuits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scenario {
    /// Each by itself.
    Alone {
        /// The setting of that name.
        jitter: f64,
    },
    /// One circuit for all, through Redis; the jitter is 0.1.
    Shared(Together),
}

/// What it takes to open the circuit of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// An instance that opens its own.
    AnyTrip,
    /// The failures of all, counted together: five, or one for each hundred instances if that is more.
    Counting,
    /// That a tenth of all instances have opened theirs.
    Quorum,
    /// An instance that opens its own; they close at random within ten seconds after the probe.
    SlowStart,
}

/// Fleets that are larger poll more rarely, as the guide advises: in all as often as this one.
const POLLED_AS_USUAL: u32 = 10_000;

impl Scenario {
    /// All of them, in the order of tables and plots.
    pub const ALL: [Self; 7] = [
        Self::Alone { jitter: 0.0 },
        Self::Alone { jitter: 0.1 },
        Self::Alone { jitter: 1.0 },
        Self::Shared(Together::AnyTrip),
        Self::Shared(Together::Counting),
        Self::Shared(Together::Quorum),
        Self::Shared(Together::SlowStart),
    ];

    /// Its name in tables and plots.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Alone { jitter: 0.0 } => "alone, no jitter",
            Self::Alone { jitter: 0.1 } => "alone, jitter 0.1",
            Self::Alone { .. } => "alone, jitter 1",
            Self::Shared(Together::AnyTrip) => "shared",
            Self::Shared(Together::Counting) => "shared, counting",
            Self::Shared(Together::Quorum) => "shared, quorum",
            Self::Shared(Together::SlowStart) => "shared, slow start",
        }
    }

    /// The settings of an instance's breaker, but for what its jitter is drawn from.
    pub fn settings(self) -> Settings {
        let jitter = match self {
            Self::Alone { jitter } => jitter,
            Self::Shared(_) => 0.1,
        };
        Settings::new().threshold(5).reset(RESET).jitter(jitter)
    }

    /// [`settings`](Self::settings) that draw from a seed. These make sense, so the configuration that
    /// is there if they didn't is never used.
    #[must_use]
    pub fn config(self, seed: u64) -> Config {
        let settings = self.settings().jitter_seed(seed);
        settings.build().unwrap_or(Config::DEFAULT)
    }

    /// By what an instance shares its circuit, if it does.
    #[must_use]
    pub fn sharing(self, me: Who, instances: u32) -> Option<Options> {
        let Self::Shared(together) = self else {
            return None;
        };
        let usual = Options::new(me);
        let poll = usual.poll * (instances / POLLED_AS_USUAL).max(1);
        let options = Options {
            poll,
            alive: usual.alive.max(poll * 4),
            ..usual
        };
        // As a `Fleet` does: where nobody counts who is alive, none need be heard of more often than it
        // polls.
        let alone = Options {
            alive: options.poll * 4,
            ..options.clone()
        };
        let options = Options {
            quiet: options.poll,
            ..options
        };
        Some(match together {
            Together::AnyTrip => alone,
            Together::Counting => Options {
                counting: Some(Limits::Consecutive {
                    threshold: (instances / 100).max(5),
                }),
                reset: RESET,
                ..options
            },
            Together::Quorum => Options {
                quorum: Share::new(0.1).map_or(options.quorum, Quorum::Share),
                ..options
            },
            Together::SlowStart => Options {
                slow_start: SLOW_START,
                ..alone
            },
        })
    }
}

/// What happens, and when.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// Calls that each instance makes, a second.
    pub calls_a_second: f64,
    /// An instance gives a call up after so long.
    pub timeout: Moment,
    /// What a message takes on its way at least, and so much more on average.
    pub way: (Moment, Moment),
    /// When the service fails.
    pub fails: Moment,
    /// When it is started again.
    pub comes_back: Moment,
    /// What it can do then.
    pub capacity: Capacity,
    /// What Redis takes.
    pub redis: Costs,
    /// How long all circuits must have been closed until nothing more is expected.
    pub quiet: Moment,
    /// When to look no longer, as seconds after it came back.
    pub patience: Moment,
    /// What counts as the first seconds after it came back.
    pub first: Moment,
}

/// How the service is when it comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comeback {
    /// As it was before.
    Warm,
    /// Caches are empty, connections not yet made: it can do less than is asked of it, until it has
    /// worked for a while.
    Cold,
}

impl Comeback {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Warm, Self::Cold];
}

impl Conditions {
    /// Those of the guide's chapter.
    #[must_use]
    pub const fn of(comeback: Comeback) -> Self {
        let warm = 1.5;
        Self {
            calls_a_second: 5.0,
            timeout: SECOND,
            way: (200_000, 300_000),
            fails: 2 * SECOND,
            comes_back: 27 * SECOND,
            capacity: Capacity {
                warm,
                cold: match comeback {
                    Comeback::Warm => warm,
                    Comeback::Cold => 0.45,
                },
                warms_in: 10.0,
                queue: 1.0,
                restart: 5 * SECOND,
                takes: 5 * MILLISECOND,
            },
            redis: Costs::MEASURED,
            quiet: 5 * SECOND,
            patience: 60 * SECOND,
            first: 10 * SECOND,
        }
    }
}

impl Conditions {
    /// By when most runs have ended, for the progress bar.
    #[must_use]
    pub fn usual_end(&self) -> Moment {
        self.comes_back + 25 * SECOND
    }
}
