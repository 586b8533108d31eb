//! The observer by which the page learns of calls and changes. What it keeps is bounded: of each
//! circuit that is listed some numbers and its last entries into a state.

use super::counts::{Counts, What, slice};
use super::history::{Entered, History};
use super::shadow::Would;
use crate::clock::SystemClock;
use crate::name::KeyLabel;
use crate::observe::{
    CallEnded, CallOutcome, CircuitId, FallbackServed, KeyEvicted, Observer, Rejection,
    StateChange, WouldReject, WouldTrip,
};
use crate::registry::Found;
use breaker_core::{Clock, Generation};
use hashbrown::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// As many locks, so that calls of different circuits seldom meet at one.
const SHARDS: usize = 32;

/// So many circuits are kept before those are looked for that have left the registry.
const AT_LEAST: usize = 4096;

type Shard = RwLock<HashMap<CircuitId, Arc<Watched>>>;

#[derive(Debug)]
pub(super) struct Collector {
    /// By the coarse clock, in nanoseconds.
    began: u64,
    /// Entries into a state that are kept of each circuit.
    history: usize,
    shards: [Shard; SHARDS],
    next: AtomicU64,
    kept: AtomicUsize,
    /// With more than so many it is time to look for those that left.
    sweep_at: AtomicUsize,
    /// Milliseconds that a test let pass.
    #[cfg(test)]
    pub(super) ahead: AtomicU64,
}

/// What is known of a circuit.
#[derive(Debug)]
pub(super) struct Watched {
    /// Its number on the page: never another's, as long as the process runs.
    pub(super) number: u64,
    pub(super) name: Box<str>,
    pub(super) key: Option<Box<str>>,
    /// Milliseconds of Unix time.
    pub(super) first_seen: u64,
    pub(super) counts: Counts,
    history: Mutex<History>,
    would: Mutex<Would>,
    /// How much was told of it, but for calls.
    told: AtomicU32,
    /// The number of its entry in the registry, once that was looked at.
    entry: OnceLock<u64>,
}

impl Watched {
    /// Whether it is what was entered under this number.
    pub(super) fn is_entry(&self, entry: u64) -> bool {
        *self.entry.get_or_init(|| entry) == entry
    }

    pub(super) fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn would(&self) -> MutexGuard<'_, Would> {
        self.would.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another number after each time that something was told of it, but for calls.
    pub(super) fn told(&self) -> u32 {
        self.told.load(Ordering::Acquire)
    }

    fn was_told(&self) {
        self.told.fetch_add(1, Ordering::Release);
    }

    /// Notes who brought a generation about.
    pub(super) fn attribute(&self, generation: Generation, by: &str) {
        self.history().attribute(generation, by);
        self.was_told();
    }

    /// A circuit's identity may be used again after it is gone. The key is compared only where
    /// that is cheap in proportion.
    fn is_of(&self, name: &str, key: Option<KeyLabel<'_>>, thorough: bool) -> bool {
        *self.name == *name
            && match (&self.key, key) {
                (None, None) => true,
                (Some(known), Some(key)) => !thorough || key.is(known),
                _ => false,
            }
    }
}

impl Collector {
    pub(super) fn new(history: usize) -> Self {
        Self {
            began: SystemClock.now(),
            history,
            shards: std::array::from_fn(|_| Shard::default()),
            next: AtomicU64::new(1),
            kept: AtomicUsize::new(0),
            sweep_at: AtomicUsize::new(AT_LEAST),
            #[cfg(test)]
            ahead: AtomicU64::new(0),
        }
    }

    /// Milliseconds since it began, by a clock that goes only forward.
    pub(super) fn elapsed(&self) -> u64 {
        let elapsed = SystemClock.now().saturating_sub(self.began) / 1_000_000;
        #[cfg(test)]
        let elapsed = elapsed + self.ahead.load(Ordering::Relaxed);
        elapsed
    }

