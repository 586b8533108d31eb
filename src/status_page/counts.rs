//! What a circuit's calls came to over the last minute.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Seconds of a slice: the rates are those of whole slices, so that the page hears of a busy
/// circuit no more often.
pub(super) const SLICE_SECONDS: u64 = 5;

/// Slices that the rates are of.
const SLICES: u64 = 12;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// An admitted call ended, and neither failed nor was it dropped.
    Fine,
    /// An admitted call ended, and counts as a failure.
    Failed,
    /// An admitted call was dropped.
    Dropped,
    /// Calls were refused.
    Refused,
    /// A fallback was served.
    Stale,
}

/// What they came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Admitted calls that ended.
    pub(super) calls: u32,
    /// Those that count as failures.
    pub(super) failed: u32,
    /// Calls that were refused.
    pub(super) refused: u32,
    /// Fallbacks that were served.
    pub(super) stale: u32,
}

/// Counters that only grow (and wrap), so that none is lost where two threads count at the
/// turn of a slice; and what they were at the beginning of each of the last slices.
#[derive(Debug, Default)]
pub(super) struct Counts {
    calls: AtomicU32,
    failed: AtomicU32,
    refused: AtomicU32,
    stale: AtomicU32,
    /// The slice of the newest mark, and one: zero where there is none.
    marked: AtomicU32,
    marks: Mutex<VecDeque<Mark>>,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    slice: u64,
    sums: Sums,
}

/// The slice that a time is in, by milliseconds since the page began to listen.
pub(super) fn slice(at: u64) -> u64 {
    at / (SLICE_SECONDS * 1000)
}

/// Seconds that the rates are of in this slice: fewer at first.
pub(super) fn seconds(slice: u64) -> u64 {
    slice.min(SLICES) * SLICE_SECONDS
}

impl Counts {
    /// So many of something, in this slice.
    pub(super) fn add(&self, what: What, many: u32, slice: u64) {
        if self.marked.load(Ordering::Acquire) != number(slice) {
            self.mark(slice);
        }
        match what {
            What::Fine | What::Dropped => grow(&self.calls, many),
            What::Failed => {
                grow(&self.calls, many);
                grow(&self.failed, many);
            }
            What::Refused => grow(&self.refused, many),
            What::Stale => grow(&self.stale, many),
        }
    }

    #[cold]
    fn mark(&self, slice: u64) {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread was faster, or this one was held up.
        if marks.back().is_some_and(|newest| newest.slice >= slice) {
            return;
        }
        while marks.front().is_some_and(|old| old.slice + SLICES < slice) {
            marks.pop_front();
        }
        let sums = self.now();
        marks.push_back(Mark { slice, sums });
        self.marked.store(number(slice), Ordering::Release);
    }

    fn now(&self) -> Sums {
        Sums {
            calls: self.calls.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            stale: self.stale.load(Ordering::Relaxed),
        }
    }

    /// Of the whole slices before this one, as many as the rates are of.
    pub(super) fn before(&self, slice: u64) -> Sums {
        let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        // Nothing was counted between a slice and the next mark.
        let at_start_of = |slice: u64| {
            let next = marks.iter().find(|mark| mark.slice >= slice);
            next.map_or_else(|| self.now(), |mark| mark.sums)
        };
        let (first, last) = (
            at_start_of(slice.saturating_sub(SLICES)),
            at_start_of(slice),
        );
        Sums {
            calls: last.calls.wrapping_sub(first.calls),
            failed: last.failed.wrapping_sub(first.failed),
            refused: last.refused.wrapping_sub(first.refused),
            stale: last.stale.wrapping_sub(first.stale),
        }
    }
}

fn grow(counter: &AtomicU32, by: u32) {
    counter.fetch_add(by, Ordering::Relaxed);
}

/// A slice, so that none is zero. It wraps after 680 years.
fn number(slice: u64) -> u32 {
    (slice as u32).wrapping_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_whole_slices_of_the_last_minute() {
        let counts = Counts::default();
        assert_eq!(counts.before(0), Sums::default());
        counts.add(What::Fine, 1, 3);
        counts.add(What::Failed, 1, 3);
        counts.add(What::Dropped, 1, 3);
        assert_eq!(counts.before(3), Sums::default(), "the slice isn't over");
        let three = Sums {
            calls: 3,
            failed: 1,
            ..Sums::default()
        };
        assert_eq!(counts.before(4), three);
        counts.add(What::Refused, 7, 9);
        counts.add(What::Stale, 2, 9);
        assert_eq!(counts.before(9), three);
        let all = Sums {
            refused: 7,
            stale: 2,
            ..three
        };
        for slice in 10..=15 {
            assert_eq!(counts.before(slice), all, "{slice}");
        }
        let last = Sums {
            refused: 7,
            stale: 2,
            ..Sums::default()
        };
        for slice in 16..=21 {
            assert_eq!(counts.before(slice), last, "{slice}");
        }
        assert_eq!(counts.before(22), Sums::default());
        assert_eq!(counts.before(1_000_000), Sums::default());
    }

    #[test]
    fn a_circuit_that_is_always_busy_keeps_a_minute_and_no_more() {
        let counts = Counts::default();
        for slice in 0..1000 {
            counts.add(What::Failed, 2, slice);
            let seen = u32::try_from(slice.min(12)).unwrap() * 2;
            assert_eq!(counts.before(slice).failed, seen, "{slice}");
        }
        assert!(counts.marks.lock().unwrap().len() <= 14);
    }

    #[test]
    fn counters_that_wrap_still_say_what_was_added() {
        let counts = Counts::default();
        counts.add(What::Refused, u32::MAX, 0);
        counts.add(What::Refused, 5, 20);
        assert_eq!(counts.before(21).refused, 5);
    }

    #[test]
    fn none_is_lost_where_threads_count_at_the_turn_of_slices() {
        let counts = Counts::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for slice in 0..12 {
                        for _ in 0..100 {
                            counts.add(What::Fine, 1, slice);
                        }
                    }
                });
            }
        });
        assert_eq!(counts.before(12).calls, 4 * 12 * 100);
    }

    #[test]
    fn at_first_the_rates_are_of_less_than_a_minute() {
        assert_eq!([0, 1, 11, 12, 99].map(seconds), [0, 5, 55, 60, 60]);
        assert_eq!([0, 4999, 5000].map(slice), [0, 0, 1]);
    }
}
