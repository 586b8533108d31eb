//! The samples of which a rate is taken.

use crate::nanos::{self, Nanos};
#[cfg(not(one_thread))]
use crate::rate::Span;
use core::time::Duration;

/// The largest count window: 4,095 calls.
pub const MAX_WINDOW_CALLS: u32 = crate::rate::MAX_CALLS;

/// The most buckets of a window of time: 128.
pub const MAX_BUCKETS: u32 = 128;

/// The samples of which a rate is taken.
///
/// ```
/// use breaker_core::Window;
/// use core::time::Duration;
///
/// const LAST_HUNDRED_CALLS: Window = Window::calls(100);
/// const LAST_TEN_SECONDS: Window = Window::time(Duration::from_secs(10)).buckets(20);
/// assert_eq!(LAST_HUNDRED_CALLS.slots(), 8);
/// assert_eq!(LAST_TEN_SECONDS.slots(), 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window(pub(crate) Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Calls(u32),
    Time { length: Nanos, buckets: u32 },
}

impl Window {
    /// The last so many calls: 1 to [`MAX_WINDOW_CALLS`].
    #[must_use]
    pub const fn calls(calls: u32) -> Self {
        Self(Kind::Calls(calls))
    }

    /// The last so much time, in 10 buckets; at least a millisecond for each.
    #[must_use]
    pub const fn time(length: Duration) -> Self {
        Self::of_time(nanos::checked(length))
    }

    /// [`time`](Self::time), in nanoseconds.
    #[doc(hidden)]
    #[must_use]
    pub const fn nanos(length: u64) -> Self {
        Self::of_time(Some(length))
    }

    const fn of_time(length: Nanos) -> Self {
        Self(Kind::Time {
            length,
            buckets: 10,
        })
    }

    /// How many buckets a window of time has, 1 to [`MAX_BUCKETS`]: it moves on
    /// by a bucket at a time. Means nothing to a window of calls.
    #[must_use]
    pub const fn buckets(self, buckets: u32) -> Self {
        match self.0 {
            Kind::Calls(_) => self,
            Kind::Time { length, .. } => Self(Kind::Time { length, buckets }),
        }
    }

    #[cfg(not(one_thread))]
    pub(crate) const fn of(span: Span) -> Self {
        Self(match span {
            Span::Calls(calls) => Kind::Calls(calls),
            Span::Time { width, buckets } => Kind::Time {
                length: Some(width.get().saturating_mul(buckets.get())),
                // At most 128.
                buckets: buckets.get() as u32,
            },
        })
    }

    /// Of how many calls it is; `None` for one of time.
    ///
    /// ```
    /// use breaker_core::Window;
    /// use core::time::Duration;
    ///
    /// let (calls, time) = (Window::calls(100), Window::time(Duration::from_secs(10)));
    /// assert_eq!((calls.as_calls(), calls.as_time()), (Some(100), None));
    /// assert_eq!((time.as_calls(), time.as_time()), (None, Some(Duration::from_secs(10))));
    /// ```
    #[must_use]
    pub const fn as_calls(self) -> Option<u32> {
        match self.0 {
            Kind::Calls(calls) => Some(calls),
            Kind::Time { .. } => None,
        }
    }

    /// How long it is; `None` for one of calls, or longer than 584 years.
    #[must_use]
    pub const fn as_time(self) -> Option<Duration> {
        match self.0 {
            Kind::Time {
                length: Some(nanos),
                ..
            } => Some(Duration::from_nanos(nanos)),
            Kind::Calls(_) | Kind::Time { length: None, .. } => None,
        }
    }

    /// How many slots, of 8 bytes each, a [`Sliding`](crate::Sliding) needs for
    /// it: one for 14 calls, or one for each bucket.
    #[must_use]
    pub const fn slots(self) -> usize {
        match self.0 {
            Kind::Calls(calls) => crate::rate::slots_for(calls),
            Kind::Time { buckets, .. } => buckets as usize,
        }
    }
}
