//! States that wait for breakers that are not listed yet.

use super::snapshots::{CircuitName, RestoreError};
use breaker_core::{Snapshot, State};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What the last `restore` brought for others than are listed: no more than its snapshot has.
pub(super) struct Waiting {
    states: Mutex<States>,
    /// Whether there are any: nobody locks to find out that there are none.
    are_any: AtomicBool,
}

struct States {
    /// By name. (A map of its own for keys: a label is looked up for each new key.)
    of: BTreeMap<String, OfName>,
    /// When they began to wait, in nanoseconds of the book's clock.
    since: u64,
}

#[derive(Default)]
struct OfName {
    one: Option<Snapshot>,
    keys: HashMap<String, Snapshot>,
}

impl OfName {
    fn get(&self, key: Option<&str>) -> Option<&Snapshot> {
        match key {
            None => self.one.as_ref(),
            Some(key) => self.keys.get(key),
        }
    }

    fn len(&self) -> usize {
        usize::from(self.one.is_some()) + self.keys.len()
    }
}

impl Waiting {
    pub(super) const fn new() -> Self {
        Self {
            states: Mutex::new(States {
                of: BTreeMap::new(),
                since: 0,
            }),
            are_any: AtomicBool::new(false),
        }
    }

    pub(super) fn are_any(&self) -> bool {
        self.are_any.load(Ordering::SeqCst)
    }

    /// Nothing of a user's runs while they are locked.
    fn states(&self) -> MutexGuard<'_, States> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<R>(&self, change: impl FnOnce(&mut States) -> R) -> R {
        let mut states = self.states();
        let result = change(&mut states);
        self.are_any.store(!states.of.is_empty(), Ordering::SeqCst);
        result
    }

    /// These instead of those from before, of which it says how many they were.
    pub(super) fn replace(&self, fresh: BTreeMap<CircuitName, Snapshot>, now: u64) -> usize {
        let mut of = BTreeMap::<_, OfName>::new();
        for (CircuitName { breaker, key }, snapshot) in fresh {
            let of = of.entry(breaker).or_default();
            match key {
                None => of.one = Some(snapshot),
                Some(key) => drop(of.keys.insert(key, snapshot)),
            }
        }
        self.change(|states| {
            states.since = now;
            let before = std::mem::replace(&mut states.of, of);
            before.values().map(OfName::len).sum()
        })
    }

    /// Each, as it is now.
    pub(super) fn all(&self, now: u64) -> Vec<(CircuitName, Snapshot)> {
        if !self.are_any() {
            return Vec::new();
        }
        let states = self.states();
        let waited = now.saturating_sub(states.since);
        let of = |(breaker, of): (&String, &OfName)| {
            let named = |key: Option<&String>, snapshot: &Snapshot| {
                let (breaker, key) = (breaker.clone(), key.cloned());
                (CircuitName { breaker, key }, after(*snapshot, waited))
            };
            let one = of.one.iter().map(|state| named(None, state));
            let keys = of.keys.iter().map(|(key, state)| named(Some(key), state));
            one.chain(keys).collect::<Vec<_>>()
        };
        states.of.iter().flat_map(of).collect()
    }

    pub(super) fn has_any_of(&self, name: &str) -> bool {
        self.are_any() && self.states().of.contains_key(name)
    }

    pub(super) fn has(&self, circuit: &CircuitName) -> bool {
        self.peek(circuit, 0).is_some()
    }

    /// The state of one, as it is now, which goes on waiting.
    pub(super) fn peek(&self, circuit: &CircuitName, now: u64) -> Option<Snapshot> {
        let states = self.states();
        let snapshot = states.of.get(&circuit.breaker)?;
        let snapshot = *snapshot.get(circuit.key.as_deref())?;
        Some(after(snapshot, now.saturating_sub(states.since)))
    }

    /// The state of one, as it is now, which waits no more.
    pub(super) fn take(&self, circuit: &CircuitName, now: u64) -> Option<Snapshot> {
        let snapshot = self.peek(circuit, now)?;
        self.change(|states| {
            let of = states.of.get_mut(&circuit.breaker)?;
            let taken = match &circuit.key {
                None => of.one.take(),
                Some(key) => of.keys.remove(key),
            };
            if of.len() == 0 {
                states.of.remove(&circuit.breaker);
            }
            // Another thread may have been quicker.
            taken.map(|_| snapshot)
        })
    }

    /// Those of a name that are of the other kind.
    pub(super) fn take_unfit(&self, name: &str, by_key: bool) -> Vec<(CircuitName, RestoreError)> {
        if !self.are_any() {
            return Vec::new();
        }
        let unfit = |key, error| {
            let breaker = name.to_owned();
            (CircuitName { breaker, key }, error)
        };
        self.change(|states| {
            let Some(of) = states.of.get_mut(name) else {
                return Vec::new();
            };
            let taken = if by_key {
                let one = of.one.take().into_iter();
                one.map(|_| unfit(None, RestoreError::HasKeys)).collect()
            } else {
                let keys = std::mem::take(&mut of.keys).into_keys();
                keys.map(|key| unfit(Some(key), RestoreError::HasNoKeys))
                    .collect()
            };
            if of.len() == 0 {
                states.of.remove(name);
            }
            taken
        })
    }
}

/// A state after so many nanoseconds.
fn after(mut snapshot: Snapshot, nanos: u64) -> Snapshot {
    if snapshot.state == State::Open {
        let left = snapshot.time_left;
        snapshot.time_left = left.saturating_sub(Duration::from_nanos(nanos));
    }
    snapshot
}