    /// The number that the next new circuit gets.
    pub(super) fn next_number(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    fn shard(&self, circuit: CircuitId) -> &Shard {
        // The numbers are dense, or addresses: their low bits are alike.
        let spread = circuit.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        &self.shards[(spread >> 59) as usize]
    }

    /// What is known of a circuit.
    pub(super) fn known(&self, circuit: CircuitId) -> Option<Arc<Watched>> {
        let shard = self.shard(circuit).read();
        let shard = shard.unwrap_or_else(PoisonError::into_inner);
        shard.get(&circuit).map(Arc::clone)
    }

    /// What is known of a circuit, which is made known if it isn't.
    pub(super) fn watched(
        &self,
        circuit: CircuitId,
        name: &str,
        key: Option<KeyLabel<'_>>,
        thorough: bool,
    ) -> Arc<Watched> {
        match self.known(circuit) {
            Some(watched) if watched.is_of(name, key, thorough) => watched,
            _ => self.add(circuit, name, key),
        }
    }

    /// What is known of a circuit that is listed. Where it is another one that stands where one
    /// stood before, under the same name, it is made known anew.
    pub(super) fn listed(&self, found: &Found, name: &str) -> Arc<Watched> {
        let (circuit, key) = (found.circuit_id(), found.key());
        let watched = self.watched(circuit, name, key, true);
        if watched.is_entry(found.entry()) {
            return watched;
        }
        let history = watched.history().since_it_began(found.generation());
        let made = self.made(name, key, history);
        made.is_entry(found.entry());
        self.write(circuit).insert(circuit, Arc::clone(&made));
        made
    }

    fn made(&self, name: &str, key: Option<KeyLabel<'_>>, history: History) -> Arc<Watched> {
        Arc::new(Watched {
            number: self.next.fetch_add(1, Ordering::Relaxed),
            name: name.into(),
            key: key.map(|key| key.to_string().into()),
            first_seen: unix_now(),
            counts: Counts::default(),
            history: Mutex::new(history),
            would: Mutex::default(),
            told: AtomicU32::new(0),
            entry: OnceLock::new(),
        })
    }

    #[cold]
    fn add(&self, circuit: CircuitId, name: &str, key: Option<KeyLabel<'_>>) -> Arc<Watched> {
        // Outside the lock: a label is somebody else's code.
        let made = self.made(name, key, History::default());
        let mut shard = self.write(circuit);
        if let Some(known) = shard.get(&circuit)
            && known.name == made.name
            && known.key == made.key
        {
            return Arc::clone(known);
        }
        let before = shard.insert(circuit, Arc::clone(&made));
        drop(shard);
        if before.is_none() {
            self.added();
        }
        made
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        let len = |shard: &Shard| shard.read().map_or(0, |shard| shard.len());
        self.shards.iter().map(len).sum()
    }

    fn write(
        &self,
        circuit: CircuitId,
    ) -> std::sync::RwLockWriteGuard<'_, HashMap<CircuitId, Arc<Watched>>> {
        let shard = self.shard(circuit).write();
        shard.unwrap_or_else(PoisonError::into_inner)
    }

    /// Where nobody looks at the page, what left is looked for as often as their number doubles:
    /// so breakers that live for one client each don't pile up.
    fn added(&self) {
        let kept = self.kept.fetch_add(1, Ordering::Relaxed) + 1;
        if kept > self.sweep_at.load(Ordering::Relaxed) {
            self.sweep_at.store(usize::MAX, Ordering::Relaxed);
            let before = self.next_number();
            let listed = super::listed::circuits();
            self.keep(&listed, before);
        }
    }

    /// Forgets all circuits but these and those that came later, which have this number or a
    /// greater one.
    pub(super) fn keep(&self, listed: &HashSet<CircuitId>, later: u64) {
        let mut kept = 0;
        let mut forgotten = Vec::new();
        for shard in &self.shards {
            let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
            let left = |circuit: &CircuitId, watched: &mut Arc<Watched>| {
                !listed.contains(circuit) && watched.number < later
            };
            forgotten.extend(shard.extract_if(left));
            kept += shard.len();
        }
        self.kept.store(kept, Ordering::Relaxed);
        let sweep_at = kept.saturating_mul(2).max(AT_LEAST);
        self.sweep_at.store(sweep_at, Ordering::Relaxed);
        drop(forgotten);
    }

    fn count(
        &self,
        circuit: CircuitId,
        name: &str,
        key: Option<KeyLabel<'_>>,
        (what, many): (What, u32),
    ) {
        let slice = slice(self.elapsed());
        {
            // Under the lock, which others only read: counting it up and down would cost as much.
            let shard = self.shard(circuit).read();
            let shard = shard.unwrap_or_else(PoisonError::into_inner);
            if let Some(watched) = shard.get(&circuit)
                && watched.is_of(name, key, false)
            {
                watched.counts.add(what, many, slice);
                return;
            }
        }
        let watched = self.add(circuit, name, key);
        watched.counts.add(what, many, slice);
    }
}

