//! `key = ..`.

pub use crate::keyed::{DEFAULT_MAX_KEYS, Declared as Keyed, Method};

use crate::clock::DefaultClock;
use crate::guard::KeyedGuard;
use crate::keyed::{Key, KeyedBreaker, KeyedBreakers};
use breaker_core::{Policy, Sliding};

/// The type of a generated `static` that trips by rate.
pub type KeyedByRate<const SLOTS: usize> = Keyed<Sliding<SLOTS>>;

/// The constant of `max_keys = ..`.
#[must_use]
pub const fn max_keys(max_keys: u32) -> u32 {
    max_keys
}

/// The breaker of a key in a generated `static`.
#[inline]
pub fn keyed<P, K>(
    declared: &'static Keyed<P>,
    key: &K,
    method: Option<Method>,
) -> KeyedBreaker<K::Owned, DefaultClock, P>
where
    P: Policy + Send + Sync + 'static,
    K: Key + ?Sized,
{
    declared.get(key, method)
}

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
    C: breaker_core::Clock + Clone + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
    K: Key<Owned = O> + ?Sized,
{
    breakers.get(key)
}
