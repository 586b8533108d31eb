//! How things are measured: every subject once in each round, so that whatever slows the machine
//! down for a while hits all of them alike.

use std::fmt;
use std::hint::{black_box, spin_loop};
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) rounds: usize,
    /// How long a subject runs in each round.
    pub(crate) sample: Duration,
    /// Whether the instructions of every subject are counted, or of those alone that the others
    /// are compared with.
    pub(crate) counts_all: bool,
}

impl Effort {
    pub(crate) const FULL: Self = Self {
        rounds: 251,
        sample: Duration::from_millis(1),
        counts_all: true,
    };
    /// Shows that everything runs; its numbers say nothing.
    pub(crate) const SMOKE: Self = Self {
        rounds: 2,
        sample: Duration::ZERO,
        counts_all: false,
    };
}

/// Calls of the shortest sample.
const LEAST_CALLS: u64 = 64;

/// A call that is measured: makes so many of it and says how long they took.
enum Subject {
    OnOne(Box<dyn FnMut(u64) -> Duration>),
    /// Two threads make the call at the same time.
    OnTwo(Box<dyn Fn(u64) -> Duration + Sync>),
}

/// A subject's place in a [`Bench`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(usize);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Id {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}

/// All that is measured together.
#[derive(Default)]
pub(crate) struct Bench {
    subjects: Vec<Subject>,
}

impl Bench {
    /// A call on one thread.
    pub(crate) fn one(&mut self, mut call: impl FnMut() + 'static) -> Id {
        self.add(Subject::OnOne(Box::new(move |calls| {
            repeat(calls, &mut call)
        })))
    }

    /// A call that two threads make at the same time.
    pub(crate) fn two(&mut self, call: impl Fn() + Sync + 'static) -> Id {
        self.add(Subject::OnTwo(Box::new(move |calls| repeat(calls, &call))))
    }

    fn add(&mut self, subject: Subject) -> Id {
        self.subjects.push(subject);
        Id(self.subjects.len() - 1)
    }

    /// Runs these subjects, or all of them.
    pub(crate) fn measure(&mut self, only: Option<&[Id]>, effort: Effort) -> Samples {
        let all: Vec<Id> = (0..self.subjects.len()).map(Id).collect();
        let ids = only.unwrap_or(&all);
        let mut samples = vec![Vec::new(); self.subjects.len()];
        let mut calls: Vec<u64> = ids
            .iter()
            .map(|id| self.subjects[id.0].calibrate(effort))
            .collect();
        // The first round warms up.
        for round in 0..=effort.rounds {
            for place in 0..ids.len() {
                // Nobody is always the first.
                let place = (place + round) % ids.len();
                let id = ids[place].0;
                let (took, nanos) = self.subjects[id].sample(calls[place]);
                if took > effort.sample * 4 {
                    // Calls of some become dearer the more there were.
                    calls[place] = (calls[place] / 2).max(LEAST_CALLS);
                }
                if round > 0 {
                    samples[id].push(nanos.unwrap_or(f64::NAN));
                }
            }
        }
        Samples { nanos: samples }
    }

    /// Makes the calls whose instructions valgrind counts: for each subject [`COUNTED`] pieces,
    /// of which the first warms up and the last makes [`COUNTED_CALLS`] more than the one before.
    /// Nothing if there is no such subject.
    pub(crate) fn make_counted(&mut self, ids: &[Id]) -> Option<()> {
        for id in ids {
            let subject = self.subjects.get_mut(id.0)?;
            for piece in 0..COUNTED {
                counted(subject, COUNTED_CALLS * piece.max(1));
            }
        }
        Some(())
    }

    /// Whether a subject runs on one thread.
    pub(crate) fn is_on_one(&self, id: Id) -> bool {
        matches!(self.subjects[id.0], Subject::OnOne(_))
    }

    /// Allocations of a call.
    pub(crate) fn allocations(&mut self, id: Id) -> f64 {
        const CALLS: u64 = 64;
        let subject = &mut self.subjects[id.0];
        let counted = allocation_counter::measure(|| {
            subject.time(CALLS);
        });
        counted.count_total as f64 / CALLS as f64
    }
}

/// Pieces of calls for which valgrind counts instructions.
pub(crate) const COUNTED: u64 = 3;

/// Calls by which the last two pieces differ: whole turns of a window of 100.
pub(crate) const COUNTED_CALLS: u64 = 2_000;

/// The function whose entry and end valgrind waits for.
pub(crate) const COUNTING: &str = "breakerbox_bench::harness::counted";

#[inline(never)]
fn counted(subject: &mut Subject, calls: u64) {
    subject.time(calls);
    // Not the last thing it does: a jump in place of the call would have no end.
    black_box(());
}

/// A loop of its own for each call, never merged with what is around it.
#[inline(never)]
fn repeat(calls: u64, mut call: impl FnMut()) -> Duration {
    let started = Instant::now();
    for _ in 0..black_box(calls) {
        call();
    }
    started.elapsed()
}

