//! What kind of thing is wrong: another one than was told last is worth telling also within the minute, so
//! that whoever mends one thing by the log hears of the next.

use crate::error::Trouble;
use std::mem::{Discriminant, discriminant};
use std::time::{Duration, Instant};

/// So long a cause is to be there: what a Redis that starts says for a moment is of no use to anybody.
const LASTS: Duration = Duration::from_secs(5);

/// So many are told within the time in which each is told once.
const MOST: usize = 4;

/// What kind of thing is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cause {
    /// There is no way to it, or it says nothing, or no more.
    Absent,
    Circuit(String),
    Other(Discriminant<Trouble>),
}

impl Cause {
    fn of(trouble: &Trouble) -> Self {
        match trouble {
            Trouble::Circuit { key, .. } => Self::Circuit(key.clone()),
            absent if is_absence(absent) || is_of_one_that_starts(absent) => Self::Absent,
            other => Self::Other(discriminant(other)),
        }
    }
}

/// Whether it says no more than that nothing can be had.
pub(super) fn is_absence(trouble: &Trouble) -> bool {
    matches!(
        trouble,
        Trouble::Unreachable(_) | Trouble::Silent(_) | Trouble::Ended(_)
    )
}

/// What a Redis says that isn't there yet again.
fn is_of_one_that_starts(trouble: &Trouble) -> bool {
    let Trouble::Refuses(why) = trouble else {
        return false;
    };
    let codes = ["(LOADING)", "(CLUSTERDOWN)", "(MASTERDOWN)"];
    codes.iter().any(|code| why.ends_with(code))
}

/// What is wrong now, and what was told of lately.
#[derive(Default)]
pub(super) struct Causes {
    now: Option<(Cause, Instant)>,
    told: Vec<(Cause, Instant)>,
}

impl Causes {
    /// This is what is wrong.
    pub(super) fn is(&mut self, now: Instant, trouble: &Trouble) {
        let cause = Cause::of(trouble);
        if self.now.as_ref().is_none_or(|(known, _)| *known != cause) {
            self.now = Some((cause, now));
        }
    }

    /// Nothing is wrong.
    pub(super) fn is_none(&mut self) {
        self.now = None;
    }

    /// It was told.
    pub(super) fn tell(&mut self, now: Instant, once_in: Duration) {
        self.told
            .retain(|(_, at)| now.saturating_duration_since(*at) < once_in);
        if let Some((cause, _)) = &self.now {
            self.told.push((cause.clone(), now));
        }
    }

    /// When it is to be told, as one of which nothing was told lately.
    pub(super) fn due(&self, once_in: Duration) -> Option<Instant> {
        let (cause, since) = self.now.as_ref()?;
        let due = *since + LASTS;
        let recent = || {
            let is_recent = |at: Instant| due.saturating_duration_since(at) < once_in;
            self.told.iter().filter(move |(_, at)| is_recent(*at))
        };
        let is_told = recent().any(|(known, _)| known == cause);
        (!is_told && recent().count() < MOST).then_some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{News, Report};
    use super::*;
    use crate::error::ConnectionError;
    use breakerbox::observe::Part;

    fn error(trouble: Trouble) -> ConnectionError {
        let at = "localhost:6379".to_owned();
        ConnectionError { at, trouble }
    }

    fn circuit(key: &str) -> ConnectionError {
        let (key, why) = (key.to_owned(), "the key holds something else".to_owned());
        error(Trouble::Circuit { key, why })
    }

    fn absent(why: &str) -> ConnectionError {
        error(Trouble::Unreachable(why.to_owned()))
    }

    fn refuses() -> ConnectionError {
        error(Trouble::Refuses("its memory is full (OOM)".to_owned()))
    }

    /// Plays so many seconds, in each of which it is so.
    fn plays(
        report: &mut Report,
        begun: Instant,
        seconds: std::ops::Range<u64>,
        is: Option<(&ConnectionError, Option<Part>)>,
    ) -> Vec<(u64, Option<Trouble>)> {
        let mut told = Vec::new();
        for second in seconds {
            let now = begun + Duration::from_secs(second);
            let restored = match is {
                Some((error, part)) => {
                    report.lost(now, error.clone(), part, false);
                    None
                }
                None => report.restored(now),
            };
            let news = restored.into_iter().chain(report.look(now));
            told.extend(news.map(|news| match news {
                News::Lost { error, .. } => (second, Some(error.trouble)),
                News::Restored { .. } => (second, None),
            }));
        }
        told
    }

    #[test]
    fn another_cause_is_told_within_the_minute_once_it_lasts() {
        let (begun, mut report) = (Instant::now(), Report::default());
        let part = Some(Part::new(1, 3));
        let (gone, full, key) = (absent("connection refused"), refuses(), circuit("shop:pms"));
        let mut told = plays(&mut report, begun, 0..5, Some((&gone, None)));
        // The same in other words, and what is over at once.
        let other = absent("no route to host");
        told.extend(plays(&mut report, begun, 5..9, Some((&other, None))));
        told.extend(plays(&mut report, begun, 9..10, Some((&full, None))));
        told.extend(plays(&mut report, begun, 10..12, Some((&gone, None))));
        let starts = error(Trouble::Refuses("it is loading (LOADING)".to_owned()));
        told.extend(plays(&mut report, begun, 12..20, Some((&starts, None))));
        told.extend(plays(&mut report, begun, 20..26, Some((&full, None))));
        told.extend(plays(&mut report, begun, 26..28, None));
        // It was well, and a key is somebody else's.
        told.extend(plays(&mut report, begun, 28..36, Some((&key, part))));
        told.extend(plays(&mut report, begun, 36..40, None));
        told.extend(plays(&mut report, begun, 40..50, Some((&key, part))));
        let expected = [
            (0, Some(gone.trouble)),
            (25, Some(full.trouble)),
            (26, None),
            (33, Some(key.trouble)),
            (36, None),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn another_cause_is_told_also_after_long() {
        let (begun, mut report) = (Instant::now(), Report::default());
        let (gone, full) = (absent("connection refused"), refuses());
        let mut told = plays(&mut report, begun, 0..300, Some((&gone, None)));
        told.extend(plays(&mut report, begun, 300..400, Some((&full, None))));
        told.extend(plays(&mut report, begun, 400..401, None));
        let expected = [
            (0, Some(gone.trouble)),
            (305, Some(full.trouble)),
            (400, None),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn of_keys_that_come_and_go_few_are_told() {
        let (begun, mut report) = (Instant::now(), Report::default());
        let part = Some(Part::new(1, 5_000));
        let mut told = 0;
        for round in 0..60 {
            let key = circuit(&format!("shop:hosts[{round}]"));
            let seconds = round * 10..round * 10 + 10;
            told += plays(&mut report, begun, seconds, Some((&key, part))).len();
        }
        // In ten minutes, with what is told each minute anyway.
        assert!((10..=50).contains(&told), "{told}");
    }

    #[test]
    fn when_another_cause_is_to_be_told_is_known_beforehand() {
        let (begun, mut report) = (Instant::now(), Report::default());
        let at = |second| begun + Duration::from_secs(second);
        report.lost(at(0), absent("gone"), None, true);
        assert!(report.look(at(0)).is_some());
        assert_eq!(report.next(), None);
        report.lost(at(5), refuses(), None, false);
        assert_eq!((report.look(at(5)), report.next()), (None, Some(at(10))));
        assert!(report.look(at(10)).is_some());
        assert_eq!(report.next(), None);
    }
}
