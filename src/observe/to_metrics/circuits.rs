//! The states of the circuits of one name, and how they are shown.

use super::states::{Entry, Keys, One, STATES};
use crate::observe::CircuitId;
use breaker_core::State;
use hashbrown::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// The states of the circuits of one name, for all recorders.
#[derive(Default)]
pub(super) struct Circuits(Mutex<Known>);

#[derive(Default)]
pub(super) struct Known {
    /// Grows with every change.
    version: u64,
    pub(super) one: One,
    /// By the registry's names.
    keys: HashMap<String, Keys>,
}

impl Known {
    /// Whether that is news.
    pub(super) fn entered(&mut self, name: &str, is_keyed: bool, entry: Entry) -> bool {
        let is_news = if is_keyed {
            let keys = self.keys.entry_ref(name);
            keys.or_default().entered(entry)
        } else {
            self.one.entered(name, entry)
        };
        self.version += u64::from(is_news);
        is_news
    }

    pub(super) fn gone(&mut self, name: &str, circuit: CircuitId) {
        let keys = self.keys.get_mut(name);
        let is_news = keys.is_some_and(|keys| keys.gone(circuit));
        self.version += u64::from(is_news);
    }

    pub(super) fn left(&mut self, name: &str) {
        self.one.left(name);
        self.keys.remove(name);
        self.version += 1;
    }

    pub(super) fn in_state(&self) -> [u32; STATES] {
        let mut in_state = [0; STATES];
        for keys in self.keys.values() {
            for (all, of_these) in in_state.iter_mut().zip(keys.in_state()) {
                *all += of_these;
            }
        }
        in_state
    }

    pub(super) fn state_of_key(&self, circuit: CircuitId) -> State {
        let states = self.keys.values().map(|keys| keys.state(circuit));
        let mut open = states.filter(|state| *state != State::Closed);
        open.next().unwrap_or(State::Closed)
    }
}

impl Circuits {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Known) -> T) -> T {
        change(&mut self.known())
    }

    /// The same, unless somebody else is at it.
    pub(super) fn change_at_once(&self, change: impl FnOnce(&mut Known) -> bool) -> bool {
        match self.0.try_lock() {
            Ok(mut known) => change(&mut known),
            Err(TryLockError::Poisoned(poisoned)) => change(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// Shows what is known by `show`, again and again until that is what is known: so of two
    /// threads the slower one doesn't show what the other has overtaken. (Nothing is locked while
    /// it shows: that is the recorder's code.)
    pub(super) fn publish<T>(&self, read: impl Fn(&Known) -> T, show: impl Fn(T)) {
        loop {
            let (version, value) = {
                let known = self.known();
                (known.version, read(&known))
            };
            show(value);
            if self.known().version == version {
                return;
            }
        }
    }
}
