//! Without std there are no observers: nobody wants to hear how long a call takes.

use crate::bound::{Given, Lent};
use crate::mark::Mark;
use crate::subject::Subject;
use breaker_core::Generation;
use core::time::Duration;

#[derive(Clone, Copy)]
pub(crate) struct Began;

impl Began {
    pub(crate) const UNKNOWN: Self = Self;

    #[inline]
    pub(crate) fn is_wanted() -> bool {
        false
    }

    #[inline]
    pub(crate) fn mark<S: Subject>(
        _: Lent<'_, S>,
        generation: Generation,
        _: Given,
    ) -> (Mark, Self) {
        (Mark::untimed(generation), Self)
    }

    pub(crate) fn elapsed<S: Subject>(self, _: Lent<'_, S>, _: Given) -> Duration {
        Duration::ZERO
    }

    pub(crate) fn as_given<S: Subject>(self, _: Lent<'_, S>) -> Self {
        self
    }
}
