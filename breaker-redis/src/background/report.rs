//! That Redis was lost and found again: each told once, and no flood of it.

mod cause;
mod reason;

use crate::error::ConnectionError;
use breakerbox::link;
use breakerbox::observe::Part;
use cause::Causes;
use reason::Reason;
use std::time::{Duration, Instant};

/// A loss is told at most once in this time; and once more, if it was one of a part and all is lost since, or
/// for another cause.
const ONCE_IN: Duration = Duration::from_secs(60);

/// What was told, and what is to be.
#[derive(Default)]
pub(crate) struct Report {
    /// What is lost now.
    lost: Option<Lost>,
    /// Losses that were not told.
    untold: u64,
    told_at: Option<Instant>,
    /// When it was told that all is lost.
    told_of_all_at: Option<Instant>,
    /// Whether that it is lost was told last, and not that it was found.
    is_told_lost: bool,
    causes: Causes,
}

/// Since when, why, and which part of it.
struct Lost {
    since: Instant,
    reason: Reason,
    part: Option<Part>,
}

/// Something to tell.
#[derive(Debug, PartialEq)]
pub(crate) enum News {
    Lost {
        error: ConnectionError,
        losses: u64,
        part: Option<Part>,
    },
    Restored {
        after: Duration,
    },
}

impl News {
    /// To the observers.
    pub(crate) fn tell(&self, fleet: &str) {
        match self {
            Self::Lost {
                error,
                losses,
                part: Some(part),
            } => link::sharing_lost_in_part(fleet, error, *losses, *part),
            Self::Lost { error, losses, .. } => link::sharing_lost(fleet, error, *losses),
            Self::Restored { after } => link::sharing_restored(fleet, *after),
        }
    }
}

impl Report {
    /// It, or a part of it, is lost, or couldn't be reached once more. `is_new`: another loss, while there
    /// is one.
    pub(crate) fn lost(
        &mut self,
        now: Instant,
        error: ConnectionError,
        part: Option<Part>,
        is_new: bool,
    ) {
        let since = self.lost.as_ref().map_or(now, |lost| lost.since);
        self.untold += u64::from(is_new || self.lost.is_none());
        // As it is now, should it not have been told yet.
        let reason = match self.lost.take() {
            Some(lost) => lost.reason.then(now, error, is_new),
            None => Reason::new(now, error),
        };
        self.causes.is(now, &reason.error.trouble);
        self.lost = Some(Lost {
            since,
            reason,
            part,
        });
    }

    /// It is another part by now.
    pub(crate) fn now_of(&mut self, part: Option<Part>) {
        if let Some(lost) = &mut self.lost {
            lost.part = part;
        }
    }

    /// The next attempt has ended well, so that nothing more is to be known of a loss.
    pub(crate) fn look_at_last(&mut self, now: Instant) -> Option<News> {
        if let Some(lost) = &mut self.lost {
            lost.reason.release();
        }
        self.look(now)
    }

