//! Breakers by name: one book's.

use super::all::Registered;
use super::any::AnyBreaker;
use super::any_keyed::AnyKeyed;
use super::found::{Found, FoundKeyed};
use super::held::Kept;
use super::origin::{Kind, Origin, Place};
use crate::name::Name;
use std::collections::BTreeMap;

/// Breakers by name.
pub(super) struct Names {
    entries: BTreeMap<String, Entry>,
}

/// A breaker, or breakers by key.
#[derive(Clone)]
pub(super) struct Entry {
    id: u64,
    what: What,
    place: Place,
    /// The name it asked for.
    wanted: Name,
}

#[derive(Clone)]
pub(super) enum What {
    One(Kept<dyn AnyBreaker>),
    Keyed(Kept<dyn AnyKeyed>),
}

impl What {
    fn is_there(&self) -> bool {
        match self {
            Self::One(breaker) => breaker.is_there(),
            Self::Keyed(keyed) => keyed.is_there(),
        }
    }

    fn kind(&self) -> Kind {
        let is_static = match self {
            Self::One(breaker) => breaker.is_static(),
            Self::Keyed(keyed) => keyed.is_static(),
        };
        if is_static {
            Kind::Declared
        } else {
            Kind::Shared
        }
    }

    /// A name made for it here. A static's is kept for ever, as the static is, so
    /// that an error costs no reference count.
    pub(super) fn name(&self, name: String) -> Name {
        match self.kind() {
            Kind::Declared => Name::Static(name.leak()),
            Kind::Shared => Name::from(name),
        }
    }
}

impl Entry {
    fn origin(&self) -> Origin {
        Origin {
            id: self.id,
            kind: self.what.kind(),
            place: self.place,
        }
    }

    fn one(&self) -> Option<Found> {
        match &self.what {
            What::One(breaker) => Some(Found::new(breaker.held()?, self.origin())),
            What::Keyed(_) => None,
        }
    }

    fn keyed(&self) -> Option<FoundKeyed> {
        match &self.what {
            What::Keyed(keyed) => Some(FoundKeyed::new(keyed.held()?, self.origin())),
            What::One(_) => None,
        }
    }

    fn as_asked(&self) -> Option<(Registered, Name)> {
        Some((self.registered()?, self.wanted.clone()))
    }

    #[cfg(feature = "test-util")]
    pub(super) fn wanted(&self) -> &Name {
        &self.wanted
    }

    fn registered(&self) -> Option<Registered> {
        match &self.what {
            What::One(_) => self.one().map(Registered::One),
            What::Keyed(_) => self.keyed().map(Registered::Keyed),
        }
    }
}

impl Names {
    pub(super) const fn new() -> Self {
        Self {
            entries: BTreeMap::new(),
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<Found> {
        self.entries.get(name)?.one()
    }

    pub(super) fn find_keyed(&self, name: &str) -> Option<FoundKeyed> {
        self.entries.get(name)?.keyed()
    }

    /// All of them, by name. None may be dropped while the names are locked: the
    /// last that has a breaker takes it out.
    pub(super) fn all(&self) -> Vec<Registered> {
        let mut all = Vec::with_capacity(self.entries.len());
        all.extend(self.entries.values().filter_map(Entry::registered));
        all
    }

    /// [`all`](Self::all), each with the name it asked for.
    pub(super) fn all_as_asked(&self) -> Vec<(Registered, Name)> {
        let mut all = Vec::with_capacity(self.entries.len());
        all.extend(self.entries.values().filter_map(Entry::as_asked));
        all
    }

    pub(super) fn as_asked(&self, name: &str) -> Option<(Registered, Name)> {
        self.entries.get(name)?.as_asked()
    }

    /// A breaker that is just being dropped has left its name.
    fn is_taken(&self, name: &str) -> bool {
        self.entries
            .get(name)
            .is_some_and(|entry| entry.what.is_there())
    }

    /// Enters a breaker by the name it wants, or, where that is taken, the name
    /// with its place, or, where that is taken too, with a number. Whether it has the place of
    /// one that is just being dropped, and will not find itself there any more.
    pub(super) fn list(
        &mut self,
        id: u64,
        wanted: &Name,
        place: Place,
        what: What,
    ) -> (Name, bool) {
        let name = if self.is_taken(wanted.as_str()) {
            let placed = format!("{}@{place}", wanted.as_str());
            let free = if self.is_taken(&placed) {
                format!("{placed}#{id}")
            } else {
                placed
            };
            what.name(free)
        } else {
            wanted.clone()
        };
        let entry = Entry {
            id,
            what,
            place,
            wanted: wanted.clone(),
        };
        let gone = self.entries.insert(name.as_str().to_owned(), entry);
        (name, gone.is_some())
    }

    /// Takes it out; whether it was there.
    pub(super) fn leave(&mut self, name: &str, id: u64) -> bool {
        self.has(name, id) && self.entries.remove(name).is_some()
    }

    pub(super) fn has(&self, name: &str, id: u64) -> bool {
        self.entries.get(name).is_some_and(|entry| entry.id == id)
    }
}

/// For a test scope, that has breakers of others.
#[cfg(feature = "test-util")]
impl Names {
    pub(super) fn entry(&self, name: &str, id: u64) -> Option<Entry> {
        self.has(name, id)
            .then(|| self.entries.get(name).cloned())?
    }

    pub(super) fn add(&mut self, name: &str, entry: Entry) {
        self.entries.insert(name.to_owned(), entry);
    }
}
