//! Changes of many keys at once, of which not each is a line that somebody reads.

use crate::lock::lock;
use crate::name::OneLine;
use crate::observe::{Entering, StateChange};
use breaker_core::{Change, State, Trigger};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// So many keys of a breaker a second are each told of.
const EACH: u64 = 20;

/// Then it is said how many more they are at the first of these, at ten times as many, and so on: there
/// may be nothing later with which to say it.
const FIRST_SUM: u64 = 10;

/// A second, in nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// Breakers, and what becomes of their keys, at most: of others each key is told.
const ROWS: usize = 64;

/// What an operator or the fleet does to the keys of breakers, counted by the second.
#[derive(Debug)]
pub(super) struct Many {
    rows: Mutex<Vec<Row>>,
    /// Whether some have a sum that was not told.
    has_untold: AtomicBool,
}

/// Of one breaker's keys the same became.
#[derive(Debug)]
struct Row {
    breaker: Box<str>,
    change: Change,
    began: u64,
    /// So many keys within this second; and those of which it was told, each or in sum.
    keys: u64,
    told: u64,
}

/// So many more keys. Displays as the line of a log.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sum {
    breaker: Box<str>,
    change: Change,
    more: u64,
    /// How many seconds ago the first one was: it is told when there is something else to tell.
    ago: u64,
}

impl Sum {
    /// Whether calls are refused since.
    pub(super) fn is_opening(&self) -> bool {
        matches!(self.change.to, State::Open | State::ForcedOpen)
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (breaker, more) = (OneLine(&self.breaker), self.more);
        // Each has a wait of its own.
        let entering = Entering {
            wait: None,
            ..Entering::from(&self.change)
        };
        match self.ago {
            0 | 1 => write!(f, "by now {more} more keys of `{breaker}`: each {entering}"),
            ago => write!(
                f,
                "{ago}s ago, {more} more keys of `{breaker}` within a second: each {entering}"
            ),
        }
    }
}

impl Row {
    fn is_of(&self, event: &StateChange<'_>) -> bool {
        let [mine, other] = [&self.change, event.change].map(Entering::from);
        *self.breaker == *event.breaker && mine.is_like(&other)
    }

    fn is_over(&self, now: u64) -> bool {
        // Or it is another clock.
        now < self.began || now - self.began >= SECOND
    }

    /// The sum, if it isn't told yet.
    fn sum(&mut self, now: u64) -> Option<Sum> {
        let more = self.keys.saturating_sub(EACH);
        if std::mem::replace(&mut self.told, self.keys) == self.keys || more == 0 {
            return None;
        }
        Some(Sum {
            breaker: self.breaker.clone(),
            change: self.change,
            more,
            ago: now.saturating_sub(self.began) / SECOND,
        })
    }
}

impl Many {
    pub(super) const fn new() -> Self {
        Self {
            rows: Mutex::new(Vec::new()),
            has_untold: AtomicBool::new(false),
        }
    }

    /// Counts the change. Gives whether it is one of too many, and a sum to tell.
    pub(super) fn count(&self, event: &StateChange<'_>, now: u64) -> (bool, Option<Sum>) {
        let is_of_many = matches!(event.change.trigger, Trigger::Fleet | Trigger::Operator);
        if event.key.is_none() || !is_of_many {
            return (false, None);
        }
        let mut rows = lock(&self.rows);
        let known = rows.iter().position(|row| row.is_of(event));
        let at = match known {
            Some(at) => at,
            None => {
                if rows.len() >= ROWS {
                    // What they have to say was said, or is lost with them: some of the last keys.
                    rows.retain(|row| !row.is_over(now));
                }
                if rows.len() >= ROWS {
                    return (false, None);
                }
                rows.push(Row {
                    breaker: event.breaker.into(),
                    change: *event.change,
                    began: now,
                    keys: 0,
                    told: 0,
                });
                rows.len() - 1
            }
        };
        let row = &mut rows[at];
        let mut sum = None;
        if row.is_over(now) {
            sum = row.sum(now);
            (row.began, row.keys, row.told) = (now, 0, 0);
        }
        row.keys += 1;
        if row.keys <= EACH {
            row.told = row.keys;
            return (false, sum);
        }
        let mut is_told = FIRST_SUM;
        while is_told < row.keys - EACH {
            is_told = is_told.saturating_mul(10);
        }
        if is_told == row.keys - EACH {
            sum = row.sum(now);
        }
        self.has_untold.store(true, Ordering::Relaxed);
        (true, sum)
    }

    /// Whether there may be sums that were not told.
    pub(super) fn has_untold(&self) -> bool {
        self.has_untold.load(Ordering::Relaxed)
    }

