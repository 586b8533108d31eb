//! Rejections without a flood.

#[cfg(test)]
mod tests;

use super::any::AnyEvent;
use super::clock::ClockOfEvents;
use super::event::{
    CallEnded, CircuitId, FallbackServed, KeyEvicted, KeysFull, LastGoodFailed, LateOutcome, Left,
    Missed, Operated, ProbeExpired, Reconfigured, Rejection, StateChange, WouldClose, WouldReject,
    WouldTrip,
};
use super::kept::Event;
use super::{Observer, Rehearsal, hears_all, is_later, nanos};
use breaker_core::{Clock, Generation};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const SHARDS: usize = 16;
/// How many circuits are counted for at most in each shard.
const COUNTS_AT_MOST: usize = 4_096;

/// Tells an observer of the first refused call of each opening at once, and of those that follow
/// only how many they were: [`Rejection::calls`] says how many one stands for.
///
/// A count is told with the next change of state, before that, and at most once in each `interval`
/// (10 s). There is no timer: that an interval is over the next refused call finds out. The sum of
/// all `calls` is exactly the number of refused calls, from however many threads, once the circuit
/// has closed; [`flush`](Self::flush) tells what is left at any time, and so does the drop of this.
///
/// Everything else passes through. What is counted for a key is told when the key is given up, and
/// forgotten; it does not keep the key's breaker. Of 65,536 circuits that refuse calls at the same
/// time, counts are told earlier.
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
    generation: Generation,
    /// When the observer was told last.
    told_at: u64,
    /// Those of which it was not told: the last one, which says how many they are.
    untold: Option<Event>,
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
                self.tell(self.end(event.circuit(), Some(change.change.generation)));
                event.tell(&self.observer);
            }
            AnyEvent::KeyEvicted(_) => {
                self.tell(self.end(event.circuit(), None));
                event.tell(&self.observer);
            }
            _ => event.tell(&self.observer),
        }
    }

    fn count(&self, event: &Rejection<'_>) {
        let now = self.clock.now();
        let mut counts = self.counts(event.circuit);
        let mut untold = Vec::new();
        let is_told = match counts.get_mut(&event.circuit) {
            Some(count) if count.generation == event.generation => {
                if now.saturating_sub(count.told_at) < self.interval {
                    match &mut count.untold {
                        Some(untold) => untold.count(event),
                        None => count.untold = Some(AnyEvent::from(event).to_event()),
                    }
                    return;
                }
                count.told_at = now;
                let so_far = count.untold.take().map_or(0, |untold| untold.calls());
                drop(counts);
                let calls = event.calls.saturating_add(so_far);
                self.observer.rejected(&Rejection { calls, ..*event });
                return;
            }
            // Told late, of a generation that is over.
            Some(count) if is_later(count.generation, event.generation) => true,
            Some(count) => {
                untold.extend(count.untold.take());
                false
            }
            None => false,
        };
        if !is_told {
            if counts.len() >= COUNTS_AT_MOST && !counts.contains_key(&event.circuit) {
                untold.extend(counts.drain().filter_map(|(_, count)| count.untold));
            }
            let first = Count {
                generation: event.generation,
                told_at: now,
                untold: None,
            };
            counts.insert(event.circuit, first);
        }
        drop(counts);
        self.tell(untold);
        self.observer.rejected(event);
    }

    /// What was counted before this generation; before the circuit's end if there is none.
    fn end(&self, circuit: CircuitId, before: Option<Generation>) -> Option<Event> {
        let mut counts = self.counts(circuit);
        let count = counts.get(&circuit)?;
        if before.is_some_and(|generation| !is_later(generation, count.generation)) {
            return None;
        }
        counts.remove(&circuit)?.untold
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<O: Observer, C: Clock + Send + Sync> Observer for FirstThenCounts<O, C> {
    fn wants_calls(&self) -> bool {
        self.observer.wants_calls()
    }

    #[cfg(feature = "tracing")]
    fn wants_spans(&self) -> bool {
        self.observer.wants_spans()
    }

    fn rehearsal(&self) -> Option<&Rehearsal> {
        self.observer.rehearsal()
    }

    fn left(&self, event: &Left<'_>) {
        self.observer.left(event);
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
