//! Without std there are no observers: nobody wants to hear how long a call takes.

use crate::bound::{Given, Lent};
use crate::subject::Subject;
use core::time::Duration;

#[derive(Clone, Copy)]
pub(crate) struct Began;

impl Began {
    pub(crate) const UNKNOWN: Self = Self;

    #[inline]
    pub(crate) fn now<S: Subject>(_: Lent<'_, S>, _: Given) -> Self {
        Self
    }

    #[inline]
    pub(crate) fn is_known(self) -> bool {
        false
    }

    pub(crate) fn elapsed<S: Subject>(self, _: Lent<'_, S>, _: Given) -> Duration {
        Duration::ZERO
    }

    pub(crate) fn as_given<S: Subject>(self, _: Lent<'_, S>) -> Self {
        self
    }
}