    /// Whether there is something that may be told by now.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let Some(lost) = &self.lost else {
            return false;
        };
        let is_recent = |at| now.saturating_duration_since(at) < ONCE_IN;
        let is_first = self.untold > 0 && !self.told_last(lost).is_some_and(is_recent);
        let is_other = self.causes.due(ONCE_IN).is_some_and(|due| due <= now);
        let is_held = |until| now < until;
        (is_first || is_other) && !lost.reason.held_until().is_some_and(is_held)
    }

    /// It is there, all of it.
    pub(crate) fn restored(&mut self, now: Instant) -> Option<News> {
        let since = self.lost.take()?.since;
        self.causes.is_none();
        let after = now.saturating_duration_since(since);
        std::mem::take(&mut self.is_told_lost).then_some(News::Restored { after })
    }

    /// When there may be something to tell.
    pub(crate) fn next(&self) -> Option<Instant> {
        let lost = self.lost.as_ref()?;
        let held_until = lost.reason.held_until();
        let kept_back = || self.told_last(lost).map(|at| at + ONCE_IN);
        // Each at the later of both.
        let first = (self.untold > 0).then(|| kept_back().max(held_until));
        let other = self
            .causes
            .due(ONCE_IN)
            .map(|due| Some(due).max(held_until));
        [first, other].into_iter().flatten().flatten().min()
    }

    /// When such a loss was told last.
    fn told_last(&self, lost: &Lost) -> Option<Instant> {
        match lost.part {
            Some(_) => self.told_at,
            None => self.told_of_all_at,
        }
    }

    /// What may be told by now.
    pub(crate) fn look(&mut self, now: Instant) -> Option<News> {
        let lost = self.lost.as_ref().filter(|_| self.is_due(now))?;
        self.causes.tell(now, ONCE_IN);
        self.told_at = Some(now);
        if lost.part.is_none() {
            self.told_of_all_at = Some(now);
        }
        self.is_told_lost = true;
        Some(News::Lost {
            error: lost.reason.error.clone(),
            part: lost.part,
            losses: std::mem::take(&mut self.untold),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Trouble;

    fn error(why: &str) -> ConnectionError {
        ConnectionError {
            at: "localhost:6379".to_owned(),
            trouble: Trouble::Unreachable(why.to_owned()),
        }
    }

    fn lost(why: &str, losses: u64) -> Option<News> {
        let (error, part) = (error(why), None);
        Some(News::Lost {
            error,
            losses,
            part,
        })
    }

    #[test]
    fn lost_and_found_are_told_once_each() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let mut report = Report::default();
        assert_eq!(report.look(at(0)), None);
        assert_eq!(report.restored(at(0)), None, "it was never lost");
        report.lost(at(1), error("first"), None, false);
        assert_eq!(report.look(at(1)), lost("first", 1));
        for again in 2..200 {
            report.lost(at(again), error("again"), None, false);
            assert_eq!(report.look(at(again)), None);
            assert_eq!(report.next(), None);
        }
        let after = Duration::from_secs(199);
        assert_eq!(report.restored(at(200)), Some(News::Restored { after }));
        assert_eq!(report.restored(at(201)), None);
        report.lost(at(202), error("second"), None, false);
        assert_eq!(report.look(at(202)), lost("second", 1));
    }

    #[test]
    fn what_comes_and_goes_is_told_once_a_minute() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let mut report = Report::default();
        let mut told = Vec::new();
        for second in (0..600).step_by(2) {
            report.lost(at(second), error("flapping"), None, false);
            told.extend(report.look(at(second)));
            told.extend(report.restored(at(second + 1)));
        }
        let restored = Duration::from_secs(1);
        let expected = (0..10).flat_map(|minute| {
            let losses = if minute == 0 { 1 } else { 30 };
            [
                lost("flapping", losses),
                Some(News::Restored { after: restored }),
            ]
        });
        assert_eq!(told, expected.flatten().collect::<Vec<_>>());
    }

    #[test]
    fn a_loss_that_was_kept_back_is_told_if_it_lasts() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let mut report = Report::default();
        report.lost(at(0), error("first"), None, false);
        assert_eq!(report.look(at(0)), lost("first", 1));
        assert!(report.restored(at(1)).is_some());
        report.lost(at(2), error("second"), None, false);
        assert_eq!(report.look(at(2)), None);
        assert_eq!(report.next(), Some(at(60)));
        report.lost(at(30), error("as it is now"), None, false);
        assert_eq!(report.look(at(59)), None);
        assert_eq!(report.look(at(60)), lost("as it is now", 1));
        assert_eq!(report.next(), None);
        let after = Duration::from_secs(68);
        assert_eq!(report.restored(at(70)), Some(News::Restored { after }));
    }

    /// Of a cluster of three nodes, each with two circuits.
    #[test]
    fn nodes_that_go_one_after_another_are_told_as_a_part_and_once_as_all() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let part = |circuits| Some(Part::new(circuits, 6));
        let told = |why, losses, part| {
            let error = error(why);
            Some(News::Lost {
                error,
                losses,
                part,
            })
        };
        let mut report = Report::default();
        report.lost(at(0), error("a"), part(2), true);
        assert_eq!(report.look(at(0)), told("a", 1, part(2)));
        report.lost(at(1), error("a again"), part(2), false);
        report.lost(at(2), error("b"), part(4), true);
        assert_eq!(report.look(at(2)), None, "a part was told just now");
        assert_eq!(report.next(), Some(at(60)));
        report.lost(at(3), error("c"), None, true);
        assert_eq!(report.look(at(3)), told("c", 2, None));
        report.now_of(part(4));
        assert_eq!(report.look(at(70)), None);
        report.lost(at(71), error("c"), None, true);
        assert_eq!(report.look(at(71)), told("c", 1, None));
        report.lost(at(72), error("b"), None, true);
        assert_eq!(report.look(at(72)), None, "that all is lost was told");
        let after = Duration::from_secs(80);
        assert_eq!(report.restored(at(80)), Some(News::Restored { after }));
        assert_eq!(report.restored(at(81)), None);
    }
}
