//! What is counted of all breakers: found by a breaker's name, and added at its first event.

use super::circuits::Circuits;
use super::fleet::Fleet;
use super::names;
use super::recorder::{Identity, To};
use super::series::{Place, Series};
use crate::lock::lock;
use crate::name::KeyLabel;
use crate::observe::CircuitId;
use core::fmt::{self, Write};
use core::hash::{BuildHasher, Hasher};
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Whose event it is.
#[derive(Clone, Copy)]
pub(super) struct Of<'a> {
    /// What the registry calls it.
    pub(super) name: &'a str,
    /// What it is called on the page.
    breaker: &'a str,
    pub(super) key: Option<KeyLabel<'a>>,
    pub(super) circuit: CircuitId,
}

impl<'a> Of<'a> {
    pub(super) fn new(name: &'a str, key: Option<KeyLabel<'a>>, circuit: CircuitId) -> Self {
        Self {
            name,
            breaker: label_of(name),
            key,
            circuit,
        }
    }
}

/// A name without the number that the registry adds where a name and a place are taken
/// (`pms@src/client.rs:7#12`): it is new for each client that is made there, and a label must not be.
fn label_of(name: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let placed = name.rsplit_once('#').filter(|(placed, number)| {
        let line = placed.rsplit_once(':').map(|(_, line)| line);
        is_number(number) && placed.contains('@') && line.is_some_and(is_number)
    });
    placed.map_or(name, |(placed, _)| placed)
}

/// The series of all breakers.
pub(super) struct AllSeries {
    to: Arc<To>,
    /// Each key has its own.
    by_key: bool,
    hasher: DefaultHashBuilder,
    table: RwLock<HashTable<Arc<Series>>>,
    circuits: Mutex<HashMap<Arc<str>, Arc<Circuits>>>,
    described: Mutex<Vec<Identity>>,
}

impl AllSeries {
    pub(super) fn new(to: To, by_key: bool) -> Self {
        Self {
            to: Arc::new(to),
            by_key,
            hasher: DefaultHashBuilder::default(),
            table: RwLock::default(),
            circuits: Mutex::default(),
            described: Mutex::default(),
        }
    }

    pub(super) fn by_key(self) -> Self {
        Self {
            by_key: true,
            ..self
        }
    }

    pub(super) fn is_by_key(&self) -> bool {
        self.by_key
    }

    /// What an event is counted in, if it is not the first. Allocates nothing. (Labels of keys are
    /// compared where nothing is locked: they are displayed for it, which is users' code.)
    #[inline]
    pub(super) fn find(&self, of: Of<'_>) -> Option<Arc<Series>> {
        let (recorder, hash) = (self.to.identity(), self.hash(of));
        let label = self.label(of);
        let found = self.find_where(hash, |series| {
            series.place.is_at(recorder, of.breaker)
                && series.place.key.is_some() == label.is_some()
        })?;
        match (&found.place.key, label) {
            (Some(own), Some(label)) if !label.is(own) => self.find_among(recorder, hash, of),
            _ => Some(found),
        }
    }

    /// The same, where labels have a hash in common.
    #[cold]
    fn find_among(&self, recorder: Identity, hash: u64, of: Of<'_>) -> Option<Arc<Series>> {
        let label = self.label(of).map(|label| label.to_string());
        self.find_where(hash, |series| {
            series.place.is_at(recorder, of.breaker)
                && series.place.key.as_deref() == label.as_deref()
        })
    }

    fn find_where(&self, hash: u64, is: impl Fn(&Series) -> bool) -> Option<Arc<Series>> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.find(hash, |series| is(series)).map(Arc::clone)
    }

    /// The first event of a breaker, or of a key.
    #[cold]
    pub(super) fn add(&self, of: Of<'_>) -> Arc<Series> {
        let recorder = self.to.identity();
        self.describe_to(recorder);
        let breaker: Arc<str> = of.breaker.into();
        let circuits = self.circuits(&breaker);
        let place = Place {
            recorder,
            hash: self.hash(of),
            breaker,
            key: self.label(of).map(|label| label.to_string().into()),
            is_keyed: of.key.is_some(),
        };
        let series = Arc::new(Series::new(place, Arc::clone(&self.to), circuits));
        series.begin(of.circuit);
        let place = &series.place;
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been quicker.
        let known = table.find(place.hash, |known| {
            known.place.is_at(recorder, &place.breaker) && known.place.key == place.key
        });
        if let Some(known) = known {
            return Arc::clone(known);
        }
        table.insert_unique(place.hash, Arc::clone(&series), |series| series.place.hash);
        series
    }

    /// What is counted of a fleet.
    pub(super) fn fleet<'a>(&'a self, name: &'a str) -> Fleet<'a> {
        self.describe_to(self.to.identity());
        Fleet { to: &self.to, name }
    }

    fn describe_to(&self, recorder: Identity) {
        let mut described = lock(&self.described);
        if !described.contains(&recorder) {
            described.push(recorder);
            drop(described);
            self.to.with(names::describe);
        }
    }

    /// A breaker was dropped, or breakers by key were: none of them is in any state.
    pub(super) fn left(&self, name: &str) {
        let breaker = label_of(name);
        let circuits = lock(&self.circuits).get(breaker).map(Arc::clone);
        let Some(circuits) = circuits else { return };
        circuits.change(|known| known.left(name));
        let of_breaker: Vec<_> = {
            let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
            let series = table.iter();
            let of_breaker = series.filter(|series| *series.place.breaker == *breaker);
            of_breaker.map(Arc::clone).collect()
        };
        for series in of_breaker {
            series.show_left();
        }
    }

    /// A key was given up: what is kept of it alone is dropped.
    pub(super) fn remove(&self, of: Of<'_>) {
        let Some(label) = self.label(of).map(|label| label.to_string()) else {
            return;
        };
        let (hash, mut removed) = (self.hash(of), Vec::new());
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        while let Ok(entry) = table.find_entry(hash, |series| {
            *series.place.breaker == *of.breaker && series.place.key.as_deref() == Some(&*label)
        }) {
            removed.push(entry.remove().0);
        }
        drop(table);
        // Handles are the recorder's, and so are their destructors.
        drop(removed);
    }

    /// The key that tells series apart.
    fn label<'a>(&self, of: Of<'a>) -> Option<KeyLabel<'a>> {
        of.key.filter(|_| self.by_key)
    }

    fn hash(&self, of: Of<'_>) -> u64 {
        struct Hashing<H>(H);

        impl<H: Hasher> Write for Hashing<H> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0.write(text.as_bytes());
                Ok(())
            }
        }

        let mut hasher = self.hasher.build_hasher();
        hasher.write(of.breaker.as_bytes());
        let Some(label) = self.label(of) else {
            return hasher.finish();
        };
        let mut hashing = Hashing(hasher);
        let _ = write!(hashing, "{label}");
        hashing.0.finish()
    }

    fn circuits(&self, breaker: &Arc<str>) -> Arc<Circuits> {
        let mut circuits = lock(&self.circuits);
        Arc::clone(circuits.entry(Arc::clone(breaker)).or_default())
    }
}
