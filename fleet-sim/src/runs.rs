//! All scenarios with fleets of all sizes.

use rayon::iter::{ParallelBridge, ParallelIterator};

use crate::clock::Moment;
use crate::figures::Figures;
use crate::fleet::Fleet;
use crate::scenario::{Comeback, Conditions, Scenario};

/// The sizes of the guide's chapter.
pub const SIZES: [u32; 5] = [10, 100, 1_000, 10_000, 100_000];

/// Up to this size, the service also comes back cold. A fleet of ten times as many does to a service of
/// ten times the capacity the same, and takes as long as all others.
const LARGEST_COLD: u32 = 10_000;

/// The seed of the guide's chapter.
pub const SEED: u64 = 8;

/// A fleet's run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// How many instances it has.
    pub instances: u32,
    /// How they keep their circuits.
    pub scenario: Scenario,
    /// How the service comes back.
    pub comeback: Comeback,
    /// What happened.
    pub figures: Figures,
}

/// Plays each scenario with fleets of these sizes, several at once; the order of what comes out is always
/// the same: by size, by [`Comeback::ALL`], by [`Scenario::ALL`].
///
/// `says` hears of each step: by how much, of all that is to be done, as [`work`] counts it.
#[must_use]
pub fn play_all(sizes: &[u32], seed: u64, says: impl Fn(u64) + Sync) -> Vec<Run> {
    let jobs: Vec<_> = jobs(sizes).enumerate().collect();
    let mut runs: Vec<_> = jobs
        .into_iter()
        .rev() // the largest take longest: so these first
        .par_bridge()
        .map(|(number, (instances, comeback, scenario))| {
            let run = play(instances, comeback, scenario, seed, &says);
            (number, run)
        })
        .collect();
    runs.sort_by_key(|(number, _)| *number);
    runs.into_iter().map(|(_, run)| run).collect()
}

fn jobs(sizes: &[u32]) -> impl Iterator<Item = (u32, Comeback, Scenario)> {
    let fleets = sizes
        .iter()
        .flat_map(|size| Comeback::ALL.map(|comeback| (*size, comeback)))
        .filter(|(size, comeback)| *comeback == Comeback::Warm || *size <= LARGEST_COLD);
    fleets.flat_map(|(size, comeback)| Scenario::ALL.map(|scenario| (size, comeback, scenario)))
}

fn play(
    instances: u32,
    comeback: Comeback,
    scenario: Scenario,
    seed: u64,
    says: &(impl Fn(u64) + Sync),
) -> Run {
    let conditions = Conditions::of(comeback);
    let fleet = Fleet::new(instances, scenario, conditions, seed);
    let mut said = 0;
    let mut say = |now: Moment| {
        let now = now.min(conditions.usual_end());
        says((now - said) / 1_000_000 * u64::from(instances));
        said = now.max(said);
    };
    let figures = fleet.play(&mut say);
    say(conditions.usual_end());
    Run {
        instances,
        scenario,
        comeback,
        figures,
    }
}

/// How much there is to do for fleets of these sizes: milliseconds of instances.
#[must_use]
pub fn work(sizes: &[u32]) -> u64 {
    let instances: u64 = jobs(sizes).map(|(size, ..)| u64::from(size)).sum();
    instances * (Conditions::of(Comeback::Warm).usual_end() / 1_000_000)
}
