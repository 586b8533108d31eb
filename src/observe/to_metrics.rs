//! Events as numbers for the `metrics` crate.

mod all_series;
mod circuits;
mod fleet;
mod names;
mod recorder;
mod series;
mod states;

use super::{
    CallEnded, FallbackServed, KeyEvicted, KeysFull, LastGoodFailed, LateOutcome, Left, Observer,
    ProbeExpired, Rejection, SharingLost, SharingRestored, StateChange, WouldClose, WouldReject,
    WouldTrip,
};
use crate::name::KeyLabel;
use all_series::{AllSeries, Of};
use breaker_core::{Change, Reason, State};
use metrics::Recorder;
use recorder::To;
use series::Series;
use states::Entry;
use std::fmt;
use std::sync::Arc;

/// Counts events, and times calls, for the [`metrics`] crate: so Prometheus, OpenTelemetry and
/// whatever else has a recorder of that crate follow.
///
/// ```
/// use breakerbox::observe::{self, MetricsObserver};
///
/// observe::install(MetricsObserver::new()).forever();
/// ```
///
/// # Names
/// They stay as they are. Each has the label `breaker`, the breaker's name; those of a fleet have
/// `fleet` instead, what that is called.
///
/// | name | kind | labels beside it | what it says |
/// | --- | --- | --- | --- |
/// | `breaker_calls_total` | counter | `outcome` | calls by what became of them: [`CallOutcome::as_str`](super::CallOutcome::as_str), or `rejected` |
/// | `breaker_call_duration_seconds` | histogram | `outcome` | how long admitted calls took |
/// | `breaker_state` | gauge | | the state: 0 closed, 1 open, 2 half-open, 3 forced open, 4 disabled, 5 shadow |
/// | `breaker_keys` | gauge | `state` | of a breaker by key, instead of `breaker_state`: how many keys are in each state but closed |
/// | `breaker_state_changes_total` | counter | `from`, `to`, `trigger` | entries into states: [`State::as_str`], [`Trigger::as_str`](crate::Trigger::as_str) |
/// | `breaker_fallbacks_total` | counter | `in_place_of` | fallbacks served: [`InPlaceOf::as_str`](crate::InPlaceOf::as_str) |
/// | `breaker_late_outcomes_total` | counter | | calls that ended too late to count |
/// | `breaker_probes_expired_total` | counter | | trials whose probes never ended |
/// | `breaker_would_trip_total` | counter | | in shadow: openings that were not made |
/// | `breaker_would_reject_total` | counter | `outcome` | in shadow, told by a [`Rehearsal`](super::Rehearsal): calls that would have been refused, by what in fact became of them |
/// | `breaker_would_be_open_seconds` | histogram | | the same: how long it would have been open or probing, in outages that are over |
/// | `breaker_keys_evicted_total` | counter | | keys given up for new ones |
/// | `breaker_keys_full_total` | counter | | new keys for which none could be given up |
/// | `breaker_sharing` | gauge | | whether the fleet that circuits are shared with is reached: 1, or 0, also where it is a part that is not; told from the first loss on |
/// | `breaker_sharing_losses_total` | counter | | how many times it could not be reached any more |
/// | `breaker_last_good_failed_total` | counter | `step` | last-good answers that could not be stored or loaded: [`LastGoodStep::as_str`](super::LastGoodStep::as_str) |
///
/// A breaker shows from its first event on, with every counter at 0; of
/// `breaker_state_changes_total` those that a breaker makes by itself, and an operator's or a fleet's
/// once there was one. A circuit that was opened before
/// that shows as what the registry says of it, one of a key as closed until it changes or refuses a
/// call. One that is dropped is 0 from then on. Where several circuits share a name, `breaker_state` is
/// that of the one that changed last; so it is of those that the registry tells apart by a number
/// (`pms@src/client.rs:7#12`), which is left out.
///
/// # Which recorder
/// That of [`new`](Self::new) is whatever the `metrics` crate's macros would write to on the thread of
/// the call: the recorder of the process, also where it is installed later (what was counted before
/// that is lost, states are not), or a thread's local one. [`to`](Self::to) gives it one of its own.
/// Recorders are told apart by where they stand: where tests make local ones one after the other,
/// each needs an observer of its own.
///
/// # What it costs
/// Handles are kept for each breaker, and found by name under a lock that only a new breaker takes
/// for itself: a call allocates nothing after the first of its kind. The recorder is never called
/// under a lock.
pub struct MetricsObserver {
    series: AllSeries,
}

