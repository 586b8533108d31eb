//! The way from a breaker to the observers: nothing where there are none.

use crate::error::CircuitOpenError;
use crate::name::Name;
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

#[cfg(feature = "std")]
#[inline]
pub(crate) fn state_changed(name: &Name, change: &Change) {
    if crate::observe::anyone() {
        crate::observe::state_changed(name, change);
    }
}

#[cfg(feature = "std")]
#[inline]
pub(crate) fn rejected(refused: &CircuitOpenError, generation: Generation) {
    if crate::observe::anyone() {
        crate::observe::rejected(refused, generation);
    }
}

#[cfg(feature = "std")]
#[inline]
pub(crate) fn fallback_served(name: &Name, generation: Generation, in_place_of: InPlaceOf) {
    if crate::observe::anyone() {
        crate::observe::fallback_served(name, generation, in_place_of);
    }
}

#[cfg(feature = "std")]
#[inline]
pub(crate) fn would_trip(name: &Name, generation: Generation, failures: u32) {
    if crate::observe::anyone() {
        crate::observe::would_trip(name, generation, failures);
    }
}

#[cfg(not(feature = "std"))]
pub(crate) fn would_trip(_: &Name, _: Generation, _: u32) {}

#[cfg(not(feature = "std"))]
pub(crate) fn state_changed(_: &Name, _: &Change) {}

#[cfg(not(feature = "std"))]
pub(crate) fn rejected(_: &CircuitOpenError, _: Generation) {}

#[cfg(not(feature = "std"))]
pub(crate) fn fallback_served(_: &Name, _: Generation, _: InPlaceOf) {}
