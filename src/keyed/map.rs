//! The circuits of a group, by key: sharded, and bounded.
//!
//! No code of a user's (a key's comparing, copying, or destructor) runs while a
//! shard is locked.

use super::entry::{Entry, Group};
use super::key::Key;
use breaker_core::Policy;
use core::array;
use core::hash::BuildHasher;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

const MAX_SHARDS: usize = 64;
const KEYS_PER_SHARD: usize = 32;

/// How many keys are looked at for one to give up: so that a flood of new keys
/// finds a bounded wait where none can be given up.
const LOOKED_AT: usize = 256;

/// Keys of one hash that are compared at once.
const COMPARED: usize = 8;

pub(crate) struct Map<O, C: 'static, P: 'static> {
    group: Arc<Group<O, C, P>>,
    hasher: DefaultHashBuilder,
    /// A power of two.
    shards: Box<[Shard<O, C, P>]>,
    /// Keys, and places that are kept for one.
    len: AtomicUsize,
    max: usize,
    /// The shard that gives up a key next.
    next: AtomicUsize,
}

/// Of a cache line's own: a lock that is taken must not slow its neighbours down.
#[repr(align(128))]
struct Shard<O, C: 'static, P: 'static>(RwLock<Table<O, C, P>>);

struct Table<O, C: 'static, P: 'static> {
    entries: HashTable<Arc<Entry<O, C, P>>>,
    /// The bucket at which the search for a key to give up goes on.
    hand: usize,
    /// Buckets that it has not come to yet on its way round.
    to_go: usize,
}

/// What became of a key that was not known.
pub(crate) struct Added<O, C: 'static, P: 'static> {
    pub(crate) entry: Arc<Entry<O, C, P>>,
    pub(crate) kept: Kept,
}

/// Whether a key is in the map.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It was added just now.
    Now,
    /// Another thread was quicker.
    ByAnother,
    /// Every key that was looked at is open or in use.
    Not,
}

/// Which keys may be given up, of those that are closed and not in use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spare {
    UsedOfLate,
    None,
}

/// A place for a key, given back if none comes.
struct Place<'m>(&'m AtomicUsize);

