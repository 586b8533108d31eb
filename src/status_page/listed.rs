//! What is in the registry, as the page has it.

use super::collector::Watched;
use super::document::{Breaker, Settings};
use crate::observe::CircuitId;
use crate::registry::{self, Found, Registered};
use hashbrown::HashSet;

/// A breaker, or breakers by key, with each circuit of it.
pub(super) struct Group {
    pub(super) breaker: Breaker,
    pub(super) circuits: Vec<Found>,
}

/// Everything that is listed now. No lock is held any more when it is given.
pub(super) fn all() -> Vec<Group> {
    registry::all().iter().map(group).collect()
}

fn group(registered: &Registered) -> Group {
    let (max_keys, config, declared, overrides) = match registered {
        Registered::One(it) => (None, it.config(), it.declared(), it.overrides()),
        Registered::Keyed(it) => (
            Some(it.max_keys()),
            it.config(),
            it.declared(),
            it.overrides(),
        ),
    };
    Group {
        breaker: Breaker {
            name: registered.name().to_owned(),
            place: registered.place().to_string(),
            max_keys,
            settings: Settings::from(&config),
            declared: (!overrides.is_empty()).then(|| declared.into()),
        },
        circuits: registered.breakers(),
    }
}

/// Which circuits are listed now.
pub(super) fn circuits() -> HashSet<CircuitId> {
    let all = registry::all();
    let circuits = all.iter().flat_map(Registered::breakers);
    circuits.map(|found| found.circuit_id()).collect()
}

/// A circuit, if it is listed still. Of two keys with the same label it is the right one.
pub(super) fn find(watched: &Watched, circuit: CircuitId) -> Option<Found> {
    let is_it = |found: &Found| found.circuit_id() == circuit && watched.is_entry(found.entry());
    if watched.key.is_some() {
        let breakers = registry::find_keyed(&watched.name)?.breakers();
        breakers.into_iter().find(is_it)
    } else {
        registry::find(&watched.name).filter(is_it)
    }
}
