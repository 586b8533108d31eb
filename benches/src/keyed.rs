//! Keyed calls, with 100,000 keys: always the same one, and in random order, so that what a
//! call needs is not in the processor's nearest caches.

use crate::calls::consume;
use crate::ours::Answer;
use breakerbox::{Config, Key, KeyedBreakers, circuit_breaker};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::Hash;
use std::hint::black_box;
use std::sync::{Arc, PoisonError, RwLock};

const KEYS: u32 = 100_000;

/// Bytes of a text.
const LENGTH: usize = 16;

static BY_NUMBER: KeyedBreakers<u64> =
    KeyedBreakers::new("by-number", Config::DEFAULT).max_keys(KEYS);
static BY_TEXT: KeyedBreakers<String> =
    KeyedBreakers::new("by-text", Config::DEFAULT).max_keys(KEYS);

#[circuit_breaker(key = account, max_keys = KEYS)]
#[inline(never)]
fn annotated_by_number(account: u64, rooms: u32) -> Answer {
    black_box(account);
    Ok(black_box(rooms))
}

#[circuit_breaker(key = account, max_keys = KEYS)]
#[inline(never)]
fn annotated_by_text(account: &str, rooms: u32) -> Answer {
    black_box(account);
    Ok(black_box(rooms))
}

/// A breaker for each key of a kind.
pub(crate) struct Keyed<K: 'static> {
    /// In random order.
    keys: Arc<[K]>,
    call: fn(K),
    annotated: fn(K),
    /// What a key takes.
    pub(crate) bytes: usize,
}

pub(crate) fn numbers() -> Keyed<u64> {
    let keys: Arc<[u64]> = shuffled().map(u64::from).collect();
    let call = |account| {
        consume(
            BY_NUMBER
                .get(&account)
                .call_sync(|| Ok::<_, ()>(black_box(1))),
        );
    };
    let annotated = |account| consume(annotated_by_number(account, black_box(1)));
    Keyed::new(&BY_NUMBER, keys, call, annotated)
}

pub(crate) fn texts() -> Keyed<&'static str> {
    let mut all = String::new();
    for number in shuffled() {
        let _ = write!(all, "account-{number:08}");
    }
    // One after another, in the order of the calls: only the breakers are far apart.
    let all: &'static str = all.leak();
    let keys = (0..KEYS as usize).map(|at| &all[at * LENGTH..(at + 1) * LENGTH]);
    let call = |account: &'static str| {
        consume(BY_TEXT.get(account).call_sync(|| Ok::<_, ()>(black_box(1))));
    };
    let annotated = |account| consume(annotated_by_text(account, black_box(1)));
    Keyed::new(&BY_TEXT, keys.collect(), call, annotated)
}

impl<K: Key + Copy + Hash + Ord + Send + Sync> Keyed<K> {
    /// Each key is seen once, not in the order of the calls that are measured.
    fn new(
        breakers: &KeyedBreakers<K::Owned>,
        keys: Arc<[K]>,
        call: fn(K),
        annotated: fn(K),
    ) -> Self {
        let mut sorted = keys.to_vec();
        sorted.sort_unstable();
        let used = allocation_counter::measure(|| {
            for key in &sorted {
                breakers.get(key);
            }
        });
        assert_eq!(breakers.len(), keys.len());
        sorted.into_iter().for_each(annotated);
        Self {
            bytes: used.bytes_current as usize / keys.len(),
            keys,
            call,
            annotated,
        }
    }

    pub(crate) fn always_the_same(&self) -> impl FnMut() + use<K> {
        always_the_same(self.keys[0], self.call)
    }

    pub(crate) fn in_turn(&self) -> impl FnMut() + use<K> {
        in_turn(Arc::clone(&self.keys), self.call)
    }

    pub(crate) fn annotated_always_the_same(&self) -> impl FnMut() + use<K> {
        always_the_same(self.keys[0], self.annotated)
    }

    pub(crate) fn annotated_in_turn(&self) -> impl FnMut() + use<K> {
        in_turn(Arc::clone(&self.keys), self.annotated)
    }

    /// The same order through a plain map, looked up and nothing else.
    pub(crate) fn map_in_turn(&self) -> impl FnMut() + use<K> {
        let keys = self.keys.iter().map(|key| (*key, Arc::new([0_u64; 3])));
        let map: RwLock<HashMap<K, Arc<[u64; 3]>>> = RwLock::new(keys.collect());
        in_turn(Arc::clone(&self.keys), move |key| {
            let map = map.read().unwrap_or_else(PoisonError::into_inner);
            black_box(map.get(&key).map(Arc::clone));
        })
    }
}

fn always_the_same<K: Copy>(key: K, call: impl Fn(K)) -> impl FnMut() {
    move || call(black_box(key))
}

fn in_turn<K: Copy>(keys: Arc<[K]>, call: impl Fn(K)) -> impl FnMut() {
    let mut next = 0;
    move || {
        call(keys[next]);
        next += 1;
        if next == keys.len() {
            next = 0;
        }
    }
}

/// All numbers below [`KEYS`], in an order that nothing can foretell.
fn shuffled() -> impl Iterator<Item = u32> {
    let mut numbers: Vec<u32> = (0..KEYS).collect();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for last in (1..numbers.len()).rev() {
        // xorshift
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        numbers.swap(last, random as usize % (last + 1));
    }
    numbers.into_iter()
}

#[cfg(test)]
mod tests {
    use super::{KEYS, LENGTH, numbers, texts};
    use std::collections::HashSet;

    #[test]
    fn there_are_so_many_keys_and_each_is_called_in_turn() {
        let (numbers, texts) = (numbers(), texts());
        let (mut one, mut other) = (numbers.in_turn(), texts.annotated_in_turn());
        for _ in 0..KEYS + 1 {
            one();
            other();
        }
        let distinct: HashSet<_> = texts.keys.iter().collect();
        assert_eq!(distinct.len(), KEYS as usize);
        assert!(texts.keys.iter().all(|key| key.len() == LENGTH));
        assert!(numbers.bytes > 32 && texts.bytes > 32);
    }
}
