//! What a call can own that outlives its caller: a way to a breaker that is kept.

use crate::breaker::Breaker;
use crate::keyed::KeyedBreaker;
use breaker_core::{Clock, Policy};
use std::sync::Arc;

/// What leads to a breaker and may be kept for any time: `&'static Breaker`,
/// `Arc<Breaker>`, [`KeyedBreaker`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not lead to a breaker for any time",
    label = "expected `&'static Breaker`, `Arc<Breaker>` or `KeyedBreaker`",
    note = "declare one by `breaker! {{ static PMS = {{ threshold: 5 }} }}` and write `&PMS`, or keep one of `Breaker::shared`"
)]
pub trait Owner: sealed::Owner {}

impl<G: sealed::Owner> Owner for G {}

pub(crate) mod sealed {
    use crate::subject::Subject;
    use breaker_core::{Clock, Policy};

    #[diagnostic::on_unimplemented(
        message = "`{Self}` leads to no breaker of this call",
        label = "no breaker is found",
        note = "expected `&'static Breaker`, `Arc<Breaker>` or `KeyedBreaker`; in a layer also `by_host`, for requests of `http` or `reqwest`, or `by_key`, for requests of its closure's argument"
    )]
    pub trait Owner: Clone + Send + Sync + Unpin + 'static {
        type Clock: Clock + Send + Sync + 'static;
        type Policy: Policy + Send + Sync + 'static;
        type Subject<'a>: Subject<Clock = Self::Clock, Policy = Self::Policy>
        where
            Self: 'a;

        /// The breaker, borrowed.
        fn subject(&self) -> Self::Subject<'_>;
    }
}

macro_rules! leads_to_a_breaker {
    ($($way:ty),*) => {$(
        impl<C, P> sealed::Owner for $way
        where
            C: Clock + Send + Sync + 'static,
            P: Policy + Send + Sync + 'static,
        {
            type Clock = C;
            type Policy = P;
            type Subject<'a> = &'a Breaker<C, P>;

            #[inline]
            fn subject(&self) -> &Breaker<C, P> {
                self
            }
        }
    )*};
}

leads_to_a_breaker!(&'static Breaker<C, P>, Arc<Breaker<C, P>>);

impl<O, C, P> sealed::Owner for KeyedBreaker<O, C, P>
where
    O: Send + Sync + 'static,
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    type Clock = C;
    type Policy = P;
    type Subject<'a> = &'a Self;

    #[inline]
    fn subject(&self) -> &Self {
        self
    }
}
