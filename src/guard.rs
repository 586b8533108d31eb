//! What can stand in `breaker = ..`.

use crate::breaker::Breaker;
use breaker_core::{Clock, Policy};
#[cfg(feature = "std")]
use std::sync::Arc;

/// What can stand in the attribute's `breaker = ..`: a [`Breaker`], or a
/// reference or `Arc` that leads to one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a breaker",
    label = "`breaker = ..` takes a `Breaker`, or a reference or `Arc` of one",
    note = "declare one by `breaker! {{ static PMS = {{ threshold: 5 }} }}`, or keep one of `Breaker::shared` in the client"
)]
pub trait Guard {
    /// The breaker's clock.
    type Clock: Clock + Send + Sync + 'static;
    /// The breaker's policy.
    type Policy: Policy + Send + Sync + 'static;

    /// The breaker that guards the call.
    fn breaker(&self) -> &Breaker<Self::Clock, Self::Policy>;
}

impl<C, P> Guard for Breaker<C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    type Clock = C;
    type Policy = P;

    #[inline]
    fn breaker(&self) -> &Self {
        self
    }
}

impl<G: Guard + ?Sized> Guard for &G {
    type Clock = G::Clock;
    type Policy = G::Policy;

    #[inline]
    fn breaker(&self) -> &Breaker<G::Clock, G::Policy> {
        (**self).breaker()
    }
}

impl<G: Guard + ?Sized> Guard for &mut G {
    type Clock = G::Clock;
    type Policy = G::Policy;

    #[inline]
    fn breaker(&self) -> &Breaker<G::Clock, G::Policy> {
        (**self).breaker()
    }
}

#[cfg(feature = "std")]
impl<G: Guard + ?Sized> Guard for Arc<G> {
    type Clock = G::Clock;
    type Policy = G::Policy;

    #[inline]
    fn breaker(&self) -> &Breaker<G::Clock, G::Policy> {
        (**self).breaker()
    }
}

#[cfg(feature = "std")]
impl<G: Guard + ?Sized> Guard for Box<G> {
    type Clock = G::Clock;
    type Policy = G::Policy;

    #[inline]
    fn breaker(&self) -> &Breaker<G::Clock, G::Policy> {
        (**self).breaker()
    }
}
