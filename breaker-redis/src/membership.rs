//! What a breaker is linked to for good, and the fleet behind it, which may come and go.

use crate::group::Group;
use breakerbox::link::{AlreadyLinked, Kept, Link, Linked};
use breakerbox::observe::CircuitId;
use breakerbox::{Change, Effect, Generation, Outcome};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// A breaker's place in a fleet. Links are given once for a breaker's life, fleets are started and
/// dropped: so what is linked stays, and what is behind it changes.
pub(crate) struct Membership(OnceLock<Arc<Linkage>>);

impl Membership {
    pub(crate) const fn none() -> Self {
        Self(OnceLock::new())
    }

    /// What the breaker is linked to, after `link` has done so, if nobody had.
    pub(crate) fn linkage(
        &self,
        link: impl FnOnce(Arc<dyn Link>) -> Result<(), AlreadyLinked>,
    ) -> Result<Arc<Linkage>, AlreadyLinked> {
        let linkage = self.0.get_or_init(Arc::default);
        let mut is_linked = linkage
            .is_linked
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !*is_linked {
            link(Arc::clone(linkage) as Arc<dyn Link>)?;
            *is_linked = true;
        }
        drop(is_linked);
        Ok(Arc::clone(linkage))
    }
}

/// The link of a breaker: leads to its group in the present fleet, if there is one.
#[derive(Default)]
pub(crate) struct Linkage {
    is_linked: Mutex<bool>,
    group: RwLock<Option<Arc<Group>>>,
    /// The keys that there are, also while there is no fleet: the next one asks for them.
    keys: Mutex<HashMap<CircuitId, Kept>>,
}

impl Linkage {
    fn group(&self) -> Option<Arc<Group>> {
        let group = self.group.read().unwrap_or_else(PoisonError::into_inner);
        group.clone()
    }

    /// From now on it is shared in this group. `false`: it is in another one.
    pub(crate) fn join(&self, group: &Arc<Group>) -> bool {
        let mut present = self.group.write().unwrap_or_else(PoisonError::into_inner);
        if present.as_ref().is_some_and(|present| !present.is_left()) {
            return false;
        }
        *present = Some(Arc::clone(group));
        true
    }

    /// The keys that there are.
    pub(crate) fn keys(&self) -> Vec<Kept> {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.values().cloned().collect()
    }

    /// It is on its own, if it still is in this group.
    pub(crate) fn leave(&self, group: &Group) {
        let mut present = self.group.write().unwrap_or_else(PoisonError::into_inner);
        if present
            .as_ref()
            .is_some_and(|present| std::ptr::eq(&**present, group))
        {
            *present = None;
        }
    }
}

/// Its breaker goes with it, or the breakers of all keys.
impl Drop for Linkage {
    fn drop(&mut self) {
        if let Some(group) = self.group() {
            group.look_whether_over();
        }
    }
}

impl Link for Linkage {
    fn changed(&self, circuit: &Linked<'_>, change: &Change) {
        if let Some(group) = self.group() {
            group.changed(circuit, change);
        }
    }

    fn settled(&self, circuit: &Linked<'_>, generation: Generation, _: &Outcome, effect: &Effect) {
        if let Some(group) = self.group() {
            group.settled(circuit, generation, effect);
        }
    }

    fn may_probe(&self, circuit: &Linked<'_>) -> Result<(), Duration> {
        match self.group() {
            Some(group) => group.may_probe(circuit),
            None => Ok(()),
        }
    }

    fn time_left(&self, circuit: &Linked<'_>) -> Duration {
        let group = self.group();
        group.map_or(Duration::ZERO, |group| group.time_left(circuit))
    }

    fn probe_withdrawn(&self, circuit: &Linked<'_>) {
        if let Some(group) = self.group() {
            group.probe_withdrawn(circuit);
        }
    }

    fn key_added(&self, circuit: &Linked<'_>) {
        if let Some(kept) = circuit.keep() {
            let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
            keys.insert(circuit.breaker().circuit_id(), kept);
        }
        if let Some(group) = self.group() {
            group.key_added(circuit);
        }
    }

    fn key_given_up(&self, circuit: &Linked<'_>) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.remove(&circuit.breaker().circuit_id());
        drop(keys);
        if let Some(group) = self.group() {
            group.key_given_up(circuit);
        }
    }
}

impl fmt::Debug for Linkage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linkage").finish_non_exhaustive()
    }
}
