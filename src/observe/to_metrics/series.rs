//! What is counted of one breaker, or of one key: the recorder's handles.

use super::all_series::Of;
use super::circuits::{Circuits, Known};
use super::names::{self, METADATA, Metric};
use super::recorder::{Identity, To};
use super::states::{Entry, STATES, number};
use crate::notify::InPlaceOf;
use crate::observe::{CallOutcome, CircuitId, LastGoodStep};
use breaker_core::{State, Trigger};
use metrics::{Counter, Gauge, Histogram, Key, Label, SharedString};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What tells series apart.
pub(super) struct Place {
    pub(super) recorder: Identity,
    pub(super) hash: u64,
    /// As it is called on the page.
    pub(super) breaker: Arc<str>,
    /// Where each key has its own.
    pub(super) key: Option<Arc<str>>,
    pub(super) is_keyed: bool,
}

impl Place {
    pub(super) fn is_at(&self, recorder: Identity, breaker: &str) -> bool {
        self.recorder == recorder && *self.breaker == *breaker
    }
}

/// What is counted of one breaker, or of one key, at one recorder.
pub(super) struct Series {
    pub(super) place: Place,
    to: Arc<To>,
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
    pub(super) fn new(place: Place, to: Arc<To>, circuits: Arc<Circuits>) -> Self {
        Self {
            place,
            to,
            circuits,
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

    /// Shows everything that may come, so that a rate of it begins at 0.
    pub(super) fn begin(&self, circuit: CircuitId) {
        self.show(circuit);
        if self.place.key.is_some() {
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
        if self.place.is_keyed {
            self.evicted();
            self.full();
        }
    }

    fn labels<const N: usize>(&self, more: [(&'static str, &'static str); N]) -> Vec<Label> {
        let shared = |text: &Arc<str>| SharedString::from_shared(Arc::clone(text));
        let breaker = Label::new("breaker", shared(&self.place.breaker));
        let key = self
            .place
            .key
            .as_ref()
            .map(|key| Label::new("key", shared(key)));
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
    pub(super) fn entered(&self, of: Of<'_>, entry: Entry) {
        self.circuits
            .change(|known| known.entered(of.name, self.place.is_keyed, entry));
        self.show(entry.circuit);
    }

    fn show(&self, circuit: CircuitId) {
        self.publish();
        if self.place.key.is_some() {
            self.publish_key(circuit);
        }
    }

    /// A circuit refused a call, so it is in this state: news of one that was opened before anybody
    /// heard of it. Many calls may be refused at once, and none of them waits here.
    pub(super) fn refused(&self, of: Of<'_>, entry: Entry) {
        let is_news = self
            .circuits
            .change_at_once(|known| known.entered(of.name, self.place.is_keyed, entry));
        if is_news {
            self.show(entry.circuit);
        }
    }

    /// A key was given up.
    pub(super) fn gone(&self, of: Of<'_>) {
        self.circuits
            .change(|known| known.gone(of.name, of.circuit));
        self.publish();
    }

    /// The breaker is no more.
    pub(super) fn show_left(&self) {
        self.publish();
        if self.place.key.is_some() {
            self.state().set(shown(State::Closed));
        }
    }

    fn publish(&self) {
        if self.place.is_keyed {
            self.circuits.publish(Known::in_state, |in_state| {
                for state in COUNTED {
                    self.keys(state).set(in_state[number(state)]);
                }
            });
        } else {
            let show = |state| self.state().set(shown(state));
            self.circuits.publish(|known| known.one.state(), show);
        }
    }

    fn publish_key(&self, circuit: CircuitId) {
        let show = |state| self.state().set(shown(state));
        self.circuits
            .publish(|known| known.state_of_key(circuit), show);
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
