//! What a fleet waits for when it is dropped: that what operators said is told. A command that opens a circuit
//! and ends would take its word along.

use crate::hub::Hub;
use breakerbox::link;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// For so long at most.
const MOST: Duration = Duration::from_secs(1);

/// The fleet was dropped, and what an operator said may be known to nobody.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "the fleet was dropped before redis had been told what an operator said of {circuits} of its circuits: \
     if this process goes on for a while, it may be yet; `Fleet::ready` waits until it is"
)]
struct Untold {
    circuits: usize,
}

/// Operators' words of circuits that were given up before these were told: of breakers that were dropped, and
/// keys that were evicted.
#[derive(Debug, Default)]
pub(crate) struct LastWords {
    untold: AtomicUsize,
    /// Nobody will be told.
    lost: AtomicUsize,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct LastWord(Option<Arc<LastWords>>);

impl LastWord {
    pub(crate) fn of(all: &Arc<LastWords>) -> Self {
        all.untold.fetch_add(1, Ordering::AcqRel);
        Self(Some(Arc::clone(all)))
    }

    pub(crate) fn told(mut self) {
        if let Some(all) = self.0.take() {
            all.untold.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Drop for LastWord {
    fn drop(&mut self) {
        if let Some(all) = &self.0 {
            all.lost.fetch_add(1, Ordering::AcqRel);
            all.untold.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Waits until operators' words are told. Where they aren't in time, observers are told so here and now:
/// the process may be about to end.
pub(crate) fn tell_orders(hub: &Hub) {
    if hub.is_background() || hub.is_ending() {
        return;
    }
    // What is given up meanwhile is counted before it is missing here.
    let circuits = hub.groups().into_iter().flat_map(|group| group.circuits());
    let ordered: Vec<_> = circuits.filter(|circuit| circuit.has_order()).collect();
    let of_present = || ordered.iter().filter(|circuit| circuit.has_order());
    let last = &hub.last_words;
    let are_told = || of_present().next().is_none() && last.untold.load(Ordering::Acquire) == 0;
    hub.wait_until(MOST, are_told);
    let of_gone = last.untold.load(Ordering::Acquire) + last.lost.load(Ordering::Acquire);
    let circuits = of_present().count() + of_gone;
    if circuits > 0 {
        hub.ends_with_a_word();
        link::sharing_ended(hub.prefix().as_str(), &Untold { circuits });
    }
}
