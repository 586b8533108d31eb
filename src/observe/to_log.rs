//! Events in a log.

#[cfg(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
mod many;

#[cfg(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
use super::FirstThenCounts;
use super::{
    FallbackServed, KeyEvicted, KeysFull, LastGoodFailed, LateOutcome, Left, Missed, Observer,
    Operated, ProbeExpired, Reconfigured, Rejection, SharingDiffers, SharingLost, SharingRestored,
    StateChange, WouldClose, WouldReject, WouldTrip,
};
use breaker_core::State;
use sums::{is_one_of_many, tell_sums};

/// Writes events to the [`log`] crate, under the target `breakerbox`: opened
/// (or, in shadow, would have) as a warning, other state changes, and what an
/// operator did on the status page or changed of a configuration, as information, refused
/// calls (or, in shadow, those that would have been), late outcomes, served fallbacks, keys that were
/// given up and shared breakers that were dropped for debugging; probes that never ended, no room for a
/// key, a fleet that can't be reached, and a last-good answer that could not be stored or loaded, as a
/// warning; that the fleet is reached again as information.
///
/// What an operator or the fleet does to many keys of a breaker at once would be as many lines: of more
/// than 20 keys within a second the others are there for debugging, and it is said how many they are, as
/// ``by now 4980 more keys of `hosts`: each was opened by the fleet``: after ten of them, a hundred and
/// so on, and with the next change of a state or refused call after that second. Other observers hear of
/// each.
///
/// While a circuit is open it may refuse thousands of calls each second. So write the first one of
/// each opening, and then how many they were:
///
/// ```
/// use breakerbox::observe::{self, LogObserver};
///
/// observe::install(LogObserver::first_then_counts()).forever();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LogObserver;

const TARGET: &str = "breakerbox";

impl LogObserver {
    /// [`FirstThenCounts`] around it: refused calls without a flood.
    #[cfg(any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    #[must_use]
    pub fn first_then_counts() -> FirstThenCounts<Self> {
        FirstThenCounts::new(Self)
    }
}

impl Observer for LogObserver {
    fn state_changed(&self, event: &StateChange<'_>) {
        if is_one_of_many(event) {
            log::debug!(target: TARGET, "{event}");
            return;
        }
        match event.change.to {
            State::Open | State::ForcedOpen => log::warn!(target: TARGET, "{event}"),
            _ => log::info!(target: TARGET, "{event}"),
        }
    }

    fn rejected(&self, event: &Rejection<'_>) {
        tell_sums();
        log::debug!(target: TARGET, "{event}");
    }

    fn late_outcome(&self, event: &LateOutcome<'_>) {
        log::debug!(target: TARGET, "{event}");
    }

    fn probe_expired(&self, event: &ProbeExpired<'_>) {
        log::warn!(target: TARGET, "{event}");
    }

    fn missed(&self, event: &Missed<'_>) {
        log::warn!(target: TARGET, "{event}");
    }

    fn fallback_served(&self, event: &FallbackServed<'_>) {
        log::debug!(target: TARGET, "{event}");
    }

    fn would_trip(&self, event: &WouldTrip<'_>) {
        log::warn!(target: TARGET, "{event}");
    }

    fn reconfigured(&self, event: &Reconfigured<'_>) {
        log::info!(target: TARGET, "{event}");
    }

    fn would_reject(&self, event: &WouldReject<'_>) {
        log::debug!(target: TARGET, "{event}");
    }

    fn would_close(&self, event: &WouldClose<'_>) {
        log::info!(target: TARGET, "{event}");
    }

    fn left(&self, event: &Left<'_>) {
        log::debug!(target: TARGET, "{event}");
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

    fn sharing_differs(&self, event: &SharingDiffers<'_>) {
        log::warn!(target: TARGET, "{event}");
    }

    fn sharing_lost(&self, event: &SharingLost<'_>) {
        log::warn!(target: TARGET, "{event}");
    }

    fn sharing_restored(&self, event: &SharingRestored<'_>) {
        log::info!(target: TARGET, "{event}");
    }

    fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
        log::warn!(target: TARGET, "{event}");
    }
}

#[cfg(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
mod sums {
    use super::super::{ClockOfEvents, StateChange};
    use super::TARGET;
    use super::many::{Many, Sum};
    use breaker_core::Clock;

    static MANY: Many = Many::new();

    /// Whether it is a change of too many keys to be told of each. Sums are told before.
    pub(super) fn is_one_of_many(event: &StateChange<'_>) -> bool {
        tell_sums();
        let (is_one_of_many, sum) = MANY.count(event, ClockOfEvents::default().now());
        sum.iter().for_each(tell);
        is_one_of_many
    }

    pub(super) fn tell_sums() {
        if MANY.has_untold() {
            MANY.take(ClockOfEvents::default().now())
                .iter()
                .for_each(tell);
        }
    }

    fn tell(sum: &Sum) {
        match sum.is_opening() {
            true => log::warn!(target: TARGET, "{sum}"),
            false => log::info!(target: TARGET, "{sum}"),
        }
    }
}

/// Without a clock each is told.
#[cfg(not(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
)))]
mod sums {
    use super::super::StateChange;

    pub(super) fn is_one_of_many(_: &StateChange<'_>) -> bool {
        false
    }

    pub(super) fn tell_sums() {}
}
