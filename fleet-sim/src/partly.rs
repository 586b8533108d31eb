//! A fleet of which only a part fares badly: one shard of many keys, some of the instances, or a share of
//! all calls. Nothing comes back cold here, and nobody falls over: what is looked at is whose circuits open.

pub mod keys;
pub mod rates;
mod sharing;
pub mod world;

use breaker_core::ConfigError;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::clock::Moment;
use crate::figures::Figures;
use keys::ByKey;
use rates::ByRate;

/// What fails, of what is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fails {
    /// A shard: each key whose number is a multiple of this.
    Shard(u32),
    /// All calls of this share of the instances.
    Instances(f64),
    /// This share of all calls, whoever makes them.
    Calls(f64),
}

/// How many circuits of some are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// How many there are.
    pub all: u64,
    /// How many are open now.
    pub now: u64,
    /// How many were at most, at the same time, while something failed.
    pub most: u64,
}

/// What happened in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What the calls came to, and what Redis had to do. Requests to what is dead are those that failed.
    pub figures: Figures,
    /// The circuits of the part that fails.
    pub hit: Opened,
    /// All others.
    pub others: Opened,
    /// Calls that were refused, while something failed, and would have been answered.
    pub refused_needlessly: u64,
}

impl Outcome {
    fn part(&mut self, is_hit: bool) -> &mut Opened {
        if is_hit {
            &mut self.hit
        } else {
            &mut self.others
        }
    }
}

/// All runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    /// Fleets with a circuit per key.
    pub keys: Vec<(ByKey, Outcome)>,
    /// Fleets that count towards a rate.
    pub rates: Vec<(ByRate, Outcome)>,
}

/// When it begins to fail.
pub const FAILS: Moment = 5 * crate::clock::SECOND;

/// Plays all of them with fleets of up to so many instances, several at once. `says` hears of each that is
/// done: by how much, of all that [`work`] counts.
///
/// # Errors
/// Never: these settings make sense.
pub fn play_all(largest: u32, seed: u64, says: impl Fn(u64) + Sync) -> Result<Runs, ConfigError> {
    let keys = keys(largest).into_par_iter().map(|run| {
        let outcome = run.play(seed);
        says(run.work());
        outcome.map(|outcome| (run, outcome))
    });
    let rates = rates(largest).into_par_iter().map(|run| {
        let outcome = run.play(seed);
        says(run.work());
        outcome.map(|outcome| (run, outcome))
    });
    Ok(Runs {
        keys: keys.collect::<Result<_, _>>()?,
        rates: rates.collect::<Result<_, _>>()?,
    })
}

fn keys(largest: u32) -> Vec<ByKey> {
    let all = ByKey::all();
    all.filter(|run| run.instances * run.keys.div_ceil(100) <= largest)
        .collect()
}

fn rates(largest: u32) -> Vec<ByRate> {
    ByRate::all()
        .filter(|run| run.instances <= largest)
        .collect()
}

/// How much there is to do, in the unit of [`runs::work`](crate::runs::work).
#[must_use]
pub fn work(largest: u32) -> u64 {
    let keys = keys(largest).iter().map(ByKey::work).sum::<u64>();
    keys + rates(largest).iter().map(ByRate::work).sum::<u64>()
}