impl MetricsObserver {
    /// The histograms, each with the upper bounds of buckets that fit most of what it is of, in
    /// seconds: for an exporter that wants to be told.
    ///
    /// ```
    /// use breakerbox::observe::MetricsObserver;
    ///
    /// for (name, buckets) in MetricsObserver::BUCKETS {
    ///     // Of Prometheus' exporter:
    ///     // builder = builder.set_buckets_for_metric(Matcher::Full((*name).to_owned()), buckets)?;
    ///     assert!(name.ends_with("_seconds") && buckets.is_sorted());
    /// }
    /// ```
    pub const BUCKETS: &'static [(&'static str, &'static [f64])] = &[
        (
            names::DURATION.name,
            &[
                0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
            ],
        ),
        (
            names::WOULD_BE_OPEN.name,
            &[
                1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0,
            ],
        ),
    ];

    /// To the recorder that the `metrics` crate's macros write to.
    #[must_use]
    pub fn new() -> Self {
        Self::of(To::Current)
    }

    /// To this recorder, whichever is installed.
    ///
    /// ```
    /// use breakerbox::observe::MetricsObserver;
    ///
    /// let observer = MetricsObserver::to(metrics::NoopRecorder);
    /// # drop(observer);
    /// ```
    #[must_use]
    pub fn to(recorder: impl Recorder + Send + Sync + 'static) -> Self {
        Self::of(To::This(Arc::new(recorder)))
    }

    fn of(recorder: To) -> Self {
        Self {
            series: AllSeries::new(recorder, false),
        }
    }

    /// With the key of a breaker by key as a further label, `key`, and its own `breaker_state`; only
    /// where all keys are known and few: each is a series of its own for as long as the recorder
    /// keeps it.
    #[must_use]
    pub fn with_keys(self) -> Self {
        Self {
            series: self.series.by_key(),
        }
    }

    /// What an event is counted in.
    fn series(&self, of: Of<'_>) -> Arc<Series> {
        self.series.find(of).unwrap_or_else(|| self.first(of))
    }

    /// The first event of a breaker, or of a key.
    #[cold]
    fn first(&self, of: Of<'_>) -> Arc<Series> {
        let series = self.series.add(of);
        if of.key.is_none()
            && let Some(entry) = listed(of)
        {
            series.entered(of, entry);
        }
        series
    }
}

/// The state of the breaker of this name that the registry has.
fn listed(of: Of<'_>) -> Option<Entry> {
    let found = crate::find(of.name)?;
    // The two can't be read at once, so until nothing came in between.
    for _ in 0..8 {
        let (generation, state) = (found.generation(), found.state());
        if found.generation() == generation {
            return Some(Entry {
                circuit: of.circuit,
                generation,
                state,
            });
        }
    }
    None
}

/// Whether anybody will be told what becomes of the circuit.
fn is_remembered(key: Option<KeyLabel<'_>>) -> bool {
    key.is_none_or(KeyLabel::is_kept)
}

/// Of an event that says so itself.
macro_rules! of {
    ($event:ident) => {
        Of::new($event.breaker, $event.key, $event.circuit)
    };
}

impl Observer for MetricsObserver {
    fn state_changed(&self, event: &StateChange<'_>) {
        let of = of!(event);
        let series = self.series(of);
        let Change {
            from, to, trigger, ..
        } = *event.change;
        series.changes(from, to, trigger).increment(1);
        if is_remembered(event.key) {
            series.entered(
                of,
                Entry {
                    circuit: event.circuit,
                    generation: event.change.generation,
                    state: event.change.to,
                },
            );
        }
    }

    fn rejected(&self, event: &Rejection<'_>) {
        let of = Of::new(event.error.name(), event.error.key(), event.circuit);
        let series = self.series(of);
        series.rejected().increment(event.calls);
        let state = match event.error.reason() {
            _ if !is_remembered(event.error.key()) => return,
            Reason::Open => State::Open,
            Reason::HalfOpenFull => State::HalfOpen,
            Reason::ForcedOpen => State::ForcedOpen,
            _ => return,
        };
        series.refused(
            of,
            Entry {
                circuit: event.circuit,
                generation: event.generation,
                state,
            },
        );
    }

    fn wants_calls(&self) -> bool {
        true
    }

    fn call_ended(&self, event: &CallEnded<'_>) {
        let series = self.series(of!(event));
        series.calls(event.outcome).increment(1);
        series.durations(event.outcome).record(event.took);
    }

    fn late_outcome(&self, event: &LateOutcome<'_>) {
        self.series(of!(event)).late().increment(1);
    }

    fn probe_expired(&self, event: &ProbeExpired<'_>) {
        self.series(of!(event)).expired().increment(1);
    }

    fn fallback_served(&self, event: &FallbackServed<'_>) {
        let series = self.series(of!(event));
        series.fallbacks(event.in_place_of).increment(1);
    }

    fn would_trip(&self, event: &WouldTrip<'_>) {
        self.series(of!(event)).would_trip().increment(1);
    }

    fn would_reject(&self, event: &WouldReject<'_>) {
        let series = self.series(of!(event));
        series.would_reject(event.outcome).increment(1);
    }

    fn would_close(&self, event: &WouldClose<'_>) {
        let series = self.series(of!(event));
        series.would_be_open().record(event.after);
    }

    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        let of = Of::new(event.breaker, Some(event.key), event.circuit);
        let series = self.series(of);
        series.evicted().increment(1);
        series.gone(of);
        self.series.remove(of);
    }

    fn keys_full(&self, event: &KeysFull<'_>) {
        let of = Of::new(event.breaker, Some(event.key), event.circuit);
        self.series(of).full().increment(1);
    }

    fn left(&self, event: &Left<'_>) {
        self.series.left(event.breaker);
    }

    fn sharing_lost(&self, event: &SharingLost<'_>) {
        self.series.fleet(event.fleet).lost(event.losses);
    }

    fn sharing_restored(&self, event: &SharingRestored<'_>) {
        self.series.fleet(event.fleet).restored();
    }

    fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
        let series = self.series(of!(event));
        series.last_good_failed(event.step).increment(1);
    }
}

impl Default for MetricsObserver {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MetricsObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsObserver")
            .field("with_keys", &self.series.is_by_key())
            .finish_non_exhaustive()
    }
}
