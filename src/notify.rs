//! The way from a breaker to the observers: nothing where there are none.

use crate::error::Refused;
use crate::subject::Subject;
use breaker_core::{Change, Generation};

/// What a served fallback stands in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InPlaceOf {
    /// A refused call.
    Open,
    /// A counted failure.
    Failed,
    /// An answer that took too long.
    TimedOut,
}

impl InPlaceOf {
    /// Its name in logs and metrics: `open`, `failed` or `timed_out`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
        }
    }
}

/// Who hears of an event: the observers of the process, or those of a test scope.
#[derive(Clone, Copy)]
pub(crate) struct Audience<'a> {
    #[cfg(feature = "test-util")]
    scope: Option<&'a crate::test::Scope>,
    #[cfg(not(feature = "test-util"))]
    process: core::marker::PhantomData<&'a ()>,
}

#[cfg(feature = "test-util")]
impl<'a> Audience<'a> {
    pub(crate) fn of_process() -> Self {
        Self { scope: None }
    }

    pub(crate) fn of_scope(scope: &'a crate::test::Scope) -> Self {
        Self { scope: Some(scope) }
    }

    pub(crate) fn scope(self) -> Option<&'a crate::test::Scope> {
        self.scope
    }
}

#[cfg(not(feature = "test-util"))]
impl Audience<'_> {
    pub(crate) fn of_process() -> Self {
        Self {
            process: core::marker::PhantomData,
        }
    }
}

#[cfg(feature = "std")]
impl Audience<'_> {
    #[inline]
    pub(crate) fn state_changed<S: Subject>(self, subject: &S, change: &Change) {
        if crate::observe::anyone() {
            crate::observe::state_changed(self, &subject.name(), change);
        }
    }

    #[inline]
    pub(crate) fn rejected<S: Subject>(
        self,
        subject: &S,
        refused: Refused,
        generation: Generation,
    ) {
        if crate::observe::anyone() {
            crate::observe::rejected(self, subject.name(), refused, generation);
        }
    }

    #[inline]
    pub(crate) fn fallback_served<S: Subject>(
        self,
        subject: &S,
        generation: Generation,
        in_place_of: InPlaceOf,
    ) {
        if crate::observe::anyone() {
            crate::observe::fallback_served(self, &subject.name(), generation, in_place_of);
        }
    }

    pub(crate) fn key_evicted(self, name: &crate::name::Name) {
        if crate::observe::anyone() {
            crate::observe::key_evicted(self, name);
        }
    }

    pub(crate) fn keys_full(self, name: &crate::name::Name) {
        if crate::observe::anyone() {
            crate::observe::keys_full(self, name);
        }
    }

    #[cfg(all(
        feature = "last-good",
        any(
            feature = "js",
            not(all(target_family = "wasm", target_os = "unknown"))
        )
    ))]
    pub(crate) fn last_good_failed<S: Subject>(
        self,
        subject: &S,
        step: crate::observe::LastGoodStep,
        error: &(dyn core::error::Error + 'static),
    ) {
        if crate::observe::anyone() {
            crate::observe::last_good_failed(self, &subject.name(), step, error);
        }
    }

    #[inline]
    pub(crate) fn would_trip<S: Subject>(self, subject: &S, change: &Change) {
        if crate::observe::anyone() {
            crate::observe::would_trip(self, &subject.name(), change);
        }
    }
}

/// Without std there are no observers.
#[cfg(not(feature = "std"))]
impl Audience<'_> {
    pub(crate) fn state_changed<S: Subject>(self, _: &S, _: &Change) {}

    pub(crate) fn rejected<S: Subject>(self, _: &S, _: Refused, _: Generation) {}

    pub(crate) fn fallback_served<S: Subject>(self, _: &S, _: Generation, _: InPlaceOf) {}

    pub(crate) fn would_trip<S: Subject>(self, _: &S, _: &Change) {}
}