impl Place<'_> {
    fn take(self) {
        core::mem::forget(self);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// 32 bits of a hash are kept with a key; this makes 64 of them again.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl<O, C, P> Map<O, C, P>
where
    P: Policy,
{
    pub(crate) fn new(group: Arc<Group<O, C, P>>, max: u32) -> Self {
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        let shards = (max / KEYS_PER_SHARD)
            .clamp(1, MAX_SHARDS)
            .next_power_of_two();
        let shard = || {
            Shard(RwLock::new(Table {
                entries: HashTable::new(),
                hand: 0,
                to_go: 0,
            }))
        };
        Self {
            group,
            hasher: DefaultHashBuilder::default(),
            shards: core::iter::repeat_with(shard).take(shards).collect(),
            len: AtomicUsize::new(0),
            max,
            next: AtomicUsize::new(0),
        }
    }

    #[inline]
    pub(crate) fn hash<K: Key<Owned = O> + ?Sized>(&self, key: &K) -> u32 {
        let hash = self.hasher.hash_one(key);
        (hash ^ hash >> 32) as u32
    }

    #[inline]
    fn shard(&self, hash: u32) -> &Shard<O, C, P> {
        // Not the bits by which the table itself chooses.
        &self.shards[(spread(hash) >> 40) as usize & (self.shards.len() - 1)]
    }

    /// The circuit of a known key. Allocates nothing.
    #[inline]
    pub(crate) fn find<K: Key<Owned = O> + ?Sized>(
        &self,
        key: &K,
        hash: u32,
    ) -> Option<Arc<Entry<O, C, P>>> {
        let entry = self.shard(hash).read().first(hash)?;
        if !key.is(&entry.key) {
            return self.find_among(key, hash);
        }
        entry.touch();
        Some(entry)
    }

    /// The same, where keys have a hash in common.
    #[cold]
    fn find_among<K: Key<Owned = O> + ?Sized>(
        &self,
        key: &K,
        hash: u32,
    ) -> Option<Arc<Entry<O, C, P>>> {
        let mut passed = 0;
        loop {
            let some = self.shard(hash).read().some_after(passed, hash);
            for entry in some {
                let entry = entry?;
                if key.is(&entry.key) {
                    entry.touch();
                    return Some(entry);
                }
            }
            passed += COMPARED;
        }
    }

    /// Adds a key that was not found, once it is prepared. What is given up for it is
    /// handed on at once.
    #[cold]
    pub(crate) fn add<K: Key<Owned = O> + ?Sized>(
        &self,
        key: &K,
        hash: u32,
        prepare: impl FnOnce(&Arc<Entry<O, C, P>>),
        evicted: impl FnOnce(Arc<Entry<O, C, P>>),
    ) -> Added<O, C, P> {
        let entry = Arc::new(Entry::new(&self.group, key.to_key(), hash));
        prepare(&entry);
        let Some(place) = self.reserve(evicted) else {
            entry.stray();
            let kept = Kept::Not;
            return Added { entry, kept };
        };
        // Those of this hash that are others. Nothing is given up from here on,
        // since they are in use.
        let mut others = Vec::new();
        while !self.shard(hash).write().insert(&entry, &others) {
            let unseen = self.shard(hash).read().unseen(&others, hash);
            for known in unseen {
                if key.is(&known.key) {
                    known.touch();
                    return Added {
                        entry: known,
                        kept: Kept::ByAnother,
                    };
                }
                others.push(known);
            }
        }
        place.take();
        let kept = Kept::Now;
        Added { entry, kept }
    }

    /// A place for one more, made by giving up another if need be.
    fn reserve(&self, evicted: impl FnOnce(Arc<Entry<O, C, P>>)) -> Option<Place<'_>> {
        let one_more = |len| (len < self.max).then_some(len + 1);
        let added = self
            .len
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        if added.is_ok() {
            return Some(Place(&self.len));
        }
        let given_up = self
            .evict(Spare::UsedOfLate)
            .or_else(|| self.evict(Spare::None))?;
        // Its place is taken over.
        let place = Place(&self.len);
        evicted(given_up);
        Some(place)
    }

    /// Gives up a key that is closed and that no call uses.
    fn evict(&self, spare: Spare) -> Option<Arc<Entry<O, C, P>>> {
        let mut left = LOOKED_AT;
        for _ in 0..self.shards.len() {
            let next = self.next.load(Ordering::Relaxed);
            let mut table = self.shards[next & (self.shards.len() - 1)].write();
            let evicted = table.evict(&self.group, spare, &mut left);
            let has_more = table.to_go > 0;
            drop(table);
            if has_more {
                return None;
            }
            // Who is slower than another thread leaves it where that put it.
            let _ = self.next.compare_exchange(
                next,
                next.wrapping_add(1),
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            if evicted.is_some() || left == 0 {
                return evicted;
            }
        }
        None
    }

    pub(crate) fn group(&self) -> &Arc<Group<O, C, P>> {
        &self.group
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    pub(crate) fn entries(&self) -> Vec<Arc<Entry<O, C, P>>> {
        let mut entries = Vec::with_capacity(self.len());
        for shard in &self.shards {
            entries.extend(shard.read().entries.iter().map(Arc::clone));
        }
        entries
    }
}

impl<O, C, P> Shard<O, C, P> {
    #[inline]
    fn read(&self) -> RwLockReadGuard<'_, Table<O, C, P>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table<O, C, P>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O, C, P> Table<O, C, P>
where
    P: Policy,
{
    /// The first key of this hash: nearly always the only one.
    #[inline]
    fn first(&self, hash: u32) -> Option<Arc<Entry<O, C, P>>> {
        let found = self.entries.find(spread(hash), |entry| entry.hash == hash);
        found.map(Arc::clone)
    }

    /// All keys of this hash.
    fn of_hash(&self, hash: u32) -> impl Iterator<Item = &Arc<Entry<O, C, P>>> {
        let entries = self.entries.iter_hash(spread(hash));
        entries.filter(move |entry| entry.hash == hash)
    }

    /// The next ones of this hash, after so many. (An array: a known key is found
    /// without allocating.)
    fn some_after(&self, passed: usize, hash: u32) -> [Option<Arc<Entry<O, C, P>>>; COMPARED] {
        let mut entries = self.of_hash(hash).skip(passed);
        array::from_fn(|_| entries.next().map(Arc::clone))
    }

    /// Those of this hash that are not among these.
    fn unseen(&self, seen: &[Arc<Entry<O, C, P>>], hash: u32) -> Vec<Arc<Entry<O, C, P>>> {
        let entries = self.of_hash(hash).filter(|entry| !contains(seen, entry));
        entries.map(Arc::clone).collect()
    }

    /// Unless there is another of its hash than these.
    fn insert(&mut self, new: &Arc<Entry<O, C, P>>, others: &[Arc<Entry<O, C, P>>]) -> bool {
        if !self.of_hash(new.hash).all(|entry| contains(others, entry)) {
            return false;
        }
        let rehash = |entry: &Arc<Entry<O, C, P>>| spread(entry.hash);
        self.entries
            .insert_unique(rehash(new), Arc::clone(new), rehash);
        true
    }

    /// Gives up a key that is closed and that no call uses; rather one of which no
    /// failure is counted.
    fn evict(
        &mut self,
        group: &Group<O, C, P>,
        spare: Spare,
        left: &mut usize,
    ) -> Option<Arc<Entry<O, C, P>>> {
        let mut giving_up = None;
        let buckets = self.entries.num_buckets();
        if self.to_go == 0 || self.to_go > buckets {
            self.to_go = buckets;
        }
        let mut best = None;
        while self.to_go > 0 && *left > 0 {
            self.to_go -= 1;
            let bucket = self.hand % buckets;
            self.hand = bucket + 1;
            let Some(entry) = self.entries.get_bucket_mut(bucket) else {
                continue;
            };
            *left -= 1;
            let spared = entry.was_used() && spare == Spare::UsedOfLate;
            // Nobody else has it, nor can come by it while the shard is locked;
            // and what the last who had it did is seen here.
            if !is_free(entry, group, &mut giving_up) {
                continue;
            }
            if spared || !entry.is_closed() {
                continue;
            }
            if entry.circuit.is_idle() {
                best = Some(bucket);
                break;
            }
            best.get_or_insert(bucket);
        }
        let evicted = self.remove(best?)?;
        evicted.give_up();
        self.to_go = 0;
        Some(evicted)
    }

    fn remove(&mut self, bucket: usize) -> Option<Arc<Entry<O, C, P>>> {
        let entry = self.entries.get_bucket_entry(bucket).ok()?;
        Some(entry.remove().0)
    }
}

/// Whether nobody else has it, of an entry whose shard is locked; nor can come by it until both that and
/// `giving_up` are unlocked. What the last who had it did is then seen.
fn is_free<'g, O, C, P>(
    entry: &mut Arc<Entry<O, C, P>>,
    group: &'g Group<O, C, P>,
    giving_up: &mut Option<RwLockWriteGuard<'g, ()>>,
) -> bool {
    if Arc::get_mut(entry).is_some() {
        return true;
    }
    // A link keeps what leads to it, or somebody has it.
    let is_had = |entry: &Arc<_>| Arc::strong_count(entry) > 1;
    if is_had(entry) {
        return false;
    }
    giving_up.get_or_insert_with(|| {
        let lock = group.giving_up.write();
        lock.unwrap_or_else(PoisonError::into_inner)
    });
    let is_free = !is_had(entry);
    fence(Ordering::Acquire);
    is_free
}

fn contains<T>(entries: &[Arc<T>], entry: &Arc<T>) -> bool {
    entries.iter().any(|other| Arc::ptr_eq(other, entry))
}

#[cfg(test)]
mod tests {
    use super::{MAX_SHARDS, Map};
    use crate::breaker::Breaker;
    use crate::keyed::entry::Group;
    use crate::keyed::key::Key;
    use breaker_core::{Circuit, Clock, Config};
    use std::collections::HashSet;
    use std::sync::Arc;

    #[derive(Clone, Copy)]
    struct Standing;

    impl Clock for Standing {
        fn now(&self) -> u64 {
            0
        }

        fn entropy(&self) -> Option<u64> {
            None
        }
    }

    fn map(max: u32) -> Map<u64, Standing, breaker_core::Consecutive> {
        let name = crate::name::Name::Static("keys");
        let template = Breaker::unlisted_named(name, Circuit::new(Config::DEFAULT), Standing);
        let label = <u64 as Key>::label;
        Map::new(Arc::new(Group::new(template, label)), max)
    }

    #[test]
    fn keys_are_spread_over_the_shards_and_within_them() {
        let map = map(100_000);
        for key in 0..6_400_u64 {
            map.add(&key, map.hash(&key), |_| (), |_| ());
        }
        assert_eq!(map.shards.len(), MAX_SHARDS);
        for shard in &map.shards {
            let entries = &shard.read().entries;
            assert!((40..180).contains(&entries.len()), "{}", entries.len());
            let spread = |bits: u64| {
                let spread = |entry: &Arc<_>| super::spread(hash_of(entry)) >> bits & 63;
                let places: HashSet<u64> = entries.iter().map(spread).collect();
                places.len()
            };
            // By these the table chooses: where to look, and what to compare.
            assert!(spread(0) > 20 && spread(57) > 20);
        }
    }

    fn hash_of<C, P>(entry: &super::Entry<u64, C, P>) -> u32 {
        entry.hash
    }

    #[test]
    fn a_few_keys_have_a_few_shards() {
        let shards = [1, 32, 64, 65, 1_000, 10_000, u32::MAX].map(|max| map(max).shards.len());
        assert_eq!(shards, [1, 1, 2, 2, 32, MAX_SHARDS, MAX_SHARDS]);
    }
}
