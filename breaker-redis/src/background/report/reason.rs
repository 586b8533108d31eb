//! Why Redis was lost: where a connection just ends, the next attempt to make one may know.

use super::cause::is_absence;
use crate::error::{ConnectionError, Trouble};
use std::time::{Duration, Instant};

/// So long at most it is waited for what the next attempt says.
const WAIT: Duration = Duration::from_secs(1);

/// What is told of a loss.
pub(super) struct Reason {
    pub(super) error: ConnectionError,
    /// Until when it is kept back.
    held_until: Option<Instant>,
}

impl Reason {
    /// Of a connection that was lost.
    pub(super) fn new(now: Instant, error: ConnectionError) -> Self {
        let is_mute = matches!(error.trouble, Trouble::Ended(_));
        Self {
            held_until: is_mute.then(|| now + WAIT),
            error,
        }
    }

    /// What is lost couldn't be reached once more, or something else was lost.
    pub(super) fn then(self, now: Instant, error: ConnectionError, is_new: bool) -> Self {
        match self.held_until {
            _ if is_new => Self::new(now, error),
            // That there is no way there says no more than that it ended.
            Some(_) if is_absence(&error.trouble) => Self {
                error: self.error,
                held_until: None,
            },
            _ => Self {
                error,
                held_until: None,
            },
        }
    }

    /// Until when nothing is told of it.
    pub(super) fn held_until(&self) -> Option<Instant> {
        self.held_until
    }

    /// The next attempt has ended, and well.
    pub(super) fn release(&mut self) {
        self.held_until = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{News, Report};
    use super::*;

    fn error(trouble: Trouble) -> ConnectionError {
        let at = "localhost:6379".to_owned();
        ConnectionError { at, trouble }
    }

    fn ended() -> ConnectionError {
        error(Trouble::Ended("it was closed".to_owned()))
    }

    fn told(news: Option<News>) -> Option<Trouble> {
        match news? {
            News::Lost { error, losses, .. } => {
                assert_eq!(losses, 1);
                Some(error.trouble)
            }
            News::Restored { .. } => panic!("it is still lost"),
        }
    }

    #[test]
    fn a_connection_that_just_ended_is_told_with_what_the_next_attempt_says() {
        let words = || "words".to_owned();
        let ended_so = ended().trouble;
        for (then, expected) in [
            (Trouble::Login(words()), Trouble::Login(words())),
            (Trouble::Refuses(words()), Trouble::Refuses(words())),
            (Trouble::Tls(words()), Trouble::Tls(words())),
            (Trouble::SpeaksTls, Trouble::SpeaksTls),
            (Trouble::Unreachable(words()), ended_so.clone()),
            (Trouble::Silent(WAIT), ended_so.clone()),
            (Trouble::Ended(words()), ended_so.clone()),
        ] {
            let mut report = Report::default();
            let begun = Instant::now();
            report.lost(begun, ended(), None, true);
            assert_eq!(report.look(begun), None);
            assert_eq!(report.next(), Some(begun + WAIT));
            report.lost(begun, error(then), None, false);
            assert_eq!(told(report.look(begun)), Some(expected));
            assert_eq!(report.next(), None);
            assert!(matches!(
                report.restored(begun),
                Some(News::Restored { .. })
            ));
        }
    }

    #[test]
    fn it_is_told_without_a_reason_where_none_comes_or_it_is_found_again() {
        let begun = Instant::now();
        let mut report = Report::default();
        report.lost(begun, ended(), None, true);
        let just_before = begun + WAIT - Duration::from_nanos(1);
        assert_eq!(report.look(just_before), None);
        assert_eq!(told(report.look(begun + WAIT)), Some(ended().trouble));

        let mut report = Report::default();
        report.lost(begun, ended(), None, true);
        assert_eq!(told(report.look_at_last(begun)), Some(ended().trouble));
        assert!(report.restored(begun).is_some());
        // Within the minute nothing is told of another, however it ends.
        report.lost(begun, ended(), None, true);
        assert_eq!(report.look_at_last(begun), None);
        assert_eq!(report.restored(begun), None);
    }

    #[test]
    fn what_says_why_is_told_at_once() {
        let begun = Instant::now();
        let mut report = Report::default();
        let trouble = Trouble::Silent(WAIT);
        report.lost(begun, error(trouble.clone()), None, true);
        assert_eq!(told(report.look(begun)), Some(trouble));
    }
}