    /// Sums of seconds that are over.
    pub(super) fn take(&self, now: u64) -> Vec<Sum> {
        let mut rows = lock(&self.rows);
        let mut sums = Vec::new();
        rows.retain_mut(|row| {
            let is_over = row.is_over(now);
            if is_over {
                sums.extend(row.sum(now));
            }
            !is_over
        });
        let has_untold = rows.iter().any(|row| row.keys > EACH);
        self.has_untold.store(has_untold, Ordering::Relaxed);
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Follow;
    use crate::observe::{self, Observer};
    use crate::{AnyBreaker, Breaker, KeyedBreakers, Settings, Snapshot, test};
    use std::sync::Arc;
    use std::time::Duration;

    /// Counts what happens, and notes lines.
    struct Notes {
        many: Many,
        seconds: Mutex<u64>,
        lines: Mutex<Vec<String>>,
        each: Mutex<u64>,
    }

    impl Observer for Notes {
        fn state_changed(&self, event: &StateChange<'_>) {
            let now = *lock(&self.seconds) * SECOND;
            let sums = self.many.take(now);
            let (is_one_of_many, sum) = self.many.count(event, now);
            let sums = sums.into_iter().chain(sum).map(|sum| sum.to_string());
            lock(&self.lines).extend(sums);
            *lock(&self.each) += u64::from(!is_one_of_many);
        }
    }

    fn notes() -> Arc<Notes> {
        Arc::new(Notes {
            many: Many::new(),
            seconds: Mutex::new(0),
            lines: Mutex::default(),
            each: Mutex::new(0),
        })
    }

    fn lines(notes: &Notes) -> (u64, Vec<String>) {
        let each = std::mem::take(&mut *lock(&notes.each));
        (each, std::mem::take(&mut *lock(&notes.lines)))
    }

    #[test]
    fn of_many_keys_the_first_are_told_and_how_many_more_they_are() {
        let _scope = test::scope();
        let notes = notes();
        let _installed = observe::install(notes.clone());
        let hosts = KeyedBreakers::<u64>::shared("hosts", Settings::new().must(), 10_000).unwrap();
        for host in 0..5_000_u64 {
            hosts.get(&host).force_open();
        }
        let sum = |more| {
            format!("by now {more} more keys of `hosts`: each was set by an operator: forced_open")
        };
        assert_eq!(lines(&notes), (EACH, vec![sum(10), sum(100), sum(1_000)]));
        // What becomes of others, or is another state, is another matter.
        Breaker::new("one", Settings::new().must()).force_open();
        hosts.get(&0_u64).close();
        assert_eq!(lines(&notes), (2, vec![]));
        assert!(notes.many.has_untold());
        *lock(&notes.seconds) = 1;
        hosts.get(&1_u64).close();
        assert_eq!(lines(&notes), (1, vec![sum(4_980)]));
        for host in 0..500_u64 {
            hosts.get(&host).disable();
        }
        assert_eq!(lines(&notes).0, EACH);
        // Long after, beside something else.
        *lock(&notes.seconds) = 13;
        hosts.get(&1_u64).close();
        let late = "12s ago, 480 more keys of `hosts` within a second: each was set by an operator: disabled";
        assert_eq!(lines(&notes), (1, vec![late.to_owned()]));
        assert!(!notes.many.has_untold());
        assert_eq!(notes.many.take(50 * SECOND), []);
        assert!(lock(&notes.many.rows).is_empty(), "it keeps nothing");
    }

    /// Each sum is true of all its keys.
    #[test]
    fn keys_that_are_opened_and_those_that_are_kept_open_are_told_apart() {
        let _scope = test::scope();
        let notes = notes();
        let _installed = observe::install(notes.clone());
        let hosts = KeyedBreakers::<u64>::shared("hosts", Settings::new().must(), 10_000).unwrap();
        let open = Follow {
            to: Snapshot {
                state: State::Open,
                time_left: Duration::from_secs(10),
                imposed: false,
                consecutive: 0,
                reopenings: 0,
            },
            only_in: None,
        };
        for host in 0..30_u64 {
            let breaker = hosts.get(&host);
            breaker.follow(&open).unwrap();
            breaker.follow(&open).unwrap();
        }
        let sum = |what| format!("by now 10 more keys of `hosts`: each {what} by the fleet");
        let sums = ["was opened", "was kept open"].map(sum);
        assert_eq!(lines(&notes), (2 * EACH, sums.to_vec()));
        // By an operator it is the same, whatever it was before.
        for host in 0..30_u64 {
            let breaker = hosts.get(&host);
            if host % 2 == 0 {
                breaker.close();
            }
        }
        lines(&notes);
        *lock(&notes.seconds) = 1;
        for host in 0..30_u64 {
            hosts.get(&host).force_open();
        }
        let (each, sums) = lines(&notes);
        assert_eq!((each, sums.len()), (EACH, 1), "{sums:?}");
    }

    #[test]
    fn few_keys_in_each_second_and_what_calls_bring_about_are_told_each() {
        let _scope = test::scope();
        let notes = notes();
        let _installed = observe::install(notes.clone());
        let config = Settings::new().threshold(1).must();
        let hosts = KeyedBreakers::<u64>::shared("hosts", config, 10_000).unwrap();
        for host in 0..100_u64 {
            let failed = hosts.get(&host).call_sync(|| Err::<(), _>("down"));
            assert!(failed.is_err());
        }
        assert_eq!(lines(&notes), (100, vec![]));
        for host in 0..100_u64 {
            *lock(&notes.seconds) = host / EACH;
            hosts.get(&host).close();
        }
        assert_eq!(lines(&notes), (100, vec![]));
        assert!(!notes.many.has_untold());
    }

    #[test]
    fn no_more_than_so_many_rows_are_kept() {
        let _scope = test::scope();
        let notes = notes();
        let _installed = observe::install(notes.clone());
        for group in 0..ROWS + 10 {
            let name: &'static str = format!("group-{group}").leak();
            let config = Settings::new().must();
            let keys = KeyedBreakers::<u64>::shared(name, config, 100).unwrap();
            for key in 0..30_u64 {
                keys.get(&key).force_open();
                assert_eq!(keys.get(&key).state(), State::ForcedOpen);
            }
        }
        let (each, sums) = lines(&notes);
        let told = ROWS * 20 + 10 * 30;
        assert_eq!((each, sums.len()), (told as u64, ROWS));
        assert_eq!(lock(&notes.many.rows).len(), ROWS);
    }
}
