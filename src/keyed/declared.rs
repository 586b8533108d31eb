//! The `static` of an attribute with `key`: the key's type can't be named there.

use super::map::Map;
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
    /// Of text, as most keys are: the compiler knows the type, so no call asks for it.
    text: OnceLock<Entered<String, P>>,
    others: Node,
}

/// Breakers for one other type of key, and those for the next.
#[derive(Default)]
struct Node {
    entered: OnceLock<Box<dyn Any + Send + Sync>>,
    next: OnceLock<Box<Node>>,
}

/// Breakers that are in the registry, and whose map is made: who has them looks for
/// neither again.
struct Entered<O: 'static, P: 'static> {
    breakers: &'static KeyedBreakers<O, DefaultClock, P>,
    map: &'static Map<O, DefaultClock, P>,
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
            text: OnceLock::new(),
            others: Node {
                entered: OnceLock::new(),
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
        method: Option<fn() -> Method>,
    ) -> KeyedBreaker<K::Owned, DefaultClock, P>
    where
        K: Key + ?Sized,
    {
        let Entered { breakers, map } = self.entered::<K>(method);
        breakers.get_from(map, key)
    }

    /// The breakers for this type of key, entered at the first call.
    #[inline]
    fn entered<K>(&'static self, method: Option<fn() -> Method>) -> &'static Entered<K::Owned, P>
    where
        K: Key + ?Sized,
    {
        // Known when this is compiled.
        let text = (&self.text as &dyn Any).downcast_ref::<OnceLock<Entered<K::Owned, P>>>();
        if let Some(text) = text {
            return match text.get() {
                Some(entered) => entered,
                None => self.enter_text::<K>(text, method),
            };
        }
        let mut node = &self.others;
        loop {
            let entered = match node.entered.get() {
                // Not of the box, which is `Any` as well.
                Some(entered) => &**entered,
                None => self.enter_other::<K>(node, method),
            };
            match entered.downcast_ref() {
                Some(entered) => return entered,
                None => node = node.next.get_or_init(Box::default),
            }
        }
    }

    #[cold]
    fn enter_text<K>(
        &self,
        text: &'static OnceLock<Entered<K::Owned, P>>,
        method: Option<fn() -> Method>,
    ) -> &'static Entered<K::Owned, P>
    where
        K: Key + ?Sized,
    {
        text.get_or_init(|| self.enter::<K>(method))
    }

    #[cold]
    fn enter_other<K>(
        &self,
        node: &'static Node,
        method: Option<fn() -> Method>,
    ) -> &'static (dyn Any + Send + Sync)
    where
        K: Key + ?Sized,
    {
        &**node
            .entered
            .get_or_init(|| Box::new(self.enter::<K>(method)))
    }

    /// Makes breakers and enters them into the registry, before anybody can use them:
    /// they get their name there.
    fn enter<K>(&self, method: Option<fn() -> Method>) -> Entered<K::Owned, P>
    where
        K: Key + ?Sized,
    {
        let name = match method {
            None => Name::Static(self.name),
            Some(method) => {
                let Method {
                    type_name,
                    function,
                } = method();
                Name::from(crate::registry::method_name(type_name, function))
            }
        };
        let breakers = KeyedBreakers::by_hand(name, self.circuit.fresh(), clock::DEFAULT)
            .max_keys(self.max_keys);
        // For ever, as the static itself.
        let breakers: &'static _ = Box::leak(Box::new(breakers));
        crate::registry::enter_static_keyed(breakers, self.file, self.line);
        Entered {
            breakers,
            map: breakers.map(K::label),
        }
    }
}

impl<P> fmt::Debug for Declared<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Declared")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