/// Milliseconds of Unix time.
pub(super) fn unix_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis().try_into().unwrap_or(u64::MAX))
}

impl Observer for Collector {
    fn wants_calls(&self) -> bool {
        true
    }

    fn state_changed(&self, event: &StateChange<'_>) {
        let watched = self.watched(event.circuit, event.breaker, event.key, true);
        let entered = Entered {
            at: unix_now(),
            change: *event.change,
            sequence: event.sequence,
            by: None,
        };
        watched.history().add(entered, self.history);
        watched.was_told();
    }

    fn call_ended(&self, event: &CallEnded<'_>) {
        let what = match event.outcome {
            CallOutcome::Success | CallOutcome::Ignored => What::Fine,
            CallOutcome::Dropped => What::Dropped,
            CallOutcome::Failure
            | CallOutcome::TimedOut
            | CallOutcome::Panicked
            | CallOutcome::Overloaded(_) => What::Failed,
        };
        self.count(event.circuit, event.breaker, event.key, (what, 1));
    }

    fn rejected(&self, event: &Rejection<'_>) {
        let error = event.error;
        let calls = u32::try_from(event.calls).unwrap_or(u32::MAX);
        self.count(
            event.circuit,
            error.name(),
            error.key(),
            (What::Refused, calls),
        );
    }

    fn fallback_served(&self, event: &FallbackServed<'_>) {
        self.count(event.circuit, event.breaker, event.key, (What::Stale, 1));
    }

    fn would_trip(&self, event: &WouldTrip<'_>) {
        let watched = self.watched(event.circuit, event.breaker, event.key, true);
        watched.would().have_opened(event.change, unix_now());
        watched.was_told();
    }

    fn would_reject(&self, event: &WouldReject<'_>) {
        let watched = self.watched(event.circuit, event.breaker, event.key, false);
        watched.would().have_refused(event.generation);
        watched.was_told();
    }

    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        let gone = self.write(event.circuit).remove(&event.circuit);
        if gone.is_some() {
            let fewer = |kept: usize| kept.checked_sub(1);
            let _ = self
                .kept
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::AnyBreaker as _;
    use crate::{Breaker, Config, observe};

    #[test]
    fn breakers_of_one_client_each_do_not_pile_up_where_nobody_looks() {
        let _scope = crate::test::scope();
        let collector = Arc::new(Collector::new(8));
        let _installed = observe::install(Arc::clone(&collector));
        let stays = Breaker::shared("stays", Config::DEFAULT);
        stays.force_open();
        let mut most = 0;
        for client in 0..20_000 {
            Breaker::shared(format!("client-{client}"), Config::DEFAULT).force_open();
            most = most.max(collector.kept());
        }
        assert!(most <= AT_LEAST + 1, "{most}");
        let stays = collector.watched(stays.circuit_id(), "stays", None, true);
        assert_eq!(stays.history().entries().len(), 1);
    }

    #[test]
    fn what_is_listed_is_kept_however_many_there_are() {
        let _scope = crate::test::scope();
        let collector = Arc::new(Collector::new(8));
        let _installed = observe::install(Arc::clone(&collector));
        let all: Vec<_> = (0..2 * AT_LEAST)
            .map(|place| Breaker::shared(format!("kept-{place}"), Config::DEFAULT))
            .collect();
        for breaker in &all {
            breaker.force_open();
        }
        assert_eq!(collector.kept(), all.len());
        for breaker in &all {
            let known = collector.known(breaker.circuit_id()).unwrap();
            assert_eq!(known.history().entries().len(), 1);
        }
    }

    #[test]
    fn a_key_that_is_given_up_is_forgotten() {
        let _scope = crate::test::scope();
        let collector = Arc::new(Collector::new(8));
        let _installed = observe::install(Arc::clone(&collector));
        let keys = crate::KeyedBreakers::<u32>::shared("keys", Config::DEFAULT, 10).unwrap();
        for key in 0..1000_u32 {
            keys.get(&key).call_sync(|| Ok::<_, ()>(())).unwrap();
        }
        assert!(collector.kept() <= 10, "{}", collector.kept());
    }
}
