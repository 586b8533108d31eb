//! That Redis was lost and found again: each told once, and no flood of it.

use crate::error::ConnectionError;
use breakerbox::link;
use std::time::{Duration, Instant};

/// A loss is told at most once in this time.
const ONCE_IN: Duration = Duration::from_secs(60);

/// What was told, and what is to be.
#[derive(Default)]
pub(crate) struct Report {
    /// Since when Redis is lost, and why.
    lost: Option<(Instant, ConnectionError)>,
    /// Losses that were not told.
    untold: u64,
    told_at: Option<Instant>,
    /// Whether that it is lost was told last, and not that it was found.
    is_told_lost: bool,
}

/// Something to tell.
#[derive(Debug, PartialEq)]
pub(crate) enum News {
    Lost { error: ConnectionError, losses: u64 },
    Restored { after: Duration },
}

impl News {
    /// To the observers.
    pub(crate) fn tell(&self, fleet: &str) {
        match self {
            Self::Lost { error, losses } => link::sharing_lost(fleet, error, *losses),
            Self::Restored { after } => link::sharing_restored(fleet, *after),
        }
    }
}

impl Report {
    /// It is lost, or couldn't be reached once more.
    pub(crate) fn lost(&mut self, now: Instant, error: ConnectionError) {
        match &mut self.lost {
            // As it is now, should it not have been told yet.
            Some((_, why)) => *why = error,
            None => {
                self.lost = Some((now, error));
                self.untold += 1;
            }
        }
    }

    /// It is there.
    pub(crate) fn restored(&mut self, now: Instant) -> Option<News> {
        let (since, _) = self.lost.take()?;
        let after = now.saturating_duration_since(since);
        std::mem::take(&mut self.is_told_lost).then_some(News::Restored { after })
    }

    /// When there may be something to tell.
    pub(crate) fn next(&self) -> Option<Instant> {
        let is_kept_back = self.lost.is_some() && self.untold > 0;
        is_kept_back.then(|| self.told_at.map(|at| at + ONCE_IN))?
    }

    /// What may be told by now.
    pub(crate) fn look(&mut self, now: Instant) -> Option<News> {
        let (_, error) = self.lost.as_ref()?;
        let is_recent = |at| now.saturating_duration_since(at) < ONCE_IN;
        if self.untold == 0 || self.told_at.is_some_and(is_recent) {
            return None;
        }
        self.told_at = Some(now);
        self.is_told_lost = true;
        Some(News::Lost {
            error: error.clone(),
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
            trouble: Trouble::Ended(why.to_owned()),
        }
    }

    fn lost(why: &str, losses: u64) -> Option<News> {
        let error = error(why);
        Some(News::Lost { error, losses })
    }

    #[test]
    fn lost_and_found_are_told_once_each() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let mut report = Report::default();
        assert_eq!(report.look(at(0)), None);
        assert_eq!(report.restored(at(0)), None, "it was never lost");
        report.lost(at(1), error("first"));
        assert_eq!(report.look(at(1)), lost("first", 1));
        for again in 2..200 {
            report.lost(at(again), error("again"));
            assert_eq!(report.look(at(again)), None);
            assert_eq!(report.next(), None);
        }
        let after = Duration::from_secs(199);
        assert_eq!(report.restored(at(200)), Some(News::Restored { after }));
        assert_eq!(report.restored(at(201)), None);
        report.lost(at(202), error("second"));
        assert_eq!(report.look(at(202)), lost("second", 1));
    }

    #[test]
    fn what_comes_and_goes_is_told_once_a_minute() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let mut report = Report::default();
        let mut told = Vec::new();
        for second in (0..600).step_by(2) {
            report.lost(at(second), error("flapping"));
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
        report.lost(at(0), error("first"));
        assert_eq!(report.look(at(0)), lost("first", 1));
        assert!(report.restored(at(1)).is_some());
        report.lost(at(2), error("second"));
        assert_eq!(report.look(at(2)), None);
        assert_eq!(report.next(), Some(at(60)));
        report.lost(at(30), error("as it is now"));
        assert_eq!(report.look(at(59)), None);
        assert_eq!(report.look(at(60)), lost("as it is now", 1));
        assert_eq!(report.next(), None);
        let after = Duration::from_secs(68);
        assert_eq!(report.restored(at(70)), Some(News::Restored { after }));
    }
}
