//! What is counted, and what is said of it.

use metrics::{Metadata, Recorder, Unit};

/// One metric of all that there are.
#[derive(Debug)]
pub(super) struct Metric {
    pub(super) name: &'static str,
    kind: Kind,
    unit: Unit,
    about: &'static str,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
}

pub(super) const METADATA: Metadata<'static> =
    Metadata::new("breakerbox", metrics::Level::INFO, Some("breakerbox"));

macro_rules! metrics {
    ($($ident:ident = $kind:ident $name:literal $unit:ident $about:literal;)*) => {
        $(
            pub(super) const $ident: Metric = Metric {
                name: $name,
                kind: Kind::$kind,
                unit: Unit::$unit,
                about: $about,
            };
        )*
        const ALL: &[Metric] = &[$($ident),*];
    };
}

metrics! {
    CALLS = Counter "breaker_calls_total" Count
        "Calls by what became of them; rejected ones were not made.";
    DURATION = Histogram "breaker_call_duration_seconds" Seconds
        "How long admitted calls took.";
    STATE = Gauge "breaker_state" Count
        "The state: 0 closed, 1 open, 2 half-open, 3 forced open, 4 disabled, 5 shadow.";
    KEYS = Gauge "breaker_keys" Count
        "Keys of a breaker by key that are in this state.";
    STATE_CHANGES = Counter "breaker_state_changes_total" Count
        "Entries into states, by the state before and by what brought them about.";
    FALLBACKS = Counter "breaker_fallbacks_total" Count
        "Fallbacks served, by what they stood in for.";
    LATE = Counter "breaker_late_outcomes_total" Count
        "Calls that ended too late to count.";
    PROBES_EXPIRED = Counter "breaker_probes_expired_total" Count
        "Trials that were given up because their probes never ended.";
    WOULD_TRIP = Counter "breaker_would_trip_total" Count
        "Openings that a breaker in shadow did not make.";
    WOULD_REJECT = Counter "breaker_would_reject_total" Count
        "Calls that a breaker in shadow would have refused, by what became of them.";
    WOULD_BE_OPEN = Histogram "breaker_would_be_open_seconds" Seconds
        "How long a breaker in shadow would have been open or probing.";
    KEYS_EVICTED = Counter "breaker_keys_evicted_total" Count
        "Keys given up for new ones.";
    KEYS_FULL = Counter "breaker_keys_full_total" Count
        "New keys that were not kept, because all others were open or in use.";
    SHARING = Gauge "breaker_sharing" Count
        "Whether the fleet that circuits are shared with is reached: 1, or 0.";
    SHARING_LOSSES = Counter "breaker_sharing_losses_total" Count
        "How many times the fleet that circuits are shared with could not be reached any more.";
    LAST_GOOD_FAILED = Counter "breaker_last_good_failed_total" Count
        "Last-good answers that could not be stored or loaded.";
}

/// Tells a recorder of all of them.
pub(super) fn describe(recorder: &dyn Recorder) {
    for metric in ALL {
        let (name, unit) = (metric.name.into(), Some(metric.unit));
        match metric.kind {
            Kind::Counter => recorder.describe_counter(name, unit, metric.about.into()),
            Kind::Gauge => recorder.describe_gauge(name, unit, metric.about.into()),
            Kind::Histogram => recorder.describe_histogram(name, unit, metric.about.into()),
        }
    }
}
