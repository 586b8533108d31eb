//! What is counted together with others.

use super::options::micros;
use super::{Course, Instance};
use crate::protocol::{Cause, Command, Counts, Limits, Shared};
use breakerbox::State;

impl Instance {
    /// What a closed breaker has counted.
    pub(super) fn count(&mut self, counts: Counts) {
        if self.options.counting.is_some() && self.here.is(State::Closed) {
            self.counts = counts;
        }
    }

    /// The trip that is not yet the fleet's: the failures that led to it are.
    pub(super) fn count_trip(&mut self, cause: Cause) {
        if let (Some(Limits::Consecutive { .. }), Cause::Tripped { failures }) =
            (self.options.counting, cause)
        {
            self.counts.failures = self.counts.failures.max(failures);
        }
    }

    /// When the counts are to be told.
    pub(super) fn counts_at(&self) -> Option<u64> {
        let counts_here = self.here.is(State::Closed) || self.alone;
        let is_open_to_it = self.course == Course::Settled && self.is_closed_there();
        let is_held_back = self.offering || self.news.is_some_and(|news| !news.is_vote());
        (self.options.counting.is_some()
            && counts_here
            && is_open_to_it
            && !is_held_back
            && self.said != Some(self.counts))
        .then_some(self.count_after)
    }

    pub(super) fn send_counts(&mut self) -> Option<Command> {
        let limits = self.options.counting?;
        self.saying = self.counts;
        self.count_after = self.now.saturating_add(micros(self.options.batch));
        Some(Command::Count {
            known: self.known(),
            counts: self.counts,
            limits,
            quorum: self.options.quorum,
            to: Shared {
                state: State::Open,
                wait: micros(self.options.reset),
                imposed: false,
                reopenings: 0,
            },
        })
    }

    /// Whether what was said has to be looked at again: a window forgets by itself.
    pub(super) fn is_window_told(&self) -> bool {
        matches!(self.options.counting, Some(Limits::Rate { .. }))
            && self.here.is(State::Closed)
            && self.said != Some(Counts::default())
    }
}
