//! Rejections without a flood.

#[cfg(test)]
mod tests;

use super::any::AnyEvent;
use super::clock::ClockOfEvents;
use super::event::{
    CallEnded, CircuitId, FallbackServed, KeyEvicted, KeysFull, LastGoodFailed, LateOutcome, Left,
    Missed, Operated, ProbeExpired, Reconfigured, Rejection, SharingDiffers, SharingLost,
    SharingRestored, StateChange, WouldClose, WouldReject, WouldTrip,
};
use super::kept::Event;
use super::{Observer, Rehearsal, hears_all, is_later, nanos, wants_what};
use crate::lock::lock;
use breaker_core::{Clock, Generation};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

const SHARDS: usize = 16;
/// How many circuits are counted for at most in each shard.
const COUNTS_AT_MOST: usize = 4_096;
/// How many refused calls may come late: one for each thread that was held up. More are of another
/// circuit, which stands where one stood that is gone.
const LATE_AT_MOST: u32 = 64;

/// Tells an observer of the first refused call of each opening at once, and of those that follow
/// only how many they were: [`Rejection::calls`] says how many one stands for.
///
/// A count is told with the next change of state, before that, and at most once in each `interval`
/// (10 s). There is no timer: that an interval is over the next refused call finds out. The sum of
/// all `calls` is exactly the number of refused calls, from however many threads, once the circuit
/// has closed; [`flush`](Self::flush) tells what is left at any time, and so does the drop of this.
///
/// Everything else passes through. What is counted for a key is told when the key is given up, and
/// of a shared breaker when it is dropped, and forgotten; it keeps neither. Of 65,536 circuits that
/// refuse calls at the same time, counts are told earlier.
///
/// ```
/// use breakerbox::observe::{self, FirstThenCounts, Observer, Rejection};
/// use breakerbox::{Breaker, Config};
/// use std::sync::{Arc, Mutex};
///
/// #[derive(Default)]
/// struct Lines(Mutex<Vec<String>>);
/// impl Observer for Lines {
///     fn rejected(&self, event: &Rejection<'_>) {
///         self.0.lock().unwrap().push(event.to_string());
///     }
/// }
///
/// # let _scope = breakerbox::test::scope();
/// let lines = Arc::new(Lines::default());
/// let _installed = observe::install(FirstThenCounts::new(lines.clone()));
/// let pms = Breaker::new("pms", Config::DEFAULT);
/// pms.force_open();
/// for _ in 0..1_000 {
///     assert!(pms.admit().is_err());
/// }
/// pms.close();
/// assert_eq!(
///     *lines.0.lock().unwrap(),
///     [
///         "call refused: circuit `pms` is held open by an operator",
///         "999 calls refused: circuit `pms` is held open by an operator",
///     ]
/// );
/// ```
pub struct FirstThenCounts<O: Observer, C: Clock = ClockOfEvents> {
    observer: O,
    clock: C,
    /// Nanoseconds.
    interval: u64,
    shards: [Mutex<HashMap<CircuitId, Count>>; SHARDS],
}

/// Refused calls of one generation.
struct Count {
    breaker: Box<str>,
    generation: Generation,
    /// When the observer was told last; `None` where nothing was refused in this generation yet. It
    /// is kept so that what is told late of the one before is known to be late.
    told_at: Option<u64>,
    /// Those of which it was not told: the last one, which says how many they are.
    untold: Option<Event>,
    /// How many came late.
    late: u32,
}

impl Count {
    /// Whether a refused call goes on with it, and need not be told yet.
    fn goes_on(&self, event: &Rejection<'_>, now: u64, interval: u64) -> bool {
        let is_early = |told_at| now.saturating_sub(told_at) < interval;
        self.has_begun(event) && self.told_at.is_some_and(is_early)
    }

    fn has_begun(&self, event: &Rejection<'_>) -> bool {
        let is_same = self.generation == event.generation && *self.breaker == *event.error.name();
        is_same && self.told_at.is_some()
    }

    /// Whether a refused call is of a generation that is over.
    fn is_after(&self, event: &Rejection<'_>) -> bool {
        *self.breaker == *event.error.name() && is_later(self.generation, event.generation)
    }
}

#[cfg(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
impl<O: Observer> FirstThenCounts<O> {
    /// Around an observer.
    #[must_use]
    pub fn new(observer: O) -> Self {
        Self::with_clock(observer, ClockOfEvents::default())
    }
}

impl<O: Observer, C: Clock> FirstThenCounts<O, C> {
    /// Around an observer, with a clock of one's own.
    #[must_use]
    pub fn with_clock(observer: O, clock: C) -> Self {
        Self {
            observer,
            clock,
            interval: 10_000_000_000,
            shards: Default::default(),
        }
    }

