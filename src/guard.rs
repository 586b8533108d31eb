//! What can stand in `breaker = ..`.

use crate::breaker::Breaker;
#[cfg(feature = "std")]
use crate::keyed::{KeyedBreaker, KeyedBreakers};
use crate::subject::Subject;
use breaker_core::{Clock, Policy};
#[cfg(feature = "std")]
use std::sync::Arc;

/// What can stand in the attribute's `breaker = ..`: a [`Breaker`], a
/// `KeyedBreaker`, or a reference or `Arc` that leads to one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a breaker",
    label = "`breaker = ..` takes a `Breaker`, or a reference or `Arc` of one",
    note = "declare one by `breaker! {{ static PMS = {{ threshold: 5 }} }}`, or keep one of `Breaker::shared` in the client",
    note = "of breakers by key, say which: `key = ..` beside it"
)]
pub trait Guard {
    /// The breaker, borrowed.
    type Subject<'a>: Subject
    where
        Self: 'a;

    /// The breaker that guards the call.
    fn subject(&self) -> Self::Subject<'_>;
}

impl<C, P> Guard for Breaker<C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    type Subject<'a> = &'a Self;

    #[inline]
    fn subject(&self) -> &Self {
        self
    }
}

#[cfg(feature = "std")]
impl<O, C, P> Guard for KeyedBreaker<O, C, P>
where
    O: Send + Sync + 'static,
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    type Subject<'a> = &'a Self;

    #[inline]
    fn subject(&self) -> &Self {
        self
    }
}

/// What leads to a breaker.
macro_rules! leads_to_one {
    ($($way:ty),*) => {$(
        impl<G: Guard + ?Sized> Guard for $way {
            type Subject<'a>
                = G::Subject<'a>
            where
                Self: 'a;

            #[inline]
            fn subject(&self) -> G::Subject<'_> {
                (**self).subject()
            }
        }
    )*};
}

leads_to_one!(&G, &mut G);
#[cfg(feature = "std")]
leads_to_one!(Arc<G>, Box<G>);

/// What can stand in the attribute's `breaker = ..` beside `key`:
/// [`KeyedBreakers`], or a reference or `Arc` that leads to them.
#[cfg(feature = "std")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no breaker for each key",
    label = "`breaker = ..` beside `key` takes `KeyedBreakers`, or a reference or `Arc` of them",
    note = "declare them by `static HOSTS: KeyedBreakers<String> = KeyedBreakers::new(\"hosts\", config)`",
    note = "or leave `key` out, if one breaker guards all calls"
)]
pub trait KeyedGuard {
    /// The key as it is kept.
    type Key: Send + Sync + 'static;
    /// The breakers' clock.
    type Clock: Clock + Clone + Send + Sync + 'static;
    /// The breakers' policy.
    type Policy: Policy + Send + Sync + 'static;

    /// The breakers of which one guards the call.
    fn breakers(&self) -> &KeyedBreakers<Self::Key, Self::Clock, Self::Policy>;
}

#[cfg(feature = "std")]
impl<O, C, P> KeyedGuard for KeyedBreakers<O, C, P>
where
    O: Send + Sync + 'static,
    C: Clock + Clone + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    type Key = O;
    type Clock = C;
    type Policy = P;

    #[inline]
    fn breakers(&self) -> &Self {
        self
    }
}

/// What leads to breakers by key.
#[cfg(feature = "std")]
macro_rules! leads_to_several {
    ($($way:ty),*) => {$(
        impl<G: KeyedGuard + ?Sized> KeyedGuard for $way {
            type Key = G::Key;
            type Clock = G::Clock;
            type Policy = G::Policy;

            #[inline]
            fn breakers(&self) -> &KeyedBreakers<G::Key, G::Clock, G::Policy> {
                (**self).breakers()
            }
        }
    )*};
}

#[cfg(feature = "std")]
leads_to_several!(&G, &mut G, Arc<G>, Box<G>);
