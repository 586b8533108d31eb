//! When a call was admitted, where an observer wants to hear how long it takes.

use crate::bound::{Given, Lent};
use crate::half::Half;
use crate::mark::Mark;
use crate::subject::Subject;
use breaker_core::{Clock, Generation};
use core::time::Duration;

/// When a timed call was admitted, by the exact clock. A call is timed if an observer wants to hear
/// of it when it is admitted. Of one that is not nobody hears: how long it took is not known.
#[derive(Clone, Copy)]
pub(crate) struct Began(Half<u64>);

impl Began {
    pub(crate) const UNKNOWN: Self = Self(Half::of(0));

    /// Whether calls may have to be timed: one untaken branch where no observer wants that.
    #[inline]
    pub(crate) fn is_wanted() -> bool {
        crate::observe::anyone_wants_calls()
    }

    /// Of a call that is admitted now, and begins.
    pub(crate) fn mark<S: Subject>(
        lent: Lent<'_, S>,
        generation: Generation,
        given: Given,
    ) -> (Mark, Self) {
        if Self::is_wanted() && lent.audience().wants_calls() {
            let now = lent.clock_or(given).exact();
            (Mark::timed(generation), Self(Half::of(now)))
        } else {
            (Mark::untimed(generation), Self::UNKNOWN)
        }
    }

    /// By the exact clock.
    pub(crate) fn nanos(self) -> u64 {
        self.0.get()
    }

    /// How long ago that is.
    pub(crate) fn elapsed<S: Subject>(self, lent: Lent<'_, S>, given: Given) -> Duration {
        let now = lent.clock_or(given).exact();
        Duration::from_nanos(now.saturating_sub(self.0.get()))
    }

    /// The same moment as a reading that a caller could have given: a clock may count its exact
    /// readings from another origin.
    pub(crate) fn as_given<S: Subject>(self, lent: Lent<'_, S>) -> Self {
        let clock = lent.clock();
        let (now, exact) = (clock.now(), clock.exact());
        Self(Half::of(
            now.saturating_sub(exact.saturating_sub(self.0.get())),
        ))
    }
}
