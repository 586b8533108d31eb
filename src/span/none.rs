//! Without the feature `tracing` a call has no span.

use crate::bound::Lent;
use crate::end::End;
use crate::subject::Subject;
use core::time::Duration;

pub(crate) struct CallSpan;

impl CallSpan {
    pub(crate) const NONE: Self = Self;
    pub(crate) const MAY_BE: bool = false;

    #[inline]
    pub(crate) fn of<S: Subject>(_: Lent<'_, S>) -> Self {
        Self
    }

    #[inline]
    pub(crate) fn within<R>(&self, part: impl FnOnce() -> R) -> R {
        part()
    }

    #[inline]
    pub(crate) fn end(self, _: End, _: Duration) {}

    #[inline]
    pub(crate) fn take(&mut self) -> Self {
        Self
    }
}
