//! What can be shared.

use crate::breaker::FleetBreaker;
use crate::keyed::FleetKeyedBreakers;
use breakerbox::{Breaker, Clock, KeyedBreakers, Policy};
use std::sync::Arc;

pub(crate) mod sealed {
    pub trait Sealed {}
}

use sealed::Sealed;

/// What [`Fleet::share`](crate::Fleet::share) takes: a reference to a `static`
/// [`FleetBreaker`], or to one of a breaker that lives as long as it is used (`Arc`, `&'static`).
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a breaker that a fleet can share",
    label = "expected a reference to a `FleetBreaker`",
    note = "of a plain breaker say how it is shared: `FleetBreaker::of(&PMS, Sharing::new())`",
    note = "a breaker that is kept by value must be a `static`: else make it by `FleetBreaker::shared`"
)]
pub trait Share: Sealed {}

/// What [`Fleet::share_keyed`](crate::Fleet::share_keyed) takes, in the same way as [`Share`]: a
/// reference to [`FleetKeyedBreakers`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not breakers by key that a fleet can share",
    label = "expected a reference to `FleetKeyedBreakers`",
    note = "of plain breakers say how they are shared: `FleetKeyedBreakers::of(&HOSTS, Sharing::new())`"
)]
pub trait ShareKeyed: Sealed {}

/// Those of each place that a breaker can be kept in.
macro_rules! places {
    ($($to:ty),*) => {$(
        impl<C, P> Sealed for $to
        where
            C: Clock + Send + Sync + 'static,
            P: Policy + Send + Sync + 'static,
        {
        }

        impl<C, P> Share for $to
        where
            C: Clock + Send + Sync + 'static,
            P: Policy + Send + Sync + 'static,
        {
        }
    )*};
}

places!(
    &'static FleetBreaker<Breaker<C, P>>,
    &FleetBreaker<&'static Breaker<C, P>>,
    &FleetBreaker<Arc<Breaker<C, P>>>,
    &Arc<FleetBreaker<Arc<Breaker<C, P>>>>
);

/// Those of each place that breakers by key can be kept in.
macro_rules! places_keyed {
    ($($to:ty),*) => {$(
        impl<O, C, P> Sealed for $to
        where
            O: Send + Sync + 'static,
            C: Clock + Clone + Send + Sync + 'static,
            P: Policy + Send + Sync + 'static,
        {
        }

        impl<O, C, P> ShareKeyed for $to
        where
            O: Send + Sync + 'static,
            C: Clock + Clone + Send + Sync + 'static,
            P: Policy + Send + Sync + 'static,
        {
        }
    )*};
}

places_keyed!(
    &'static FleetKeyedBreakers<KeyedBreakers<O, C, P>>,
    &FleetKeyedBreakers<&'static KeyedBreakers<O, C, P>>,
    &FleetKeyedBreakers<Arc<KeyedBreakers<O, C, P>>>,
    &Arc<FleetKeyedBreakers<Arc<KeyedBreakers<O, C, P>>>>
);
