//! A guarded call's span for the `tracing` crate.

use crate::bound::Lent;
use crate::end::End;
use crate::observe::{CallOutcome, forget_panic};
use crate::subject::Subject;
use core::time::Duration;
use std::panic::{RefUnwindSafe, UnwindSafe};
use tracing::field::Empty;
use tracing::{Level, Span};

/// The span of a call, from its admission to its end; none where no observer wanted one then.
///
/// What a subscriber panics at ends here: the call goes on. The span itself stands elsewhere, so
/// that a future which has none is larger by a pointer alone.
pub(crate) struct CallSpan(Option<Box<Span>>);

/// A subscriber that has panicked is left as it is by all that use it, and no call depends on it.
impl UnwindSafe for CallSpan {}
impl RefUnwindSafe for CallSpan {}

impl CallSpan {
    pub(crate) const NONE: Self = Self(None);
    /// A timed call may have one.
    pub(crate) const MAY_BE: bool = true;

    /// For a call that begins now, if an observer wants one.
    #[cold]
    #[inline(never)]
    pub(crate) fn of<S: Subject>(lent: Lent<'_, S>) -> Self {
        let mut span = Self::NONE;
        if lent.audience().wants_spans() {
            forget_panic(|| span = Self::open(lent));
        }
        span
    }

    fn open<S: Subject>(lent: Lent<'_, S>) -> Self {
        let name = lent.subject().name();
        let span = tracing::span!(
            target: "breakerbox",
            Level::INFO,
            "breaker.call",
            breaker = name.as_str(),
            key = name.key().map(tracing::field::display),
            outcome = Empty,
            took_seconds = Empty,
        );
        // Filtered out, it is as if nobody had wanted one.
        Self((!span.is_disabled()).then(|| Box::new(span)))
    }

    /// Runs a part of the call in it.
    #[inline]
    pub(crate) fn within<R>(&self, part: impl FnOnce() -> R) -> R {
        let _entered = self.0.as_deref().map(Entered::new);
        part()
    }

    /// The call has ended.
    pub(crate) fn end(self, end: End, took: Duration) {
        if let Some(span) = &self.0 {
            forget_panic(|| {
                // Both at once: a subscriber that writes JSON takes what it has of the span apart and
                // puts it together again each time.
                tracing::record_all!(
                    span,
                    outcome = CallOutcome::from(end).as_str(),
                    took_seconds = took.as_secs_f64()
                );
            });
        }
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Self {
        Self(self.0.take())
    }
}

impl Drop for CallSpan {
    #[inline]
    fn drop(&mut self) {
        if let Some(span) = self.0.take() {
            forget_panic(|| drop(span));
        }
    }
}

/// Left when it is dropped.
struct Entered<'a>(&'a Span);

impl<'a> Entered<'a> {
    #[cold]
    fn new(span: &'a Span) -> Self {
        forget_panic(|| {
            span.with_subscriber(|(id, subscriber)| subscriber.enter(id));
        });
        Self(span)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        forget_panic(|| {
            self.0
                .with_subscriber(|(id, subscriber)| subscriber.exit(id));
        });
    }
}
