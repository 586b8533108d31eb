//! What a fleet waits for when it is dropped: that what operators said is told. A command that opens a circuit
//! and ends would take its word along.

use crate::circuit::Circuit;
use crate::hub::Hub;
use breakerbox::link;
use std::sync::Arc;
use std::time::Duration;

/// For so long at most.
const MOST: Duration = Duration::from_secs(1);

/// The fleet was dropped, and what an operator said may be known to nobody.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "the fleet was dropped before redis had been told what an operator said of {circuits} of its circuits: \
     have it told by `Fleet::ready`, which says what is wrong"
)]
struct Untold {
    circuits: usize,
}

/// Waits until operators' words are told. Where they aren't in time, observers are told so here and now:
/// the process may be about to end.
pub(crate) fn tell_orders(hub: &Hub) {
    if hub.is_background() || hub.is_ending() {
        return;
    }
    let circuits = hub.groups().into_iter().flat_map(|group| group.circuits());
    let ordered: Vec<_> = circuits.filter(has_order).collect();
    if ordered.is_empty() {
        return;
    }
    let are_told = || !ordered.iter().any(has_order);
    if !hub.wait_until(MOST, are_told) {
        let circuits = ordered.iter().filter(|circuit| has_order(circuit)).count();
        hub.ends_with_a_word();
        link::sharing_lost(hub.prefix().as_str(), &Untold { circuits }, 1);
    }
}

fn has_order(circuit: &Arc<Circuit>) -> bool {
    circuit.instance().has_order()
}
