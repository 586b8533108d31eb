//! The circuits of a group: found from within calls, by messages, and all of them.

use crate::circuit::Circuit;
use breakerbox::observe::CircuitId;
use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A circuit that is found by what messages call it, without keeping that twice.
pub(super) struct ByLabel(Arc<Circuit>);

impl Borrow<str> for ByLabel {
    fn borrow(&self) -> &str {
        self.0.place.label()
    }
}

impl Hash for ByLabel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.place.label().hash(state);
    }
}

impl PartialEq for ByLabel {
    fn eq(&self, other: &Self) -> bool {
        self.0.place.label() == other.0.place.label()
    }
}

impl Eq for ByLabel {}

/// The circuits of a group.
pub(super) enum Members {
    One(Option<Arc<Circuit>>),
    Keys {
        by_circuit: HashMap<CircuitId, Arc<Circuit>>,
        by_label: HashSet<ByLabel>,
        /// Keys that have the label of one above, which is not they: they are on their own.
        namesakes: HashMap<CircuitId, Box<str>>,
    },
}

impl Members {
    /// Of breakers by key, none of which is known yet.
    pub(super) fn no_key() -> Self {
        Self::Keys {
            by_circuit: HashMap::new(),
            by_label: HashSet::new(),
            namesakes: HashMap::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::One(one) => one.iter().len(),
            Self::Keys { by_circuit, .. } => by_circuit.len(),
        }
    }

    pub(super) fn all(&self) -> Vec<Arc<Circuit>> {
        match self {
            Self::One(one) => one.iter().cloned().collect(),
            Self::Keys { by_circuit, .. } => by_circuit.values().cloned().collect(),
        }
    }

    pub(super) fn of_label(&self, label: &str) -> Option<Arc<Circuit>> {
        match self {
            Self::One(one) => one.clone().filter(|one| one.place.label() == label),
            Self::Keys { by_label, .. } => by_label.get(label).map(|known| Arc::clone(&known.0)),
        }
    }

    pub(super) fn clear(&mut self) {
        match self {
            Self::One(one) => *one = None,
            Self::Keys {
                by_circuit,
                by_label,
                namesakes,
            } => {
                by_circuit.clear();
                by_label.clear();
                namesakes.clear();
            }
        }
    }

    pub(super) fn find(&self, id: CircuitId) -> Option<Arc<Circuit>> {
        match self {
            Self::One(one) => one.clone(),
            Self::Keys { by_circuit, .. } => by_circuit.get(&id).cloned(),
        }
    }

    /// How many keys are on their own for want of a label of their own.
    pub(super) fn namesakes(&self) -> usize {
        match self {
            Self::One(_) => 0,
            Self::Keys { namesakes, .. } => namesakes.len(),
        }
    }

    pub(super) fn is_namesake(&self, id: CircuitId) -> bool {
        match self {
            Self::One(_) => false,
            Self::Keys { namesakes, .. } => namesakes.contains_key(&id),
        }
    }

    /// Another key may stand there.
    pub(super) fn forget_namesake(&mut self, id: CircuitId) {
        if let Self::Keys { namesakes, .. } = self {
            namesakes.remove(&id);
        }
    }

    /// The one that stands there now. `None`: another key has its label, so it is on its own.
    pub(super) fn insert(&mut self, id: CircuitId, made: Circuit) -> Option<Arc<Circuit>> {
        let Self::Keys {
            by_circuit,
            by_label,
            namesakes,
        } = self
        else {
            return None;
        };
        if let Some(known) = by_circuit.get(&id)
            && known.place == made.place
        {
            // Another thread was faster.
            return Some(Arc::clone(known));
        }
        let label = made.place.label();
        let others = by_label
            .get(label)
            .is_some_and(|known| known.0.id != Some(id));
        if others {
            namesakes.insert(id, label.into());
            return None;
        }
        let made = Arc::new(made);
        by_circuit.insert(id, Arc::clone(&made));
        by_label.replace(ByLabel(Arc::clone(&made)));
        Some(made)
    }

    pub(super) fn remove(&mut self, circuit: &Circuit) {
        let is_it = |known: &Arc<Circuit>| std::ptr::eq(&**known, circuit);
        match self {
            Self::One(one) => *one = one.take().filter(|known| !is_it(known)),
            Self::Keys {
                by_circuit,
                by_label,
                namesakes,
            } => {
                if let Some(id) = circuit.id
                    && by_circuit.get(&id).is_some_and(is_it)
                {
                    by_circuit.remove(&id);
                }
                let known = by_label.get(circuit.place.label());
                if known.is_some_and(|known| is_it(&known.0)) {
                    by_label.remove(circuit.place.label());
                    // The next of them that does anything is shared.
                    namesakes.retain(|_, label| **label != *circuit.place.label());
                }
            }
        }
    }
}
