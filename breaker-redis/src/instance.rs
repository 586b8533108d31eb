//! A circuit of one process, as far as it is shared: what to ask Redis, what the breaker is to follow,
//! and whether a call may probe.
//!
//! An [`Instance`] has no connection, no clock, no lock, and no breaker: it is told what its breaker did
//! and what Redis said, and gives out what to do next. `now` is in microseconds of any monotonic clock of
//! this process; a reading that is smaller than an earlier one counts as that.

#![expect(dead_code, reason = "the signatures come first, what it does next")]

mod options;
mod step;

use crate::protocol::{Counts, Known, Reply, Told};
use breakerbox::Generation;
pub use options::Options;
use std::sync::Arc;
use std::time::Duration;
pub use step::{Asked, Follow, Happened, Settled, Step, Unanswered};

/// A circuit of one process, as far as it is shared.
///
/// After something was put in, [`next`](Self::next) is called until it says to wait; [`due`](Self::due)
/// tells whether that is worth waking anybody for. It begins as [`lost`](Self::lost): by itself, until
/// Redis is [`found`](Self::found).
#[derive(Debug)]
pub struct Instance {
    options: Arc<Options>,
    generation: Generation,
}

impl Instance {
    /// Of a breaker that is in this state. `seed`: a number of its own for each instance, which spreads
    /// its polls.
    #[must_use]
    pub fn new(options: Arc<Options>, begun: &Happened, now: u64, seed: u64) -> Self {
        let _ = (now, seed);
        Self {
            options,
            generation: begun.generation,
        }
    }

    /// From now on it goes by these: the breaker was given other settings.
    pub fn set_options(&mut self, options: Arc<Options>) {
        self.options = options;
    }

    /// The breaker entered a state, by what happened in this process; not by what it was told to follow.
    pub fn changed(&mut self, now: u64, happened: &Happened) {
        let _ = (now, happened);
    }

    /// A call ended.
    pub fn settled(&mut self, now: u64, settled: &Settled) {
        let _ = (now, settled);
    }

    /// A call asks to probe. What it wants, it says in [`next`](Self::next).
    ///
    /// # Errors
    /// Not now: the time until it may, at least, as far as it is known.
    pub fn probe_wanted(&mut self, now: u64) -> Result<(), Duration> {
        let _ = now;
        Ok(())
    }

    /// What the breaker has counted, after [`Step::Look`].
    pub fn counted(&mut self, now: u64, counts: Counts) {
        let _ = (now, counts);
    }

    /// What came of what was asked; also what came late, or twice.
    pub fn replied(&mut self, now: u64, asked: Asked, reply: Result<&Reply, Unanswered>) {
        let _ = (now, asked, reply);
    }

    /// A message arrived.
    pub fn heard(&mut self, now: u64, told: &Told) {
        let _ = (now, told);
    }

    /// Redis can't be had: what was asked won't be answered, and the circuit is one by itself.
    pub fn lost(&mut self, now: u64) {
        let _ = now;
    }

    /// Redis is there (again), and messages arrive.
    pub fn found(&mut self, now: u64) {
        let _ = now;
    }

    /// What came of [`Step::Follow`]: the generation that it started, or, where it was not done, the one
    /// that the breaker is in.
    pub fn followed(&mut self, now: u64, outcome: Result<Generation, Generation>) {
        let _ = (now, outcome);
    }

    /// What is to be done.
    pub fn next(&mut self, now: u64) -> Step {
        let _ = now;
        Step::Wait(None)
    }

    /// When [`next`](Self::next) has something to do, a time that is over for at once. `None`: not by
    /// itself.
    #[must_use]
    pub fn due(&self, now: u64) -> Option<u64> {
        let _ = now;
        None
    }

    /// The version of the fleet's state that it knows.
    #[must_use]
    pub fn known(&self) -> Known {
        None
    }

    /// Whether it may probe for all.
    #[must_use]
    pub fn has_lease(&self, now: u64) -> bool {
        let _ = now;
        false
    }
}
