//! Which breaker guards a request: always the same, or one by a key of the request.

use super::host::of_request;
use crate::guard::KeyedGuard;
use crate::keyed::{Key, KeyedBreaker};
use crate::owner::Owner;
use core::fmt;
use core::marker::PhantomData;

/// What finds the breaker of a request: a breaker ([`Owner`]), [`ByKey`],
/// [`ByOwnedKey`], [`ByHost`]. Sealed.
pub trait Which: sealed::Which {}

impl<B: sealed::Which> Which for B {}

/// A [`Which`] that knows this kind of request. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` finds no breaker for a `{Req}`",
    label = "the key is read from another type of request",
    note = "`by_host` takes an `http::Request` (with the feature `reqwest` also a `reqwest::Request`); `by_key` and `by_owned_key` that of their closure's argument"
)]
pub trait Finds<Req>: sealed::Finds<Req> {}

impl<Req, B: sealed::Finds<Req>> Finds<Req> for B {}

pub(crate) mod sealed {
    use crate::owner::Owner;

    pub trait Which: Clone {
        type Owner: Owner;

        /// The breaker, where it is known before the request.
        fn known(&self) -> Option<&Self::Owner>;
    }

    pub trait Finds<Req>: Which {
        fn find(&self, request: &Req) -> Self::Owner;
    }
}

impl<G: Owner> sealed::Which for G {
    type Owner = G;

    #[inline]
    fn known(&self) -> Option<&G> {
        Some(self)
    }
}

impl<Req, G: Owner> sealed::Finds<Req> for G {
    #[inline]
    fn find(&self, _: &Req) -> G {
        self.clone()
    }
}

type BreakerOf<B> =
    KeyedBreaker<<B as KeyedGuard>::Key, <B as KeyedGuard>::Clock, <B as KeyedGuard>::Policy>;

/// By a key that the request lends: made by
/// [`CircuitBreakerLayer::by_key`](super::CircuitBreakerLayer::by_key).
pub struct ByKey<B, F, Q: ?Sized> {
    breakers: B,
    key: F,
    lent: PhantomData<fn(&Q)>,
}

/// By a key that is made of the request: made by
/// [`CircuitBreakerLayer::by_owned_key`](super::CircuitBreakerLayer::by_owned_key).
#[derive(Clone, Copy)]
pub struct ByOwnedKey<B, F> {
    breakers: B,
    key: F,
}

/// By the host of an `http::Request` (or `reqwest::Request`): made by
/// [`CircuitBreakerLayer::by_host`](super::CircuitBreakerLayer::by_host).
#[derive(Clone, Copy)]
pub struct ByHost<B> {
    breakers: B,
}

impl<B, F, Q: ?Sized> ByKey<B, F, Q> {
    pub(crate) fn new(breakers: B, key: F) -> Self {
        Self {
            breakers,
            key,
            lent: PhantomData,
        }
    }
}

impl<B, F> ByOwnedKey<B, F> {
    pub(crate) fn new(breakers: B, key: F) -> Self {
        Self { breakers, key }
    }
}

impl<B> ByHost<B> {
    pub(crate) const fn new(breakers: B) -> Self {
        Self { breakers }
    }

    fn breaker_of(&self, host: &str) -> BreakerOf<B>
    where
        B: KeyedGuard<Key = String>,
    {
        self.breakers.breakers().get(host)
    }
}

/// The breaker isn't known before the request.
macro_rules! known_by_the_request {
    ($way:ty, $($parameter:ident),* $(; $unsized:ident)?) => {
        impl<B, $($parameter,)* $($unsized: ?Sized)?> sealed::Which for $way
        where
            B: KeyedGuard + Clone,
            $($parameter: Clone,)*
        {
            type Owner = BreakerOf<B>;

            #[inline]
            fn known(&self) -> Option<&Self::Owner> {
                None
            }
        }

        impl<B: KeyedGuard, $($parameter,)* $($unsized: ?Sized)?> fmt::Debug for $way {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self.breakers.breakers(), f)
            }
        }
    };
}

known_by_the_request!(ByKey<B, F, Q>, F; Q);
known_by_the_request!(ByOwnedKey<B, F>, F);
known_by_the_request!(ByHost<B>,);

impl<Req, B, F, Q> sealed::Finds<Req> for ByKey<B, F, Q>
where
    B: KeyedGuard + Clone,
    F: Fn(&Req) -> &Q + Clone,
    Q: Key<Owned = B::Key> + ?Sized,
{
    #[inline]
    fn find(&self, request: &Req) -> Self::Owner {
        self.breakers.breakers().get((self.key)(request))
    }
}

impl<Req, B, F, Q> sealed::Finds<Req> for ByOwnedKey<B, F>
where
    B: KeyedGuard + Clone,
    F: Fn(&Req) -> Q + Clone,
    Q: Key<Owned = B::Key>,
{
    #[inline]
    fn find(&self, request: &Req) -> Self::Owner {
        self.breakers.breakers().get(&(self.key)(request))
    }
}

impl<Body, B> sealed::Finds<http::Request<Body>> for ByHost<B>
where
    B: KeyedGuard<Key = String> + Clone,
{
    #[inline]
    fn find(&self, request: &http::Request<Body>) -> Self::Owner {
        self.breaker_of(&of_request(request.uri(), request.headers()))
    }
}

#[cfg(feature = "reqwest")]
impl<B> sealed::Finds<reqwest::Request> for ByHost<B>
where
    B: KeyedGuard<Key = String> + Clone,
{
    #[inline]
    fn find(&self, request: &reqwest::Request) -> Self::Owner {
        self.breaker_of(super::host::of_url(request.url()))
    }
}

impl<B: Clone, F: Clone, Q: ?Sized> Clone for ByKey<B, F, Q> {
    fn clone(&self) -> Self {
        Self::new(self.breakers.clone(), self.key.clone())
    }
}
