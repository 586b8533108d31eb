//! Figures over many calls.

use std::time::Duration;

use crate::pipeline::{Call, Fate};

/// How many calls met this fate.
pub(crate) fn count(calls: &[Call], fate: Fate) -> usize {
    calls.iter().filter(|call| call.fate == fate).count()
}

/// The time that `percent` of 100 calls did not take longer than; zero if there are none.
pub(crate) fn percentile(calls: &[Call], percent: usize) -> Duration {
    let mut took: Vec<Duration> = calls.iter().map(Call::took).collect();
    took.sort_unstable();
    let last = took.len().saturating_sub(1);
    took.get(last * percent / 100).copied().unwrap_or_default()
}

/// A duration for a person: `1.25 ms`, `340 us`.
pub(crate) fn show(duration: Duration) -> String {
    let micros = duration.as_micros();
    match micros {
        0..1_000 => format!("{micros} us"),
        1_000..1_000_000 => format!("{:.1} ms", duration.as_secs_f64() * 1e3),
        _ => format!("{:.1} s", duration.as_secs_f64()),
    }
}
