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

/// The breaker of a key in breakers from elsewhere.
#[inline]
pub fn keyed_in<O, C, P, K>(breakers: &KeyedBreakers<O, C, P>, key: &K) -> KeyedBreaker<O, C, P>
where
    O: Send + Sync + 'static,
    C: Clock + Clone + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
    K: Key<Owned = O> + ?Sized,
{
    breakers.get(key)
}
