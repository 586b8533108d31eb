//! What a person can follow: a line for each half second, and one for each thing the breaker does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use breakerbox::State;
use breakerbox::observe::{self, FallbackServed, Observer, StateChange, WouldTrip};

use crate::pipeline::{Call, Fate};
use crate::pms::CALL;
use crate::stats::{count, percentile, show};

/// An entry of the breaker into a state, as it was observed.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Instant,
    state: State,
    /// The call that brought it about.
    call: Option<u64>,
}

/// Prints, and keeps what the breaker reported.
#[derive(Debug)]
pub(crate) struct Timeline {
    origin: Instant,
    entries: Mutex<Vec<Entry>>,
    served: AtomicUsize,
}

impl Observer for Timeline {
    fn state_changed(&self, event: &StateChange<'_>) {
        let entry = Entry {
            at: Instant::now(),
            state: event.change.to,
            call: CALL.try_with(|call| *call).ok(),
        };
        self.entries().push(entry);
        println!("{}  ** {event}", self.now());
    }

    fn fallback_served(&self, _: &FallbackServed<'_>) {
        self.served.fetch_add(1, Ordering::Relaxed);
    }

    fn would_trip(&self, event: &WouldTrip<'_>) {
        println!("{}  ** {event}", self.now());
    }
}

impl Timeline {
    /// Begins to listen to the breaker.
    pub(crate) fn start() -> Arc<Self> {
        let timeline = Arc::new(Self {
            origin: Instant::now(),
            entries: Mutex::default(),
            served: AtomicUsize::new(0),
        });
        observe::install(Arc::clone(&timeline)).forever();
        println!(
            "{:>7}  {:>6} {:>6} {:>8} {:>7} {:>8}  {:>8} {:>8}  {:>7}  {:>7}",
            "", "fresh", "stale", "refused", "failed", "ignored", "p50", "p99", "price", "at PMS"
        );
        timeline
    }

    pub(crate) fn announce(&self, what: &str) {
        println!("{}  -- {what}", self.now());
    }

    /// Prints calls a second by fate, how long they took, the mean price, and requests a second at the server.
    pub(crate) fn row(&self, lasted: Duration, calls: &[Call], requests: usize) {
        let per_second = |count: usize| (count as f64 / lasted.as_secs_f64()).round();
        let fate = |fate| per_second(count(calls, fate));
        println!(
            "{}  {:>6} {:>6} {:>8} {:>7} {:>8}  {:>8} {:>8}  {:>7}  {:>7}",
            self.now(),
            fate(Fate::Fresh),
            fate(Fate::Stale),
            fate(Fate::Refused),
            fate(Fate::Failed),
            fate(Fate::Ignored),
            show(percentile(calls, 50)),
            show(percentile(calls, 99)),
            mean_price(calls),
            per_second(requests),
        );
    }

    /// When the breaker first entered a state, from a time on.
    pub(crate) fn entered(&self, state: State, from: Instant) -> Option<Instant> {
        let entries = self.entries();
        let entry = entries
            .iter()
            .find(|entry| entry.state == state && entry.at >= from)?;
        Some(entry.at)
    }

    /// The calls that the breaker let in as first probes of a trial.
    pub(crate) fn probes(&self) -> Vec<u64> {
        let entries = self.entries();
        let trials = entries
            .iter()
            .filter(|entry| entry.state == State::HalfOpen);
        trials.filter_map(|entry| entry.call).collect()
    }

    /// How many fallbacks the breaker says it served.
    pub(crate) fn served(&self) -> usize {
        self.served.load(Ordering::Relaxed)
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> String {
        format!("{:>5.2} s", self.origin.elapsed().as_secs_f64())
    }
}

/// In euros, over the calls that gave a price.
fn mean_price(calls: &[Call]) -> String {
    let prices: Vec<u32> = calls.iter().filter_map(|call| call.price).collect();
    if prices.is_empty() {
        return "-".to_owned();
    }
    let cents: f64 = prices.iter().copied().map(f64::from).sum();
    format!("{:.2}", cents / 100.0 / prices.len() as f64)
}
