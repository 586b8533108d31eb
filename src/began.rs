//! When a call was admitted, where an observer wants to hear how long it takes.

use crate::bound::{Given, Lent};
use crate::subject::Subject;
use breaker_core::Clock;
use core::time::Duration;

/// When a call was admitted, by the exact clock; nothing where no observer wanted to hear of it
/// then. Of such a call nobody hears: how long it took is not known.
#[derive(Clone, Copy)]
pub(crate) struct Began(u64);

impl Began {
    pub(crate) const UNKNOWN: Self = Self(u64::MAX);

    #[inline]
    pub(crate) fn is_known(self) -> bool {
        self.0 != Self::UNKNOWN.0
    }

    /// Now, if an observer wants to hear of the call: one untaken branch where none does.
    #[inline]
    pub(crate) fn now<S: Subject>(lent: Lent<'_, S>, given: Given) -> Self {
        if crate::observe::anyone_wants_calls() {
            Self::now_if_wanted(lent, given)
        } else {
            Self::UNKNOWN
        }
    }

    #[cold]
    #[inline(never)]
    fn now_if_wanted<S: Subject>(lent: Lent<'_, S>, given: Given) -> Self {
        if lent.audience().wants_calls() {
            Self::at(lent.clock_or(given).exact())
        } else {
            Self::UNKNOWN
        }
    }

    /// The last nanosecond that there is counts as the one before.
    fn at(nanos: u64) -> Self {
        Self(nanos.min(u64::MAX - 1))
    }

    /// By the exact clock.
    pub(crate) fn nanos(self) -> u64 {
        self.0
    }

    /// How long ago that is.
    pub(crate) fn elapsed<S: Subject>(self, lent: Lent<'_, S>, given: Given) -> Duration {
        let now = lent.clock_or(given).exact();
        Duration::from_nanos(now.saturating_sub(self.0))
    }

    /// The same moment as a reading that a caller could have given: a clock may count its exact
    /// readings from another origin.
    pub(crate) fn as_given<S: Subject>(self, lent: Lent<'_, S>) -> Self {
        if !self.is_known() {
            return self;
        }
        let clock = lent.clock();
        let (now, exact) = (clock.now(), clock.exact());
        Self::at(now.saturating_sub(exact.saturating_sub(self.0)))
    }
}
