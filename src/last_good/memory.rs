//! Last-good answers in memory.

use super::SettingError;
use super::moment::{Given, Moment};
use super::store::{Aged, BlockingStore, NeverWaits, Reply, Store};
use crate::keyed::Key;
use core::convert::Infallible;
use core::fmt;
use core::hash::BuildHasher;
use hashbrown::DefaultHashBuilder;
use quick_cache::sync::Cache;
use quick_cache::{Lifecycle, OptionsBuilder, UnitWeighter};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How many answers are kept in memory where nothing else is said: 1,000.
pub const DEFAULT_MAX_ANSWERS: u32 = 1_000;

/// Last-good answers in this process's memory, of which at most so many are kept:
/// where there is no room for a new one, one that was not asked for or renewed
/// lately is given up.
///
/// No code of a key or an answer (hashing, comparing, cloning, its destructor) runs
/// while anything is locked: it may use the same answers, and panic.
///
/// Of keys that are different and give the same hash, 8 are kept.
pub struct Memory<K, V>
where
    K: 'static,
    V: 'static,
{
    max_answers: u32,
    /// Made when the first answer is asked for or stored.
    answers: OnceLock<Answers<K, V>>,
    #[cfg(feature = "test-util")]
    id: OnceLock<u64>,
}

impl<K, V> Memory<K, V> {
    /// Room for so many answers, also in a `static`.
    ///
    /// # Panics
    /// If it is 0. In a `const` or `static` that is an error of the compiler.
    #[must_use]
    pub const fn new(max_answers: u32) -> Self {
        assert!(
            max_answers > 0,
            "{}",
            SettingError::ZeroMaxAnswers.message()
        );
        Self {
            max_answers,
            answers: OnceLock::new(),
            #[cfg(feature = "test-util")]
            id: OnceLock::new(),
        }
    }

    /// Before the first answer.
    pub(super) const fn make_room_for(&mut self, max_answers: u32) {
        assert!(
            max_answers > 0,
            "{}",
            SettingError::ZeroMaxAnswers.message()
        );
        self.max_answers = max_answers;
    }

    /// How many answers are kept at most.
    #[must_use]
    pub const fn max_answers(&self) -> u32 {
        self.max_answers
    }
}

impl<K, V> Memory<K, V>
where
    K: Send + Sync,
    V: Send + Sync,
{
    /// How many answers there are, also those that are too old to be served.
    #[must_use]
    pub fn len(&self) -> usize {
        self.with(|answers| answers.cache.len())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The answers of the test scope, or those of the process.
    fn with<R>(&self, what: impl FnOnce(&Answers<K, V>) -> R) -> R {
        #[cfg(feature = "test-util")]
        if let Some(scope) = crate::test::current() {
            let id = *self.id.get_or_init(crate::registry::next_id);
            return what(&scope.own(id, || Answers::new(self.max_answers)));
        }
        what(self.answers.get_or_init(|| Answers::new(self.max_answers)))
    }
}

impl<K, V> fmt::Debug for Memory<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("max_answers", &self.max_answers)
            .finish_non_exhaustive()
    }
}

impl<K, V> BlockingStore<K, V> for Memory<K, V>
where
    K: Send + Sync,
    V: Clone + Send + Sync,
{
    fn load_now<Q>(&self, key: &Q) -> Result<Option<Aged<V>>, Infallible>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        Ok(self.with(|answers| answers.load(key, Moment::now())))
    }

    fn save_now<Q>(&self, key: &Q, answer: Aged<&V>) -> Result<(), Infallible>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        let given = Given::new(Moment::now(), answer.age);
        self.with(|answers| answers.save(key, answer.value, given));
        Ok(())
    }

    fn remove_now<Q>(&self, key: &Q) -> Result<(), Infallible>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        self.with(|answers| answers.remove(key));
        Ok(())
    }
}

impl<K, V> Store<K, V> for Memory<K, V>
where
    K: Send + Sync,
    V: Clone + Send + Sync,
{
    type Error = Infallible;
    type Loading<'a> = NeverWaits<Result<Option<Aged<V>>, Infallible>>;
    type Saving<'a> = NeverWaits<Result<(), Infallible>>;

    fn load<Q>(&self, key: &Q) -> Reply<Option<Aged<V>>, Infallible, Self::Loading<'_>>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        Reply::Now(self.load_now(key))
    }

    fn save<Q>(&self, key: &Q, answer: Aged<&V>) -> Reply<(), Infallible, Self::Saving<'_>>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        Reply::Now(self.save_now(key, answer))
    }

    fn remove<Q>(&self, key: &Q) -> Reply<(), Infallible, Self::Saving<'_>>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        Reply::Now(self.remove_now(key))
    }
}

/// The table. It holds pointers, found by numbers: all that it does with an answer
/// under its lock is to copy, swap and compare pointers.
struct Answers<K, V> {
    hasher: DefaultHashBuilder,
    cache: Cache<Place, Arc<Answer<K, V>>, UnitWeighter, DefaultHashBuilder, GivenUp>,
    putting: Mutex<()>,
}

/// A key's hash, and which of the keys it is that give it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Place {
    hash: u64,
    number: u32,
}

/// How many keys of one hash are kept.
const PLACES: u32 = 8;

struct Answer<K, V> {
    /// Shared with the answers before and after it.
    key: Arc<K>,
    value: V,
    given: Given,
}

