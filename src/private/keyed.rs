//! `key = ..` beside `breaker = ..`.

use crate::guard::KeyedGuard;
use crate::keyed::{Key, KeyedBreaker, KeyedBreakers};
use breaker_core::{Clock, Policy};

/// The breakers of `breaker = ..` beside `key`.
#[inline]
pub fn breakers<G>(guard: &G) -> &KeyedBreakers<G::Key, G::Clock, G::Policy>
where
    G: KeyedGuard + ?Sized,
{
    guard.breakers()
}

/// A key of breakers that are kept by `O`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key of these breakers, which are kept by `{O}`",
    label = "expected a key that is kept as `{O}`",
    note = "text is kept as `String`, a number as itself, a reference as what it leads to: make one of it, as in `key = id.to_string()`",
    note = "or declare the breakers by another key: `KeyedBreakers<String>`, `KeyedBreakers<u64>`",
    note = "for a type of your own write `impl breakerbox::Key for {Self}`"
)]
pub trait KeyOf<O>: Key<Owned = O> {}

#[diagnostic::do_not_recommend]
impl<O, K: Key<Owned = O> + ?Sized> KeyOf<O> for K {}

/// The breaker of a key in breakers from elsewhere.
#[inline]
pub fn keyed_in<O, C, P, K>(breakers: &KeyedBreakers<O, C, P>, key: &K) -> KeyedBreaker<O, C, P>
where
    O: Send + Sync + 'static,
    C: Clock + Clone + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
    K: KeyOf<O> + ?Sized,
{
    breakers.get(key)
}

/// The key as the breaker keeps it.
#[inline]
pub fn key_of<O, C, P>(breaker: &KeyedBreaker<O, C, P>) -> &O
where
    O: Send + Sync,
    C: Clock + Send + Sync,
    P: Policy + Send + Sync,
{
    breaker.key()
}
