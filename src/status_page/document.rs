//! The JSON of the page. Its shape is documented at [`status_page`](super): a field may be
//! added, none is taken away or changes what it means.

use super::counts::Sums;
use super::history::{Entered, why};
use super::shadow::Told;
use crate::observe::CircuitId;
use breaker_core::{Config, OnCancel, Window};
use serde::Serialize;
use std::time::Duration;

/// The number of the shape.
pub(super) const FORMAT: u32 = 1;

/// All circuits, or what is new of them.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    pub(super) format: u32,
    pub(super) title: &'a str,
    pub(super) process: &'a str,
    pub(super) version: u64,
    pub(super) now: u64,
    pub(super) complete: bool,
    pub(super) refresh_ms: u64,
    pub(super) rates_seconds: u64,
    pub(super) actions: &'a [&'static str],
    pub(super) breakers: Vec<&'a Breaker>,
    pub(super) circuits: Vec<Changed<'a>>,
    pub(super) gone: Vec<String>,
}

/// A circuit, or only what its calls came to.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Changed<'a> {
    Whole(&'a Circuit),
    Rates { id: &'a str, rates: Rates },
}

/// A breaker, or breakers by key.
#[derive(Clone, PartialEq, Serialize)]
pub(super) struct Breaker {
    pub(super) name: String,
    /// Where it was declared, or made.
    pub(super) place: String,
    /// `None` for a breaker without keys.
    pub(super) max_keys: Option<usize>,
    pub(super) settings: Settings,
    /// Where overrides lie over them.
    pub(super) declared: Option<Settings>,
}

/// A circuit.
#[derive(Clone, PartialEq, Serialize)]
pub(super) struct Circuit {
    pub(super) id: String,
    pub(super) breaker: String,
    pub(super) key: Option<String>,
    pub(super) state: &'static str,
    pub(super) generation: u32,
    pub(super) since: Option<u64>,
    pub(super) why: Option<String>,
    pub(super) trigger: Option<&'static str>,
    pub(super) by: Option<String>,
    pub(super) next_probe: Option<u64>,
    pub(super) failures: u32,
    pub(super) reopenings: u8,
    pub(super) would: Option<Would>,
    pub(super) recent: Vec<(u64, &'static str)>,
    pub(super) rates: Rates,
}

/// What it would have done, in shadow.
#[derive(Clone, PartialEq, Serialize)]
pub(super) struct Would {
    opened: u32,
    refused: u64,
    last: Option<u64>,
    why: Option<String>,
}

impl Would {
    pub(super) fn new(told: &Told, circuit: CircuitId) -> Self {
        let (last, why) = told.last(circuit);
        Self {
            opened: told.opened,
            refused: told.refused,
            last,
            why,
        }
    }
}

/// What its calls came to in the last `rates_seconds`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Rates {
    calls: u32,
    failed: u32,
    refused: u32,
    stale: u32,
}

impl From<Sums> for Rates {
    fn from(sums: Sums) -> Self {
        let Sums {
            calls,
            failed,
            refused,
            stale,
        } = sums;
        Self {
            calls,
            failed,
            refused,
            stale,
        }
    }
}

/// One circuit with all that is kept of its history.
#[derive(Serialize)]
pub(super) struct Detail<'a> {
    pub(super) format: u32,
    pub(super) process: &'a str,
    pub(super) now: u64,
    pub(super) circuit: &'a Circuit,
    pub(super) history: Vec<Entry>,
}

/// An entry into a state.
#[derive(Serialize)]
pub(super) struct Entry {
    at: u64,
    from: &'static str,
    to: &'static str,
    generation: u32,
    trigger: &'static str,
    failures: u32,
    wait_ms: Option<u64>,
    why: String,
    by: Option<String>,
}

impl Entry {
    pub(super) fn new(entered: &Entered) -> Self {
        let change = &entered.change;
        Self {
            at: entered.at,
            from: change.from.as_str(),
            to: change.to.as_str(),
            generation: change.generation.get(),
            trigger: change.trigger.as_str(),
            failures: change.failures,
            wait_ms: change.wait.map(millis),
            why: why(change),
            by: entered.by.as_deref().map(str::to_owned),
        }
    }
}

/// The settings of a breaker.
#[derive(Clone, PartialEq, Serialize)]
pub(super) struct Settings {
    /// Where failures in a row trip.
    threshold: Option<u32>,
    /// Where a rate does.
    failure_rate: Option<f64>,
    min_calls: Option<u32>,
    window_calls: Option<u32>,
    window_ms: Option<u64>,
    slow_ms: Option<u64>,
    slow_rate: Option<f64>,
    reset_ms: u64,
    backoff: f64,
    max_reset_ms: Option<u64>,
    jitter: f64,
    probes: u32,
    close_after: Option<u32>,
    close_rate: Option<f64>,
    probe_timeout_ms: u64,
    on_cancel: &'static str,
}

impl From<&Config> for Settings {
    fn from(config: &Config) -> Self {
        let window = config.window();
        Self {
            threshold: window.is_none().then(|| config.threshold()),
            failure_rate: config.failure_rate(),
            min_calls: config.min_calls(),
            window_calls: window.and_then(Window::as_calls),
            window_ms: window.and_then(Window::as_time).map(millis),
            slow_ms: config.slow().map(millis),
            slow_rate: config.slow_rate(),
            reset_ms: millis(config.reset()),
            backoff: config.backoff(),
            max_reset_ms: config.max_reset().map(millis),
            jitter: config.jitter(),
            probes: config.probes(),
            close_after: config.close_after(),
            close_rate: config.close_rate(),
            probe_timeout_ms: millis(config.probe_timeout()),
            on_cancel: match config.on_cancel() {
                OnCancel::Ignore => "ignore",
                OnCancel::Failure => "failure",
            },
        }
    }
}

/// Rounded up, as a wait is never shorter than it says.
pub(super) fn millis(duration: Duration) -> u64 {
    let millis = duration.as_nanos().div_ceil(1_000_000);
    u64::try_from(millis).unwrap_or(u64::MAX)
}
