//! `key = ..` without `breaker`.

pub use crate::keyed::{DEFAULT_MAX_KEYS, Declared as Keyed};

use super::Method;
use crate::clock::DefaultClock;
use crate::keyed::{Key, KeyedBreaker};
use breaker_core::{Policy, Sliding};

/// The type of a generated `static` that trips by rate.
pub type KeyedByRate<const SLOTS: usize> = Keyed<Sliding<SLOTS>>;

/// The breaker of a key in a generated `static`.
#[inline]
pub fn keyed<P, K>(
    declared: &'static Keyed<P>,
    key: &K,
    method: Option<fn() -> Method>,
) -> KeyedBreaker<K::Owned, DefaultClock, P>
where
    P: Policy + Send + Sync + 'static,
    K: Key + ?Sized,
{
    declared.get(key, method)
}
