//! Which of two states of a circuit is the later.
//!
//! # No version is the last one
//! Who may write to Redis, or publish there, may make up any version. It must not be one after which
//! nothing is later: the circuit would then stay as it is until its key is deleted *and* all processes
//! that heard of it are restarted. So a version is believed only while its epoch is at most a year ahead of
//! Redis' own clock, which goes on: what is later than any that is believed now, is believed a moment
//! from now.
//! - Stored, it counts as if nothing were stored, and the next who has something to say founds a life of
//!   the present.
//! - Known to an instance, it counts as if nothing were known, so Redis answers with what it holds, though
//!   that is earlier. It never does else: so the instance learns that what it knew is not believed, and
//!   forgets it. An instance needs no clock for that; its own may be wrong by hours.
//!
//! The year is for Redis' clock: where it was ahead by less and is set right, all goes on as it was. Where
//! it was ahead by more, or is behind by years until it is set, states move into the life that begins
//! then, as after a loss of data.
//!
//! # An operator's word
//! It begins an epoch of its own, that of Redis' clock. A Redis that was restored to older data goes on
//! counting from an earlier version, and a change that is made then has a number that the lost ones had,
//! too; but an operator's word is later than all that was before it, also of what its author never
//! heard of. Only where Redis' clock is set back as well, can a lost state that an instance still knows
//! be taken for the later one.

/// The largest number that is told, in both halves of a version: Redis' scripts count in doubles, which
/// hold every whole number up to twice this one. As microseconds it is reached in the year 2112.
pub(crate) const MAX_NUMBER: u64 = 1 << 52;

/// So far, in microseconds, may an epoch be ahead of Redis' clock.
pub(crate) const AHEAD: u64 = 366 * 86_400_000_000;

/// The latest that Redis' clock says, for the rules: epochs that are ahead of it can be told.
pub(crate) const LATEST: u64 = MAX_NUMBER - 2 * AHEAD;

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
    /// When this life of the record began, or an operator last set it, in microseconds of Redis' clock;
    /// greater than any epoch before that was known. A Redis that was emptied begins a new one. At most a
    /// year ahead of Redis' clock, else it is not believed.
    pub epoch: u64,
    /// Grows by one with each change in an epoch. At most 2^52.
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

    /// Whether it may be, at this reading of Redis' clock.
    pub(crate) fn is_believed(self, now: u64) -> bool {
        self.epoch <= now.saturating_add(AHEAD)
    }

    /// The version of the next change of what is stored.
    pub(crate) fn next(self) -> Self {
        let Self { epoch, counter } = self;
        if counter < MAX_NUMBER {
            let counter = counter + 1;
            Self { epoch, counter }
        } else {
            Self::first(epoch + 1)
        }
    }

    /// The version of a record that begins an epoch, after the one that is stored, or by somebody who knew
    /// of one.
    pub(crate) fn founded(now: u64, after: Option<Self>) -> Self {
        Self::first(after.map_or(now, |after| now.max(after.epoch + 1)))
    }

    fn first(epoch: u64) -> Self {
        Self { epoch, counter: 1 }
    }
}
