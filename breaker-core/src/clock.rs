//! Where time comes from.

use crate::nanos;
use crate::sync::{AtomicU64, Ordering, const_fn};
use core::time::Duration;

/// A source of monotonic time.
///
/// A reading is unsigned nanoseconds since an origin of the clock's own. A
/// reading smaller than an earlier one is taken as "no time has passed".
///
/// ```
/// use breaker_core::Clock;
///
/// /// A tick counter of 1 kHz.
/// struct Ticks(fn() -> u32);
/// impl Clock for Ticks {
///     fn now(&self) -> u64 {
///         u64::from((self.0)()) * 1_000_000
///     }
///     fn resolution(&self) -> u64 {
///         1_000_000
///     }
///     fn entropy(&self) -> Option<u64> {
///         Some(u64::from((self.0)()))
///     }
/// }
/// assert_eq!(Ticks(|| 3).now(), 3_000_000);
/// ```
pub trait Clock {
    /// Nanoseconds since the clock's origin.
    fn now(&self) -> u64;

    /// Nanoseconds by which a reading may lag behind. Added to every wait, so
    /// that none ends early. 0 for an exact clock.
    fn resolution(&self) -> u64 {
        0
    }

    /// Nanoseconds since an origin, as exactly as the platform can: for the
    /// durations of calls, which are measured only where `slow` wants them.
    /// The same as [`now`](Self::now) unless there is a better clock.
    fn exact(&self) -> u64 {
        self.now()
    }

    /// Something that differs from process to process, from which `jitter` is
    /// drawn. `None` says that this is a clock for tests: the default jitter is
    /// then off, and one that was set repeats from run to run (see
    /// [`Settings::jitter_seed`](crate::Settings::jitter_seed)).
    fn entropy(&self) -> Option<u64>;
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> u64 {
        (**self).now()
    }

    fn resolution(&self) -> u64 {
        (**self).resolution()
    }

    fn exact(&self) -> u64 {
        (**self).exact()
    }

    fn entropy(&self) -> Option<u64> {
        (**self).entropy()
    }
}

/// One reading, given by hand: the clock of [`Circuit::admit_at`] and of other
/// calls with an explicit time. Exact, and without entropy.
///
/// [`Circuit::admit_at`]: crate::Circuit::admit_at
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reading(
    /// Nanoseconds since the origin of the caller's clock.
    pub u64,
);

impl Clock for Reading {
    fn now(&self) -> u64 {
        self.0
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

/// A clock for tests: it stands still until it is set, to any value, also
/// backwards.
///
/// ```
/// use breaker_core::{Clock, ManualClock};
/// use core::time::Duration;
///
/// static CLOCK: ManualClock = ManualClock::new(0);
/// CLOCK.advance(Duration::from_millis(5));
/// assert_eq!(CLOCK.now(), 5_000_000);
/// CLOCK.set(7);
/// assert_eq!(CLOCK.now(), 7);
/// ```
#[derive(Debug, Default)]
pub struct ManualClock {
    nanos: AtomicU64,
}

impl ManualClock {
    const_fn! {
        /// A clock that reads `nanos` nanoseconds.
        #[must_use]
        pub const fn new(nanos: u64) -> Self {
            Self {
                nanos: AtomicU64::new(nanos),
            }
        }
    }

    /// Sets the reading to `nanos` nanoseconds.
    pub fn set(&self, nanos: u64) {
        self.nanos.store(nanos, Ordering::Release);
    }

    /// Moves the reading on by `by`; it stops at `u64::MAX` nanoseconds.
    pub fn advance(&self, by: Duration) {
        let by = nanos::saturating(by);
        let moved = |nanos: u64| Some(nanos.saturating_add(by));
        // The closure never gives `None`, so this can't fail.
        let _ = self
            .nanos
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, moved);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> u64 {
        self.nanos.load(Ordering::Acquire)
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}
