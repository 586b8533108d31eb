//! The circuits of a group, by key: sharded, and bounded.

use super::entry::{Entry, Group};
use super::key::Key;
use breaker_core::Policy;
use core::hash::BuildHasher;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

const MAX_SHARDS: usize = 64;
const KEYS_PER_SHARD: usize = 32;

/// How many keys are looked at for one to give up: so that a flood of new keys
/// finds a bounded wait where none can be given up.
const LOOKED_AT: usize = 256;

pub(crate) struct Map<O, C: 'static, P: 'static> {
    group: Arc<Group<O, C, P>>,
    hasher: DefaultHashBuilder,
    /// A power of two.
    shards: Box<[RwLock<Shard<O, C, P>>]>,
    len: AtomicUsize,
    max: usize,
    /// The shard that gives up a key next.
    next: AtomicUsize,
}

// Of a cache line's own: a lock that is taken must not slow its neighbours down.
#[repr(align(128))]
struct Shard<O, C: 'static, P: 'static> {
    table: HashTable<Arc<Entry<O, C, P>>>,
    /// The bucket at which the search for a key to give up goes on.
    hand: usize,
}

/// What became of a key that was not known.
pub(crate) struct Added<O, C: 'static, P: 'static> {
    pub(crate) entry: Arc<Entry<O, C, P>>,
    pub(crate) evicted: Evicted<O, C, P>,
    /// Whether it is in the map: else every key that is kept is open or in use.
    pub(crate) kept: bool,
}

/// What was given up for a new key, if that was needed.
type Evicted<O, C, P> = Option<Arc<Entry<O, C, P>>>;

/// No key was found to give up.
struct Full;

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
            RwLock::new(Shard {
                table: HashTable::new(),
                hand: 0,
            })
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
    fn shard(&self, spread: u64) -> &RwLock<Shard<O, C, P>> {
        // Not the bits by which the table itself chooses.
        &self.shards[(spread >> 40) as usize & (self.shards.len() - 1)]
    }

    /// The circuit of a known key. Allocates nothing.
    #[inline]
    pub(crate) fn find<K: Key<Owned = O> + ?Sized>(
        &self,
        key: &K,
        hash: u32,
    ) -> Option<Arc<Entry<O, C, P>>> {
        let spread = spread(hash);
        let shard = self.shard(spread).read();
        let shard = shard.unwrap_or_else(PoisonError::into_inner);
        let entry = shard.table.find(spread, |entry| is(entry, key, hash))?;
        entry.touch();
        Some(Arc::clone(entry))
    }

    /// Adds a key that was not found.
    #[cold]
    pub(crate) fn add<K: Key<Owned = O> + ?Sized>(&self, key: &K, hash: u32) -> Added<O, C, P> {
        let entry = Arc::new(Entry::new(&self.group, key.to_key(), hash));
        let Ok(evicted) = self.reserve() else {
            return Added {
                entry,
                evicted: None,
                kept: false,
            };
        };
        let spread = spread(hash);
        let mut shard = write(self.shard(spread));
        if let Some(present) = shard.table.find(spread, |entry| is(entry, key, hash)) {
            // Another thread was quicker.
            let entry = Arc::clone(present);
            drop(shard);
            self.len.fetch_sub(1, Ordering::Relaxed);
            return Added {
                entry,
                evicted,
                kept: true,
            };
        }
        shard
            .table
            .insert_unique(spread, Arc::clone(&entry), |entry| self::spread(entry.hash));
        Added {
            entry,
            evicted,
            kept: true,
        }
    }

    /// A place for one more, made by giving up another if need be, which it gives.
    fn reserve(&self) -> Result<Evicted<O, C, P>, Full> {
        let one_more = |len| (len < self.max).then_some(len + 1);
        if self
            .len
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .is_ok()
        {
            return Ok(None);
        }
        // The place of the one that is given up is taken over.
        self.evict().map(Some).ok_or(Full)
    }

    /// Gives up a key that is closed, that no call uses, and that was not used
    /// again since the hand passed it; rather one of which no failure is counted.
    fn evict(&self) -> Option<Arc<Entry<O, C, P>>> {
        let mut left = LOOKED_AT;
        // The first round finds all of a small map used; the second doesn't.
        for _ in 0..2 * self.shards.len() {
            let next = self.next.fetch_add(1, Ordering::Relaxed) & (self.shards.len() - 1);
            let evicted = write(&self.shards[next]).evict(&mut left);
            if evicted.is_some() || left == 0 {
                return evicted;
            }
        }
        None
    }

    #[cfg(feature = "test-util")]
    pub(crate) fn group(&self) -> &Arc<Group<O, C, P>> {
        &self.group
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    pub(crate) fn entries(&self) -> Vec<Arc<Entry<O, C, P>>> {
        let mut entries = Vec::with_capacity(self.len());
        for shard in &self.shards {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            entries.extend(shard.table.iter().map(Arc::clone));
        }
        entries
    }
}

impl<O, C, P> Shard<O, C, P>
where
    P: Policy,
{
    fn evict(&mut self, left: &mut usize) -> Option<Arc<Entry<O, C, P>>> {
        let buckets = self.table.num_buckets();
        let mut second_best = None;
        for _ in 0..buckets {
            if *left == 0 {
                break;
            }
            let bucket = self.hand % buckets;
            self.hand = bucket + 1;
            let Some(entry) = self.table.get_bucket(bucket) else {
                continue;
            };
            *left -= 1;
            // The map is locked, so nobody else can come by it.
            let in_use = Arc::strong_count(entry) > 1;
            if entry.was_used() || in_use || !entry.is_closed() {
                continue;
            }
            if entry.circuit.is_idle() {
                return self.remove(bucket);
            }
            second_best.get_or_insert(bucket);
        }
        self.remove(second_best?)
    }

    fn remove(&mut self, bucket: usize) -> Option<Arc<Entry<O, C, P>>> {
        let entry = Arc::clone(self.table.get_bucket(bucket)?);
        let found = self
            .table
            .find_entry(spread(entry.hash), |other| Arc::ptr_eq(other, &entry));
        found.ok()?.remove();
        Some(entry)
    }
}

#[inline]
fn is<O, C, P, K: Key<Owned = O> + ?Sized>(entry: &Entry<O, C, P>, key: &K, hash: u32) -> bool {
    entry.hash == hash && key.is(&entry.key)
}

fn write<O, C, P>(shard: &RwLock<Shard<O, C, P>>) -> RwLockWriteGuard<'_, Shard<O, C, P>> {
    shard.write().unwrap_or_else(PoisonError::into_inner)
}
