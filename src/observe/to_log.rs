//! Events in a log.

use super::{
    FallbackServed, KeyEvicted, KeysFull, LastGoodFailed, Observer, Operated, Rejection,
    StateChange, WouldTrip,
};
use breaker_core::State;

/// Writes events to the [`log`] crate, under the target `breakerbox`: opened
/// (or, in shadow, would have) as a warning, other state changes, and what an
/// operator did on the status page, as information, refused calls, served fallbacks
/// and keys that were given up for debugging; no room for a key, and a last-good
/// answer that could not be stored or loaded, as a warning.
///
/// ```
/// breakerbox::observe::install(breakerbox::observe::LogObserver).forever();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LogObserver;

const TARGET: &str = "breakerbox";

impl Observer for LogObserver {
    fn state_changed(&self, event: &StateChange<'_>) {
        match event.change.to {
            State::Open | State::ForcedOpen => log::warn!(target: TARGET, "{event}"),
            _ => log::info!(target: TARGET, "{event}"),
        }
    }

    fn rejected(&self, event: &Rejection<'_>) {
        log::debug!(target: TARGET, "{event}");
    }

    fn fallback_served(&self, event: &FallbackServed<'_>) {
        log::debug!(target: TARGET, "{event}");
    }

    fn would_trip(&self, event: &WouldTrip<'_>) {
        log::warn!(target: TARGET, "{event}");
    }

    fn operated(&self, event: &Operated<'_>) {
        log::info!(target: TARGET, "{event}");
    }

    fn key_evicted(&self, event: &KeyEvicted<'_>) {
        log::debug!(target: TARGET, "{event}");
    }

    fn keys_full(&self, event: &KeysFull<'_>) {
        log::warn!(target: TARGET, "{event}");
    }

    fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
        log::warn!(target: TARGET, "{event}");
    }
}
