//! Each circuit's events in their order.

mod line;
#[cfg(test)]
mod tests;

use super::any::AnyEvent;
use super::clock::ClockOfEvents;
use super::event::{
    CallEnded, CircuitId, FallbackServed, KeyEvicted, KeysFull, LastGoodFailed, LateOutcome, Left,
    Missed, Operated, ProbeExpired, Reconfigured, Rejection, SharingDiffers, SharingLost,
    SharingRestored, StateChange, WouldClose, WouldReject, WouldTrip,
};
use super::listeners::forget_panic;
use super::{Observer, Rehearsal, hears_all, nanos, wants_what};
use crate::lock::lock;
use breaker_core::Clock;
use line::{Arrival, Line};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

const SHARDS: usize = 16;
/// How many circuits are known at most in each shard.
const LINES_AT_MOST: usize = 4_096;
const NEVER: u64 = u64::MAX;

/// Tells an observer of each circuit's events in their order, and of one at a time.
///
/// Threads that change a breaker at the same time may be told of it in either order. An observer
/// that keeps a picture of its own (a page, an alert that closes itself) wants them in that in
/// which they happened:
///
/// - Of a circuit's state changes each begins where the one before has led to: its generation is
///   the next one. One that comes early is held back until the others have come.
/// - Any other event comes after the change to its generation, where that was told. Between two
///   changes events come as they are told.
/// - Of one circuit the observer is told of one event at a time. Nobody waits for that: a thread
///   that has something to tell while another delivers leaves it there, and the other one delivers
///   it too. An observer that takes its time therefore keeps one thread and no more.
///
/// Circuits have nothing to do with each other: their events come as they are told.
///
/// # What never comes
/// A change may be told to nobody here: one from before the observer was installed, or one whose
/// thread is held up for ever by another observer. After `patience` (1 s), or where 4,096 events of
/// the circuit wait, it is waited for no longer, and the observer is told how many changes it
/// [missed](Observer::missed), but for those before the first one that it hears of. There is no
/// timer: it is looked at when the next event of any circuit comes, and by [`flush`](Self::flush).
/// So install it before the first call, where you can.
///
/// Behind an observer that does not come back at most 4,096 events of a circuit wait, and as many
/// changes again; those after them are counted, and told as missed. Of more than 65,536 circuits
/// that have changed their state, those that rest are forgotten: the next event of one is as if
/// this had been installed in the middle.
///
/// ```
/// use breakerbox::observe::{self, InOrder, Observer, StateChange};
/// use breakerbox::{Breaker, Config, State};
/// use std::sync::{Arc, Mutex};
///
/// /// What the page shows.
/// #[derive(Default)]
/// struct Page(Mutex<Option<State>>);
/// impl Observer for Page {
///     fn state_changed(&self, event: &StateChange<'_>) {
///         let shown = self.0.lock().unwrap().replace(event.change.to);
///         assert!(shown.is_none_or(|shown| shown == event.change.from));
///     }
/// }
///
/// let page = Arc::new(Page::default());
/// let _installed = observe::install(InOrder::new(page.clone()));
/// static PMS: Breaker = Breaker::new("pms", Config::DEFAULT);
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| (0..100).for_each(|_| drop((PMS.force_open(), PMS.close()))));
///     }
/// });
/// assert_eq!(*page.0.lock().unwrap(), Some(PMS.state()));
/// ```
pub struct InOrder<O: Observer, C: Clock = ClockOfEvents> {
    observer: O,
    clock: C,
    /// Nanoseconds.
    patience: u64,
    shards: [Mutex<HashMap<CircuitId, Line>>; SHARDS],
    /// When it is time to look for those that have waited too long.
    deadline: AtomicU64,
}

#[cfg(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
impl<O: Observer> InOrder<O> {
    /// Around an observer.
    #[must_use]
    pub fn new(observer: O) -> Self {
        Self::with_clock(observer, ClockOfEvents::default())
    }
}

impl<O: Observer, C: Clock> InOrder<O, C> {
    /// Around an observer, with a clock of one's own.
    #[must_use]
    pub fn with_clock(observer: O, clock: C) -> Self {
        Self {
            observer,
            clock,
            patience: 1_000_000_000,
            shards: Default::default(),
            deadline: AtomicU64::new(NEVER),
        }
    }

