//! Which answers this process has written, and when: so that not each of a
//! thousand in a second is.

use super::super::moment::{Given, Moment};
use super::file::{lock, within};
use core::time::Duration;
use std::collections::HashMap;
use std::sync::Mutex;

/// What was written, for each key as its bytes. Of no more keys than the file has
/// answers, and of those that are being written.
#[derive(Debug, Default)]
pub(super) struct Pace(Mutex<HashMap<Vec<u8>, Written>>);

/// An answer that was written, or is being written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) at: Moment,
    /// Of the answer, by the wall clock.
    pub(super) time: i64,
    pub(super) given: Given,
}

impl Pace {
    /// Whether one that is hardly older was written a short time ago. One that
    /// is much older does not count: it may have been brought along at start-up.
    pub(super) fn has(&self, key: &[u8], answer: &Written, every: Duration) -> bool {
        lock(&self.0).get(key).is_some_and(|written| {
            let younger = answer.time.saturating_sub(written.time);
            let younger = Duration::from_nanos(u64::try_from(younger).unwrap_or(0));
            within(written.at.monotonic(), answer.at.monotonic(), every) && younger < every
        })
    }

    pub(super) fn set(&self, key: &[u8], written: Written) {
        lock(&self.0).insert(key.to_vec(), written);
    }

    /// Takes back what was set, unless there is another one.
    pub(super) fn take_back(&self, key: &[u8], answer: &Written) {
        let mut all = lock(&self.0);
        let same = |written: &Written| {
            written.time == answer.time && written.at.monotonic() == answer.at.monotonic()
        };
        if all.get(key).is_some_and(same) {
            all.remove(key);
        }
    }

    pub(super) fn forget(&self, key: &[u8]) {
        lock(&self.0).remove(key);
    }

    /// The age of the answer of that time, if this process wrote it: by its
    /// monotonic clock, too.
    pub(super) fn age(&self, key: &[u8], time: i64, now: Moment) -> Option<Duration> {
        let written = lock(&self.0).get(key).copied()?;
        (written.time == time).then(|| written.given.age(now))
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        lock(&self.0).len()
    }
}