impl Subject {
    fn time(&mut self, calls: u64) -> Duration {
        match self {
            Self::OnOne(time) => time(calls),
            Self::OnTwo(time) => time(calls),
        }
    }

    /// How many calls fill a sample.
    fn calibrate(&mut self, effort: Effort) -> u64 {
        let sample = match self {
            Self::OnOne(_) => effort.sample,
            // Short, so that both threads are likely to have a core all the time.
            Self::OnTwo(_) => effort.sample / 4,
        };
        let mut calls = LEAST_CALLS;
        while self.time(calls) < sample {
            calls *= 2;
        }
        calls
    }

    /// How long it took, and nanoseconds a call, on each thread.
    fn sample(&mut self, calls: u64) -> (Duration, Option<f64>) {
        match self {
            Self::OnOne(time) => {
                let took = time(calls);
                (took, Some(took.as_nanos() as f64 / calls as f64))
            }
            Self::OnTwo(time) => sample_on_two(time, calls),
        }
    }
}

/// One thread makes all its calls; the other makes calls as long as that takes, so that neither
/// is ever alone. Nothing where one of them stood still meanwhile.
fn sample_on_two(time: &(dyn Fn(u64) -> Duration + Sync), calls: u64) -> (Duration, Option<f64>) {
    /// Calls of the other thread between two looks around.
    const CHUNK: u64 = 64;
    /// How many more calls one may make than the other.
    const UNEVEN: u64 = 3;

    let (made, done) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                time(CHUNK);
                made.fetch_add(CHUNK, Ordering::Relaxed);
            }
        });
        while made.load(Ordering::Relaxed) == 0 {
            spin_loop();
        }
        let before = made.load(Ordering::Relaxed);
        let took = time(calls);
        let beside = made.load(Ordering::Relaxed) - before;
        done.store(true, Ordering::Relaxed);
        let even = beside <= calls * UNEVEN && calls <= beside * UNEVEN;
        let nanos = took.as_nanos() as f64 * 2.0 / (calls + beside) as f64;
        (took, even.then_some(nanos))
    })
}

/// What was measured.
pub(crate) struct Samples {
    /// Nanoseconds a call, by subject and round; not a number where it doesn't count.
    nanos: Vec<Vec<f64>>,
}

/// Nanoseconds a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) median: f64,
    pub(crate) least: f64,
}

impl Samples {
    /// What a call costs; `over` another, round by round.
    pub(crate) fn cost(&self, id: Id, over: Option<Id>) -> Cost {
        let nanos = &self.nanos[id.0];
        let differences = match over {
            None => nanos.clone(),
            Some(bare) => {
                let pairs = nanos.iter().zip(&self.nanos[bare.0]);
                pairs.map(|(guarded, bare)| guarded - bare).collect()
            }
        };
        let least = |id: Id| {
            self.nanos[id.0]
                .iter()
                .copied()
                .fold(f64::INFINITY, f64::min)
        };
        Cost {
            median: median(differences),
            least: least(id) - over.map_or(0.0, least),
        }
    }
}

/// Of the samples that count; not a number if none does.
fn median(mut nanos: Vec<f64>) -> f64 {
    nanos.retain(|nanos| !nanos.is_nan());
    nanos.sort_unstable_by(f64::total_cmp);
    nanos.get(nanos.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::{Bench, Cost, Effort, Id, Samples, median};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn a_cost_over_another_is_taken_round_by_round() {
        let samples = Samples {
            nanos: vec![vec![10.0, 30.0, 20.0], vec![12.0, 33.0, 21.0]],
        };
        let Cost { median, least } = samples.cost(Id(1), Some(Id(0)));
        assert_eq!((median, least), (2.0, 2.0));
        assert_eq!(samples.cost(Id(0), None).median, 20.0);
    }

    #[test]
    fn half_of_the_rounds_are_above_the_median() {
        assert_eq!(median(vec![9.0, 1.0, f64::NAN, 5.0]), 5.0);
        assert!(median(vec![f64::NAN]).is_nan());
    }

    #[test]
    fn every_subject_is_called_on_as_many_threads_as_it_asks_for() {
        let calls = Arc::new(AtomicU64::new(0));
        let mut bench = Bench::default();
        let (one, two) = (calls.clone(), calls.clone());
        let one = bench.one(move || {
            one.fetch_add(1, Ordering::Relaxed);
        });
        let two = bench.two(move || {
            two.fetch_add(1 << 32, Ordering::Relaxed);
        });
        let samples = bench.measure(None, Effort::SMOKE);
        let calls = calls.load(Ordering::Relaxed);
        assert!(calls as u32 > 0 && calls >> 32 > 0);
        assert!(samples.cost(one, None).least > 0.0);
        assert!(samples.cost(two, None).least > 0.0);
    }
}
