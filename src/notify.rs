//! The way from a breaker to the observers: nothing where there are none.

use crate::breaker::Breaker;
use crate::error::Refused;
use crate::name::Name;
use breaker_core::{Change, Generation, Policy};

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
    pub(crate) fn state_changed(self, name: &Name, change: &Change) {
        if crate::observe::anyone() {
            crate::observe::state_changed(self, name, change);
        }
    }

    #[inline]
    pub(crate) fn rejected<C, P: Policy>(
        self,
        breaker: &Breaker<C, P>,
        refused: Refused,
        generation: Generation,
    ) {
        if crate::observe::anyone() {
            crate::observe::rejected(self, breaker.label(), refused, generation);
        }
    }

    #[inline]
    pub(crate) fn fallback_served(
        self,
        name: &Name,
        generation: Generation,
        in_place_of: InPlaceOf,
    ) {
        if crate::observe::anyone() {
            crate::observe::fallback_served(self, name, generation, in_place_of);
        }
    }

    #[inline]
    pub(crate) fn would_trip(self, name: &Name, change: &Change) {
        if crate::observe::anyone() {
            crate::observe::would_trip(self, name, change);
        }
    }
}

/// Without std there are no observers.
#[cfg(not(feature = "std"))]
impl Audience<'_> {
    pub(crate) fn state_changed(self, _: &Name, _: &Change) {}

    pub(crate) fn rejected<C, P: Policy>(self, _: &Breaker<C, P>, _: Refused, _: Generation) {}

    pub(crate) fn fallback_served(self, _: &Name, _: Generation, _: InPlaceOf) {}

    pub(crate) fn would_trip(self, _: &Name, _: &Change) {}
}