/// Where a key's answer is, or would be.
struct Found<K, V> {
    place: Place,
    /// What is there.
    there: Option<Arc<Answer<K, V>>>,
    /// It is the key's.
    is_its: bool,
}

impl<K, V> Answers<K, V> {
    fn new(max_answers: u32) -> Self {
        let hasher = DefaultHashBuilder::default();
        // One shard: several would fill unevenly, and give up answers while there
        // is room.
        let options = OptionsBuilder::new()
            .shards(1)
            .estimated_items_capacity(usize::try_from(max_answers).unwrap_or(usize::MAX))
            .weight_capacity(u64::from(max_answers))
            .build();
        let cache = match options {
            Ok(options) => Cache::with_options(options, UnitWeighter, hasher.clone(), GivenUp),
            // Both capacities are set.
            Err(_) => Cache::with(
                1,
                u64::from(max_answers),
                UnitWeighter,
                hasher.clone(),
                GivenUp,
            ),
        };
        Self {
            hasher,
            cache,
            putting: Mutex::new(()),
        }
    }

    /// Where a key's answer may be.
    fn places<Q>(&self, key: &Q) -> impl Iterator<Item = Place> + use<Q, K, V>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        let hash = self.hasher.hash_one(key);
        (0..PLACES).map(move |number| Place { hash, number })
    }

    fn find<Q>(&self, key: &Q) -> Found<K, V>
    where
        Q: Key<Owned = K> + ?Sized,
    {
        let mut free = None;
        let mut last = (Place::default(), None);
        for place in self.places(key) {
            let there = self.cache.get(&place);
            match &there {
                Some(answer) if key.is(&answer.key) => {
                    return Found {
                        place,
                        there,
                        is_its: true,
                    };
                }
                Some(_) => {}
                // Those after it may have been there when this one was taken.
                None => free = free.or(Some(place)),
            }
            last = (place, there);
        }
        let (place, there) = free.map_or(last, |place| (place, None));
        Found {
            place,
            there,
            is_its: false,
        }
    }

    fn load<Q>(&self, key: &Q, now: Moment) -> Option<Aged<V>>
    where
        Q: Key<Owned = K> + ?Sized,
        V: Clone,
    {
        let found = self.find(key);
        let answer = found.there.filter(|_| found.is_its)?;
        Some(Aged {
            value: answer.value.clone(),
            age: answer.given.age(now),
        })
    }

    fn save<Q>(&self, key: &Q, value: &V, given: Given)
    where
        Q: Key<Owned = K> + ?Sized,
        V: Clone,
    {
        let mut found = self.find(key);
        let key_to_keep = match &found.there {
            Some(there) if found.is_its => Arc::clone(&there.key),
            _ => Arc::new(key.to_key()),
        };
        let new = Arc::new(Answer {
            key: key_to_keep,
            value: value.clone(),
            given,
        });
        loop {
            if let Some(there) = &found.there
                && found.is_its
                && given.is_before(there.given)
            {
                return;
            }
            if self.put(found.place, found.there.as_ref(), &new) {
                return;
            }
            // Another thread was faster.
            found = self.find(key);
        }
    }

    /// Puts an answer in another's place, if that is still there.
    fn put(
        &self,
        place: Place,
        in_place_of: Option<&Arc<Answer<K, V>>>,
        new: &Arc<Answer<K, V>>,
    ) -> bool {
        // Dropped where nothing is locked, as they are declared before.
        let there;
        let mut given_up = Dropped::default();
        // (Not by the cache's own `entry`: that may read a clock, which traps beside
        // JavaScript.)
        let _one_at_a_time = self.putting.lock().unwrap_or_else(PoisonError::into_inner);
        there = self.cache.peek(&place);
        let is_still_there = match (&there, in_place_of) {
            (Some(there), Some(expected)) => Arc::ptr_eq(there, expected),
            (None, None) => true,
            _ => false,
        };
        if is_still_there {
            self.cache
                .insert_with_lifecycle(place, Arc::clone(new), &mut given_up);
        }
        is_still_there
    }

    fn remove<Q>(&self, key: &Q)
    where
        Q: Key<Owned = K> + ?Sized,
    {
        loop {
            let found = self.find(key);
            let Some(there) = found.there.filter(|_| found.is_its) else {
                return;
            };
            let same = |there_now: &Arc<Answer<K, V>>| Arc::ptr_eq(there_now, &there);
            // Else another thread was faster.
            if let Some(removed) = self.cache.remove_if(&found.place, same) {
                drop(removed);
                return;
            }
        }
    }
}

/// Collects what is given up, to be dropped where nothing is locked.
#[derive(Clone, Copy, Debug)]
struct GivenUp;

/// What was given up: one answer, as a rule.
struct Dropped<V> {
    one: Option<V>,
    more: Vec<V>,
}

impl<V> Default for Dropped<V> {
    fn default() -> Self {
        Self {
            one: None,
            more: Vec::new(),
        }
    }
}

impl<V> Lifecycle<Place, V> for GivenUp {
    type RequestState = Dropped<V>;

    fn on_evict(&self, dropped: &mut Dropped<V>, _: Place, answer: V) {
        match &mut dropped.one {
            None => dropped.one = Some(answer),
            Some(_) => dropped.more.push(answer),
        }
    }
}