    /// How long an event waits at most for one before it that never comes.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = nanos(patience);
        self
    }

    /// Delivers what is held back, whatever it waits for: at the end of a program, or where
    /// nothing may happen for a long time.
    pub fn flush(&self) {
        self.give_up(|_| true);
    }

    fn order(&self, event: &AnyEvent<'_>) {
        let deadline = self.deadline.load(Ordering::Relaxed);
        if deadline != NEVER && self.clock.now() >= deadline {
            self.give_up_what_waited_long();
        }
        let (circuit, now) = (event.circuit(), self.clock.now());
        let mut lines = self.lines(circuit);
        let mut kept = None;
        while kept.is_none()
            && lines
                .get(&circuit)
                .unwrap_or(&Line::default())
                .may_keep(event)
        {
            drop(lines);
            // Displays a key's label, or an error, which is users' code: where nothing is locked.
            kept = Some(event.to_event());
            lines = self.lines(circuit);
        }
        if lines.len() >= LINES_AT_MOST && !lines.contains_key(&circuit) {
            lines.retain(|_, line| !line.is_idle());
        }
        let line = lines.entry(circuit).or_default();
        let is_now = line.arrive(event, &mut kept, now) == Arrival::Now;
        // What waits for nothing and nobody needs no keeping.
        let at_once = is_now && !line.is_delivering && line.ready.is_empty();
        if is_now
            && !at_once
            && let Some(event) = kept.take()
        {
            line.push(event);
        }
        line.follow(now);
        self.wait_for(line);
        if std::mem::replace(&mut line.is_delivering, true) {
            // The thread that delivers sees to it.
            return;
        }
        drop(lines);
        if at_once {
            forget_panic(|| event.tell(&self.observer));
        }
        self.deliver(circuit);
    }

    /// Delivers what is ready, until there is nothing more. By one thread at a time, outside the
    /// lock.
    fn deliver(&self, circuit: CircuitId) {
        loop {
            let mut lines = self.lines(circuit);
            let Some(line) = lines.get_mut(&circuit) else {
                return;
            };
            let ready = line.take();
            if ready.is_empty() {
                line.is_delivering = false;
                if line.is_new() {
                    lines.remove(&circuit);
                }
                return;
            }
            drop(lines);
            for event in ready {
                forget_panic(|| event.tell(&self.observer));
            }
        }
    }

    fn wait_for(&self, line: &Line) {
        if let Some(since) = line.waits_since {
            let deadline = since.saturating_add(self.patience).min(NEVER - 1);
            self.deadline.fetch_min(deadline, Ordering::Relaxed);
        }
    }

    fn give_up_what_waited_long(&self) {
        self.deadline.store(NEVER, Ordering::Relaxed);
        let now = self.clock.now();
        self.give_up(|since| now.saturating_sub(since) >= self.patience);
    }

    fn give_up(&self, waited_long: impl Fn(u64) -> bool) {
        let now = self.clock.now();
        for shard in &self.shards {
            let mut free = Vec::new();
            for (circuit, line) in lock(shard).iter_mut() {
                while line.waits_since.is_some_and(&waited_long) {
                    line.give_up(now);
                }
                self.wait_for(line);
                if !line.ready.is_empty() && !line.is_delivering {
                    line.is_delivering = true;
                    free.push(*circuit);
                }
            }
            for circuit in free {
                self.deliver(circuit);
            }
        }
    }

    fn lines(&self, circuit: CircuitId) -> MutexGuard<'_, HashMap<CircuitId, Line>> {
        lock(&self.shards[circuit.shard(SHARDS)])
    }
}

impl<O: Observer, C: Clock + Send + Sync> Observer for InOrder<O, C> {
    wants_what!(self, self.observer);

    fn left(&self, event: &Left<'_>) {
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

    hears_all!(self, event => self.order(&event.into()));
}

/// What is held back is delivered.
impl<O: Observer, C: Clock> Drop for InOrder<O, C> {
    fn drop(&mut self) {
        self.flush();
    }
}

impl<O: Observer, C: Clock> fmt::Debug for InOrder<O, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InOrder")
            .field("patience", &Duration::from_nanos(self.patience))
            .finish_non_exhaustive()
    }
}
