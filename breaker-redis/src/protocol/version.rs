//! Which of two states of a circuit is the later.

/// The largest number that is told, in both halves of a version: Redis' scripts count in doubles, which
/// hold every whole number up to twice this one. As microseconds it is reached in the year 2112.
pub(crate) const MAX_NUMBER: u64 = 1 << 52;

/// The version of a circuit's shared state. The greater one is the later one, whatever order messages
/// arrive in.
///
/// ```
/// use breaker_redis::protocol::Version;
///
/// let before = Version { epoch: 1, counter: 900 };
/// let emptied = Version { epoch: 2, counter: 1 };
/// assert!(emptied > before);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// When this life of the record began, in microseconds of Redis' clock; greater than any epoch that
    /// its founder knew of. A Redis that was emptied begins a new one. At most 2^52.
    pub epoch: u64,
    /// Grows by one with each change. At most 2^52.
    pub counter: u64,
}

impl Version {
    /// Within what can be told.
    pub(crate) fn bounded(self) -> Self {
        Self {
            epoch: self.epoch.min(MAX_NUMBER),
            counter: self.counter.min(MAX_NUMBER),
        }
    }

    /// The version of the next change of what is stored. After the greatest there is none: only who can
    /// write to Redis as he likes ever makes it.
    pub(crate) fn next(self) -> Self {
        let Self { epoch, counter } = self;
        if counter < MAX_NUMBER {
            Self {
                epoch,
                counter: counter + 1,
            }
        } else if epoch < MAX_NUMBER {
            Self {
                epoch: epoch + 1,
                counter: 1,
            }
        } else {
            self
        }
    }

    /// The version of a record that begins a new life, by somebody who knew of another.
    pub(crate) fn founded(now: u64, known: Option<Self>) -> Self {
        let epoch = match known {
            Some(known) if known.epoch < MAX_NUMBER => now.max(known.epoch + 1),
            // There is no greater epoch.
            Some(known) => return known.next(),
            None => now,
        };
        Self { epoch, counter: 1 }
    }
}
