//! What is counted together with others.

use super::options::micros;
use super::{Course, Instance, REPEATS};
use crate::protocol::{Cause, Command, Counts, Limits, Share, Shared};
use breakerbox::State;

/// What one that is open by itself counts as once a probe has failed, or it may probe.
pub(super) const A_PROBE: Counts = Counts {
    calls: 1,
    failures: 1,
    slow: 0,
};

impl Instance {
    /// What a closed breaker has counted.
    pub(super) fn count(&mut self, counts: Counts) {
        if self.options.counting.is_some() && self.here.is(State::Closed) {
            self.counts = counts;
        }
    }

    /// Whether rates of all instances open the circuit. Then a trip by the rate of one opens its own.
    pub(super) fn counts_by_rate(&self) -> bool {
        matches!(self.options.counting, Some(Limits::Rate { .. }))
    }

    /// The trip that is not yet the fleet's: the failures that led to it are.
    pub(super) fn count_trip(&mut self, cause: Cause) {
        if let (Some(Limits::Consecutive { .. }), Cause::Tripped { failures }) =
            (self.options.counting, cause)
        {
            self.counts.failures = self.counts.failures.max(failures);
        }
    }

    /// What the window held when a rate opened it. From then on it makes no calls; they count as if all
    /// of them failed (or were slow). Its own rate was hardly above the limit when it tripped, so that by
    /// what it has seen until then the rate of all would reach the limit only once all have tripped.
    pub(super) fn count_as_failing(&mut self, window: Counts) {
        let Some(Limits::Rate { failures, slow, .. }) = self.options.counting else {
            return;
        };
        let calls = window.calls;
        if calls > 0 && self.here.waits() {
            let whole_if = |limit: Option<Share>, part: u32| {
                let is_reached = limit.is_some_and(|it| it.reached(part.into(), calls.into()));
                if is_reached { calls } else { part }
            };
            self.counts = Counts {
                calls,
                failures: whole_if(failures, window.failures),
                slow: whole_if(slow, window.slow),
            };
        }
    }

    /// Whether it counts as failing, being open by itself.
    pub(super) fn counts_as_failing(&self) -> bool {
        self.alone && self.counts_by_rate()
    }

    /// The calls that it made until it tripped are as old as its wait is long, and others may make many
    /// fewer by now: from then on it counts with one.
    pub(super) fn forget_old_calls(&mut self) {
        if self.counts_as_failing() && self.here.told(self.now).wait == 0 {
            self.counts = A_PROBE;
        }
    }

    /// What it has counted is told also if it was told before: the fleet's sums are judged when somebody
    /// counts.
    pub(super) fn count_again(&mut self) {
        if self.counts.tell_of_failures() {
            self.said = None;
        }
    }

    /// When the counts are to be told.
    pub(super) fn counts_at(&self) -> Option<u64> {
        // Where nothing is stored, Redis takes down nothing but failures.
        let is_taken = self.there.is_some() || self.counts.tell_of_failures();
        (self.counts_together_now() && is_taken && self.said != Some(self.counts))
            .then_some(self.count_after)
    }

    /// Whether what it has counted counts, as far as is known.
    fn counts_together_now(&self) -> bool {
        let is_open_to_it = self.course == Course::Settled && self.is_closed_there();
        let is_held_back = self.offering || self.news.is_some_and(|news| !news.is_vote());
        self.options.counting.is_some() && self.counts_at_all() && is_open_to_it && !is_held_back
    }

    pub(super) fn send_counts(&mut self) -> Option<Command> {
        self.saying = self.counts;
        self.repeats = REPEATS;
        self.count_after = self.now.saturating_add(micros(self.options.batch));
        self.says(self.counts)
    }

    fn says(&self, counts: Counts) -> Option<Command> {
        let limits = self.options.counting?;
        Some(Command::Count {
            known: self.known(),
            counts,
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

    /// Whether a poll is to tell what was counted, if that is another by now: a window forgets by itself.
    pub(super) fn is_window_told(&self) -> bool {
        self.counts_by_rate() && self.counts_at_all() && self.said != Some(Counts::default())
    }

    /// What a poll says of failures in a row that were told: for all it knows Redis has forgotten them, having
    /// heard of nobody for long, by a clock that was set forward. Those before a success may have come once
    /// more, and late.
    pub(super) fn count_once_more(&self) -> Option<Command> {
        let is_in_row = matches!(self.options.counting, Some(Limits::Consecutive { .. }));
        let is_told = self.said == Some(self.counts);
        let is_worth_it = self.counts.tell_of_failures() || self.repeats > 0;
        let is_to = is_in_row && is_told && is_worth_it && self.counts_together_now();
        is_to.then(|| self.says(self.counts))?
    }

    fn counts_at_all(&self) -> bool {
        self.here.is(State::Closed) || self.alone
    }
}