    /// How long a count goes on at least before it is told, where the state stays as it is.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = nanos(interval);
        self
    }

    /// Tells what has been counted and not yet told.
    pub fn flush(&self) {
        for shard in &self.shards {
            let untold: Vec<Event> = lock(shard)
                .values_mut()
                .filter_map(|count| count.untold.take())
                .collect();
            self.tell(untold);
        }
    }

    fn hear(&self, event: &AnyEvent<'_>) {
        match event {
            AnyEvent::Rejection(event) => self.count(event),
            AnyEvent::StateChange(change) => {
                self.tell(self.change(change));
                event.tell(&self.observer);
            }
            AnyEvent::KeyEvicted(event) => {
                let count = self.counts(event.circuit).remove(&event.circuit);
                self.tell(count.and_then(|count| count.untold));
                self.observer.key_evicted(event);
            }
            _ => event.tell(&self.observer),
        }
    }

    fn count(&self, event: &Rejection<'_>) {
        let now = self.clock.now();
        let mut counts = self.counts(event.circuit);
        let begins =
            |count: &Count| count.goes_on(event, now, self.interval) && count.untold.is_none();
        let mut first = None;
        if counts.get(&event.circuit).is_some_and(begins) {
            drop(counts);
            // Displays a key's label, which is users' code: where nothing is locked.
            first = Some(AnyEvent::from(event).to_event());
            counts = self.counts(event.circuit);
        }
        let mut untold = Vec::new();
        let is_told = match counts.get_mut(&event.circuit) {
            Some(count) if count.goes_on(event, now, self.interval) => {
                match (&mut count.untold, first) {
                    (Some(untold), _) => {
                        untold.count(event);
                        return;
                    }
                    (none, Some(first)) => {
                        *none = Some(first);
                        return;
                    }
                    // Told by another thread meanwhile.
                    (None, None) => true,
                }
            }
            Some(count) if count.has_begun(event) => {
                count.told_at = Some(now);
                let so_far = count.untold.take().map_or(0, |untold| untold.calls());
                drop(counts);
                let calls = event.calls.saturating_add(so_far);
                self.observer.rejected(&Rejection { calls, ..*event });
                return;
            }
            // Told late.
            Some(count) if count.is_after(event) && count.late < LATE_AT_MOST => {
                count.late += 1;
                true
            }
            Some(count) => {
                untold.extend(count.untold.take());
                false
            }
            None => false,
        };
        if !is_told {
            if counts.len() >= COUNTS_AT_MOST && !counts.contains_key(&event.circuit) {
                counts.retain(|_, count| count.told_at.is_some());
            }
            if counts.len() >= COUNTS_AT_MOST && !counts.contains_key(&event.circuit) {
                untold.extend(counts.drain().filter_map(|(_, count)| count.untold));
            }
            let first = Count {
                breaker: event.error.name().into(),
                generation: event.generation,
                told_at: Some(now),
                untold: None,
                late: 0,
            };
            counts.insert(event.circuit, first);
        }
        drop(counts);
        self.tell(untold);
        self.observer.rejected(event);
    }

    /// What was counted before this change.
    fn change(&self, event: &StateChange<'_>) -> Option<Event> {
        let (circuit, generation) = (event.circuit, event.change.generation);
        let mut counts = self.counts(circuit);
        let count = counts.get_mut(&circuit)?;
        if *count.breaker != *event.breaker {
            // That circuit is gone, and its place is another's.
            return counts.remove(&circuit)?.untold;
        }
        if !is_later(generation, count.generation) {
            return None;
        }
        (count.generation, count.told_at) = (generation, None);
        count.untold.take()
    }

    fn tell(&self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            event.tell(&self.observer);
        }
    }

    fn counts(&self, circuit: CircuitId) -> MutexGuard<'_, HashMap<CircuitId, Count>> {
        lock(&self.shards[circuit.shard(SHARDS)])
    }
}

impl<O: Observer, C: Clock + Send + Sync> Observer for FirstThenCounts<O, C> {
    wants_what!(self, self.observer);

    fn left(&self, event: &Left<'_>) {
        for shard in &self.shards {
            let is_gone = |_: &CircuitId, count: &mut Count| *count.breaker == *event.breaker;
            let gone: Vec<_> = lock(shard).extract_if(is_gone).collect();
            self.tell(gone.into_iter().filter_map(|(_, count)| count.untold));
        }
        self.observer.left(event);
    }

    fn sharing_differs(&self, event: &SharingDiffers<'_>) {
        self.observer.sharing_differs(event);
    }

    fn sharing_lost(&self, event: &SharingLost<'_>) {
        self.observer.sharing_lost(event);
    }

    fn sharing_restored(&self, event: &SharingRestored<'_>) {
        self.observer.sharing_restored(event);
    }

    hears_all!(self, event => self.hear(&event.into()));
}

/// What is left is told.
impl<O: Observer, C: Clock> Drop for FirstThenCounts<O, C> {
    fn drop(&mut self) {
        self.flush();
    }
}

impl<O: Observer, C: Clock> fmt::Debug for FirstThenCounts<O, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FirstThenCounts")
            .field("interval", &Duration::from_nanos(self.interval))
            .finish_non_exhaustive()
    }
}
