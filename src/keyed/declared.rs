//! The `static` of an attribute with `key`: the key's type can't be named there.

use super::{Key, KeyedBreaker, KeyedBreakers};
use crate::__private::Method;
use crate::clock::{self, DefaultClock};
use crate::name::Name;
use breaker_core::{Circuit, Config, Consecutive, Policy, RateConfig, Sliding};
use core::any::Any;
use core::fmt;
use std::sync::OnceLock;

/// Breakers by key whose type is known at the first call. A generic function may
/// have keys of several types: each gets breakers of its own.
pub struct Declared<P: 'static = Consecutive> {
    name: &'static str,
    file: &'static str,
    line: u32,
    max_keys: u32,
    circuit: Circuit<P>,
    first: Node,
}

/// Breakers for one type of key, and those for the next.
#[derive(Default)]
struct Node {
    breakers: OnceLock<Box<dyn Any + Send + Sync>>,
    next: OnceLock<Box<Node>>,
}

impl Declared {
    /// That trip after failures in a row.
    #[must_use]
    pub const fn new(
        name: &'static str,
        file: &'static str,
        line: u32,
        config: Config,
        max_keys: u32,
    ) -> Self {
        Self::of(name, file, line, Circuit::new(config), max_keys)
    }
}

impl<const SLOTS: usize> Declared<Sliding<SLOTS>> {
    /// That trip by rate.
    ///
    /// # Panics
    /// If the window needs more slots; the macros count them.
    #[must_use]
    pub const fn by_rate(
        name: &'static str,
        file: &'static str,
        line: u32,
        config: RateConfig,
        max_keys: u32,
    ) -> Self {
        match Circuit::by_rate(config) {
            Ok(circuit) => Self::of(name, file, line, circuit, max_keys),
            Err(error) => panic!("{}", error.message()),
        }
    }
}

impl<P> Declared<P> {
    const fn of(
        name: &'static str,
        file: &'static str,
        line: u32,
        circuit: Circuit<P>,
        max_keys: u32,
    ) -> Self {
        Self {
            name,
            file,
            line,
            max_keys,
            circuit,
            first: Node {
                breakers: OnceLock::new(),
                next: OnceLock::new(),
            },
        }
    }
}

impl<P: Policy + Send + Sync> Declared<P> {
    /// The breaker of a key.
    #[inline]
    pub fn get<K>(
        &'static self,
        key: &K,
        method: Option<Method>,
    ) -> KeyedBreaker<K::Owned, DefaultClock, P>
    where
        K: Key + ?Sized,
    {
        let mut node = &self.first;
        loop {
            let breakers = node
                .breakers
                .get_or_init(|| Box::new(self.breakers::<K::Owned>(method)));
            match breakers.downcast_ref::<KeyedBreakers<K::Owned, DefaultClock, P>>() {
                Some(breakers) => {
                    crate::registry::enter_static_keyed(breakers, self.file, self.line);
                    return breakers.get(key);
                }
                None => node = node.next.get_or_init(Box::default),
            }
        }
    }

    fn breakers<O: Send + Sync>(
        &self,
        method: Option<Method>,
    ) -> KeyedBreakers<O, DefaultClock, P> {
        let name = match method {
            None => Name::Static(self.name),
            Some(Method {
                type_name,
                function,
            }) => Name::from(crate::registry::method_name(type_name, function)),
        };
        KeyedBreakers::by_hand(name, self.circuit.fresh(), clock::DEFAULT).max_keys(self.max_keys)
    }
}

impl<P> fmt::Debug for Declared<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Declared")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
