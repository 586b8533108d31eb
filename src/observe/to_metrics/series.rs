//! What is counted of each breaker: found by its name, made at its first event.

use super::names::{self, METADATA, Metric};
use super::recorder::{Identity, To};
use super::states::{Entry, Keys, One, STATES, number};
use crate::name::KeyLabel;
use crate::notify::InPlaceOf;
use crate::observe::{CallOutcome, CircuitId, LastGoodStep};
use breaker_core::{State, Trigger};
use core::fmt::{self, Write};
use core::hash::{BuildHasher, Hasher};
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use metrics::{Counter, Gauge, Histogram, Key, Label, SharedString};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, TryLockError};
use std::time::Duration;

/// Whose event it is.
#[derive(Clone, Copy)]
pub(super) struct Of<'a> {
    pub(super) breaker: &'a str,
    pub(super) key: Option<KeyLabel<'a>>,
    pub(super) circuit: CircuitId,
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
            series.is(recorder, of.breaker) && series.key.is_some() == label.is_some()
        })?;
        match (&found.key, label) {
            (Some(own), Some(label)) if !label.is(own) => self.find_among(recorder, hash, of),
            _ => Some(found),
        }
    }

    /// The same, where labels have a hash in common.
    #[cold]
    fn find_among(&self, recorder: Identity, hash: u64, of: Of<'_>) -> Option<Arc<Series>> {
        let label = self.label(of).map(|label| label.to_string());
        self.find_where(hash, |series| {
            series.is(recorder, of.breaker) && series.key.as_deref() == label.as_deref()
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
        let series = Arc::new(Series::new(self, recorder, of));
        series.begin(of.circuit);
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been quicker.
        let known = table.find(series.hash, |known| {
            known.is(recorder, &series.breaker) && known.key == series.key
        });
        if let Some(known) = known {
            return Arc::clone(known);
        }
        table.insert_unique(series.hash, Arc::clone(&series), |series| series.hash);
        series
    }

    fn describe_to(&self, recorder: Identity) {
        let mut described = lock(&self.described);
        if !described.contains(&recorder) {
            described.push(recorder);
            drop(described);
            self.to.with(names::describe);
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
            *series.breaker == *of.breaker && series.key.as_deref() == Some(&*label)
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

/// The states of the circuits of one name, for all recorders.
#[derive(Default)]
struct Circuits(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Grows with every change.
    version: u64,
    one: One,
    keys: Keys,
}

impl Known {
    /// Whether that is news.
    fn entered(&mut self, is_keyed: bool, entry: Entry) -> bool {
        let is_news = if is_keyed {
            self.keys.entered(entry)
        } else {
            self.one.entered(entry)
        };
        self.version += u64::from(is_news);
        is_news
    }
}

impl Circuits {
    fn known(&self) -> MutexGuard<'_, Known> {
        lock(&self.0)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Known) -> T) -> T {
        change(&mut self.known())
    }

    /// The same, unless somebody else is at it.
    fn change_at_once(&self, change: impl FnOnce(&mut Known) -> bool) -> bool {
        match self.0.try_lock() {
            Ok(mut known) => change(&mut known),
            Err(TryLockError::Poisoned(poisoned)) => change(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// Shows what is known by `show`, again and again until that is what is known: so of two
    /// threads the slower one doesn't show what the other has overtaken. (Nothing is locked while
    /// it shows: that is the recorder's code.)
    fn publish<T>(&self, read: impl Fn(&Known) -> T, show: impl Fn(T)) {
        loop {
            let (version, value) = {
                let known = self.known();
                (known.version, read(&known))
            };
            show(value);
            if self.known().version == version {
                return;
            }
        }
    }
}

/// What is counted of one breaker, or of one key, at one recorder.
pub(super) struct Series {
    recorder: Identity,
    hash: u64,
    to: Arc<To>,
    breaker: Arc<str>,
    key: Option<Arc<str>>,
    is_keyed: bool,
    circuits: Arc<Circuits>,
    calls: [OnceLock<Counter>; OUTCOMES.len()],
    rejected: OnceLock<Counter>,
    durations: [OnceLock<Histogram>; OUTCOMES.len()],
    fallbacks: [OnceLock<Counter>; IN_PLACE_OF.len()],
    late: OnceLock<Counter>,
    expired: OnceLock<Counter>,
    would_trip: OnceLock<Counter>,
    would_reject: [OnceLock<Counter>; OUTCOMES.len()],
    would_be_open: OnceLock<Histogram>,
    evicted: OnceLock<Counter>,
    full: OnceLock<Counter>,
    state: OnceLock<Gauge>,
    keys: [OnceLock<Gauge>; STATES],
}

const OUTCOMES: [CallOutcome; 7] = [
    CallOutcome::Success,
    CallOutcome::Failure,
    CallOutcome::TimedOut,
    CallOutcome::Ignored,
    CallOutcome::Dropped,
    CallOutcome::Panicked,
    CallOutcome::Overloaded(Duration::ZERO),
];

const fn place_of(outcome: CallOutcome) -> usize {
    match outcome {
        CallOutcome::Success => 0,
        CallOutcome::Failure => 1,
        CallOutcome::TimedOut => 2,
        CallOutcome::Ignored => 3,
        CallOutcome::Dropped => 4,
        CallOutcome::Panicked => 5,
        CallOutcome::Overloaded(_) => 6,
    }
}

const IN_PLACE_OF: [InPlaceOf; 3] = [InPlaceOf::Open, InPlaceOf::Failed, InPlaceOf::TimedOut];

/// What a breaker does by itself.
const BY_ITSELF: [(State, State, Trigger); 9] = {
    use State::{Closed, HalfOpen, Open};
    [
        (Closed, Open, Trigger::Failures),
        (Closed, Open, Trigger::FailureRate),
        (Closed, Open, Trigger::SlowRate),
        (Closed, Open, Trigger::Overloaded),
        (Open, HalfOpen, Trigger::WaitOver),
        (HalfOpen, HalfOpen, Trigger::ProbeTimedOut),
        (HalfOpen, Open, Trigger::FailedProbe),
        (HalfOpen, Open, Trigger::Overloaded),
        (HalfOpen, Closed, Trigger::Recovered),
    ]
};

/// The states that keys are counted in. Closed is what a key is of which nothing was heard.
const COUNTED: [State; 5] = [
    State::Open,
    State::HalfOpen,
    State::ForcedOpen,
    State::Disabled,
    State::Shadow,
];

impl Series {
    fn new(all: &AllSeries, recorder: Identity, of: Of<'_>) -> Self {
        let breaker: Arc<str> = of.breaker.into();
        Self {
            recorder,
            hash: all.hash(of),
            to: Arc::clone(&all.to),
            circuits: all.circuits(&breaker),
            breaker,
            key: all.label(of).map(|label| label.to_string().into()),
            is_keyed: of.key.is_some(),
            calls: [const { OnceLock::new() }; OUTCOMES.len()],
            rejected: OnceLock::new(),
            durations: [const { OnceLock::new() }; OUTCOMES.len()],
            fallbacks: [const { OnceLock::new() }; IN_PLACE_OF.len()],
            late: OnceLock::new(),
            expired: OnceLock::new(),
            would_trip: OnceLock::new(),
            would_reject: [const { OnceLock::new() }; OUTCOMES.len()],
            would_be_open: OnceLock::new(),
            evicted: OnceLock::new(),
            full: OnceLock::new(),
            state: OnceLock::new(),
            keys: [const { OnceLock::new() }; STATES],
        }
    }

    fn is(&self, recorder: Identity, breaker: &str) -> bool {
        self.recorder == recorder && *self.breaker == *breaker
    }

    /// Shows everything that may come, so that a rate of it begins at 0.
    fn begin(&self, circuit: CircuitId) {
        self.show(circuit);
        if self.key.is_some() {
            return;
        }
        for outcome in OUTCOMES {
            self.calls(outcome);
            self.would_reject(outcome);
        }
        for in_place_of in IN_PLACE_OF {
            self.fallbacks(in_place_of);
        }
        for (from, to, trigger) in BY_ITSELF {
            let _ = self.changes(from, to, trigger);
        }
        for step in [LastGoodStep::Store, LastGoodStep::Load] {
            let _ = self.last_good_failed(step);
        }
        self.rejected();
        self.late();
        self.expired();
        self.would_trip();
        if self.is_keyed {
            self.evicted();
            self.full();
        }
    }

    fn labels<const N: usize>(&self, more: [(&'static str, &'static str); N]) -> Vec<Label> {
        let shared = |text: &Arc<str>| SharedString::from_shared(Arc::clone(text));
        let breaker = Label::new("breaker", shared(&self.breaker));
        let key = self.key.as_ref().map(|key| Label::new("key", shared(key)));
        let more = more.map(|(name, value)| Label::from_static_parts(name, value));
        [breaker].into_iter().chain(key).chain(more).collect()
    }

    /// The key of a metric that all keys have in common.
    fn common<const N: usize>(&self, of: &Metric, more: [(&'static str, &'static str); N]) -> Key {
        let mut labels = self.labels(more);
        labels.retain(|label| label.key() != "key");
        Key::from_parts(of.name, labels)
    }

    fn key<const N: usize>(&self, of: &Metric, more: [(&'static str, &'static str); N]) -> Key {
        Key::from_parts(of.name, self.labels(more))
    }

    fn counter<const N: usize>(
        &self,
        of: &Metric,
        more: [(&'static str, &'static str); N],
    ) -> Counter {
        self.counter_of(&self.key(of, more))
    }

    fn histogram<const N: usize>(
        &self,
        of: &Metric,
        more: [(&'static str, &'static str); N],
    ) -> Histogram {
        let key = self.key(of, more);
        self.to
            .with(|recorder| recorder.register_histogram(&key, &METADATA))
    }

    fn counter_of(&self, key: &Key) -> Counter {
        self.to
            .with(|recorder| recorder.register_counter(key, &METADATA))
    }

    fn gauge_of(&self, key: &Key) -> Gauge {
        self.to
            .with(|recorder| recorder.register_gauge(key, &METADATA))
    }

    /// Calls that ended so.
    pub(super) fn calls(&self, outcome: CallOutcome) -> &Counter {
        self.calls[place_of(outcome)]
            .get_or_init(|| self.counter(&names::CALLS, [("outcome", outcome.as_str())]))
    }

    /// Calls that were refused.
    pub(super) fn rejected(&self) -> &Counter {
        self.rejected
            .get_or_init(|| self.counter(&names::CALLS, [("outcome", "rejected")]))
    }

    /// How long calls took that ended so.
    pub(super) fn durations(&self, outcome: CallOutcome) -> &Histogram {
        self.durations[place_of(outcome)]
            .get_or_init(|| self.histogram(&names::DURATION, [("outcome", outcome.as_str())]))
    }

    pub(super) fn fallbacks(&self, in_place_of: InPlaceOf) -> &Counter {
        let place = match in_place_of {
            InPlaceOf::Open => 0,
            InPlaceOf::Failed => 1,
            InPlaceOf::TimedOut => 2,
        };
        self.fallbacks[place].get_or_init(|| {
            let stands_in = [("in_place_of", in_place_of.as_str())];
            self.counter(&names::FALLBACKS, stands_in)
        })
    }

    pub(super) fn late(&self) -> &Counter {
        self.late.get_or_init(|| self.counter(&names::LATE, []))
    }

    pub(super) fn expired(&self) -> &Counter {
        self.expired
            .get_or_init(|| self.counter(&names::PROBES_EXPIRED, []))
    }

    pub(super) fn would_trip(&self) -> &Counter {
        self.would_trip
            .get_or_init(|| self.counter(&names::WOULD_TRIP, []))
    }

    /// Calls that ended so, and would have been refused.
    pub(super) fn would_reject(&self, outcome: CallOutcome) -> &Counter {
        self.would_reject[place_of(outcome)]
            .get_or_init(|| self.counter(&names::WOULD_REJECT, [("outcome", outcome.as_str())]))
    }

    pub(super) fn would_be_open(&self) -> &Histogram {
        self.would_be_open
            .get_or_init(|| self.histogram(&names::WOULD_BE_OPEN, []))
    }

    pub(super) fn evicted(&self) -> &Counter {
        self.evicted
            .get_or_init(|| self.counter_of(&self.common(&names::KEYS_EVICTED, [])))
    }

    pub(super) fn full(&self) -> &Counter {
        self.full
            .get_or_init(|| self.counter_of(&self.common(&names::KEYS_FULL, [])))
    }

    /// Not kept: there are many, and they are rare.
    pub(super) fn changes(&self, from: State, to: State, trigger: Trigger) -> Counter {
        let how = [
            ("from", from.as_str()),
            ("to", to.as_str()),
            ("trigger", trigger.as_str()),
        ];
        self.counter(&names::STATE_CHANGES, how)
    }

    /// Not kept: it is rare.
    pub(super) fn last_good_failed(&self, step: LastGoodStep) -> Counter {
        self.counter(&names::LAST_GOOD_FAILED, [("step", step.as_str())])
    }

    /// A circuit entered a state.
    pub(super) fn entered(&self, entry: Entry) {
        self.circuits
            .change(|known| known.entered(self.is_keyed, entry));
        self.show(entry.circuit);
    }

    fn show(&self, circuit: CircuitId) {
        self.publish();
        if self.key.is_some() {
            self.publish_key(circuit);
        }
    }

    /// A circuit refused a call, so it is in this state: news of one that was opened before anybody
    /// heard of it. Many calls may be refused at once, and none of them waits here.
    pub(super) fn refused(&self, entry: Entry) {
        if self
            .circuits
            .change_at_once(|known| known.entered(self.is_keyed, entry))
        {
            self.show(entry.circuit);
        }
    }

    /// A key was given up.
    pub(super) fn gone(&self, circuit: CircuitId) {
        self.circuits.change(|known| {
            known.version += u64::from(known.keys.gone(circuit));
        });
        self.publish();
    }

    fn publish(&self) {
        if self.is_keyed {
            self.circuits.publish(
                |known| known.keys.in_state(),
                |in_state| {
                    for state in COUNTED {
                        self.keys(state).set(in_state[number(state)]);
                    }
                },
            );
        } else {
            let show = |state| self.state().set(shown(state));
            self.circuits.publish(|known| known.one.state(), show);
        }
    }

    fn publish_key(&self, circuit: CircuitId) {
        let show = |state| self.state().set(shown(state));
        self.circuits
            .publish(|known| known.keys.state(circuit), show);
    }

    fn state(&self) -> &Gauge {
        self.state
            .get_or_init(|| self.gauge_of(&self.key(&names::STATE, [])))
    }

    /// Of all keys: without the label of one.
    fn keys(&self, state: State) -> &Gauge {
        self.keys[number(state)].get_or_init(|| {
            let of_state = [("state", state.as_str())];
            self.gauge_of(&self.common(&names::KEYS, of_state))
        })
    }
}

fn shown(state: State) -> f64 {
    number(state) as f64
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
