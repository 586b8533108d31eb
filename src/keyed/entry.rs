//! One key's circuit, and what it has in common with the others.

use super::one::KeyedBreaker;
use crate::AnyBreaker;
use crate::breaker::Breaker;
use crate::last_change::Noted;
use crate::link::{Keeping, Kept};
use crate::name::{Name, OfKey};
use crate::observe::CircuitId;
use breaker_core::{BareCircuit, CircuitRef, Clock, Overrides, Policy, ReconfigureError, State};
use core::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

/// A key and its circuit: beside the key 40 bytes, and what the policy keeps.
pub(crate) struct Entry<O, C: 'static, P: 'static> {
    pub(super) circuit: BareCircuit<P>,
    pub(super) noted: Noted,
    pub(super) group: Arc<Group<O, C, P>>,
    pub(super) key: O,
    pub(super) hash: u32,
    /// Used again since the hand passed that looks for keys to give up.
    used: AtomicBool,
    /// Not in the map: nobody finds it again.
    is_stray: AtomicBool,
    /// It was in the map, and is no more.
    is_given_up: AtomicBool,
}

/// What all keys have in common.
pub(crate) struct Group<O, C: 'static, P: 'static> {
    /// Name, clock and settings. Its own circuit is never used.
    pub(super) template: Breaker<C, P>,
    pub(super) label: Label<O>,
    /// Held while a key is given up, and for a moment by who comes by a key's breaker through what its
    /// [link](crate::link) keeps of it: so neither misses the other.
    pub(super) giving_up: RwLock<()>,
}

impl<O, C, P> Group<O, C, P> {
    pub(super) fn new(template: Breaker<C, P>, label: Label<O>) -> Self {
        Self {
            template,
            label,
            giving_up: RwLock::new(()),
        }
    }
}

impl<O, C, P: Policy> Group<O, C, P> {
    /// For the circuits of all keys.
    pub(super) fn reconfigure(&self, overrides: &Overrides) -> Result<(), ReconfigureError> {
        self.template.own_circuit().reconfigure(overrides).map(drop)
    }
}

pub(super) type Label<O> = fn(&O, &mut fmt::Formatter<'_>) -> fmt::Result;

impl<O, C, P: Policy> Entry<O, C, P> {
    pub(super) fn new(group: &Arc<Group<O, C, P>>, key: O, hash: u32) -> Self {
        Self {
            circuit: group.template.own_circuit().fresh_bare(),
            noted: Noted::new(),
            group: Arc::clone(group),
            key,
            hash,
            used: AtomicBool::new(false),
            is_stray: AtomicBool::new(false),
            is_given_up: AtomicBool::new(false),
        }
    }

    #[inline]
    pub(super) fn touch(&self) {
        if !self.used.load(Ordering::Relaxed) {
            self.used.store(true, Ordering::Relaxed);
        }
    }

    /// There is no room for it.
    pub(super) fn stray(&self) {
        self.is_stray.store(true, Ordering::Relaxed);
    }

    pub(super) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }

    /// Whether it was used since this was last asked.
    pub(super) fn was_used(&self) -> bool {
        self.used.swap(false, Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn circuit(&self) -> CircuitRef<'_, P> {
        self.circuit.with(self.group.template.own_circuit().live())
    }

    /// As events call it.
    pub(super) fn circuit_id(&self) -> CircuitId {
        CircuitId(self.circuit().identity())
    }

    pub(super) fn is_closed(&self) -> bool {
        self.circuit.state() == State::Closed
    }
}

/// What a link keeps of a key. Weak, since the group has the link.
struct KeptEntry<O, C: 'static, P: 'static> {
    group: Weak<Group<O, C, P>>,
    entry: Weak<Entry<O, C, P>>,
}

impl<O, C, P> Entry<O, C, P>
where
    O: Send + Sync + 'static,
    C: Clock + Send + Sync,
    P: Policy + Send + Sync,
{
    pub(super) fn keep(self: &Arc<Self>) -> Kept {
        Kept::new(KeptEntry {
            group: Arc::downgrade(&self.group),
            entry: Arc::downgrade(self),
        })
    }
}

impl<O, C, P> Keeping for KeptEntry<O, C, P>
where
    O: Send + Sync + 'static,
    C: Clock + Send + Sync,
    P: Policy + Send + Sync,
{
    fn get(&self) -> Option<Arc<dyn AnyBreaker>> {
        let group = self.group.upgrade()?;
        let none_is_given_up = group
            .giving_up
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let entry = self.entry.upgrade();
        drop(none_is_given_up);
        let entry = entry.filter(|entry| !entry.is_given_up.load(Ordering::Relaxed))?;
        Some(Arc::new(KeyedBreaker::new(entry, None)))
    }
}

impl<O, C, P> OfKey for Entry<O, C, P>
where
    O: Send + Sync,
    C: Send + Sync,
    P: Send + Sync,
{
    fn group(&self) -> &Name {
        self.group.template.label()
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.group.label)(&self.key, f)
    }

    fn is_kept(&self) -> bool {
        !self.is_stray.load(Ordering::Relaxed)
    }
}
