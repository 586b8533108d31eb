//! What reached a dependency.

use std::collections::VecDeque;
use std::time::Instant;

/// As many requests are kept one by one: a log that only grows would be the leak that `load` looks for.
const KEPT: usize = 10_000;

/// What reached a dependency: all are counted, the last ones are kept.
#[derive(Clone, Debug, Default)]
pub struct Log {
    count: u64,
    last: VecDeque<Seen>,
}

/// A request that reached a dependency.
#[derive(Clone, Debug)]
pub struct Seen {
    /// When it had been read.
    pub arrived: Instant,
    /// What it asked for.
    pub path: String,
    /// What was said to it.
    pub said: Said,
}

/// What was said to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// An answer, maybe late.
    Answer,
    /// 500.
    Error,
    /// Nothing, ever.
    Nothing,
    /// 429.
    Busy,
    /// 404: no such hotel.
    Unknown,
}

impl Log {
    pub(super) fn write_down(&mut self, path: &str, said: Said) {
        self.count += 1;
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(Seen {
            arrived: Instant::now(),
            path: path.to_owned(),
            said,
        });
    }

    /// How many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The last ones, in the order in which they arrived.
    pub fn last(&self) -> impl ExactSizeIterator<Item = &Seen> {
        self.last.iter()
    }
}
