//! The verdict: what reached the server, held against what the callers saw.
//!
//! Nothing here depends on how fast the machine is, and the breaker's own word is used only where it is
//! itself checked: its probes against the server's, its served fallbacks against the callers'.
//!
//! For each request the server knows when it arrived and when its answer was ready; each caller knows
//! when it asked and when it had its answer. From these follow bounds that hold however the threads
//! were scheduled:
//!
//! - A call that never reached the server, and did not time out, was held back: **the circuit was open
//!   before that call ended.** The first such end of an outage is its *cut*.
//! - A call that **started after the cut** and reached the server was let in by an open circuit: it was
//!   a probe, or the circuit leaks. A call that started before may arrive late; it proves nothing.
//! - A failure is on the breaker's books **no earlier** than the server had its answer ready or, where
//!   the caller gave up first, than the timeout after its start. The next probe *arrives* at least
//!   `RESET` later.

mod claims;
mod recovery;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

use crate::pipeline::{Call, Fate};
use crate::script::TIMEOUT;
use crate::server::Seen;
use recovery::Recovery;

/// An outage that was recovered from, and the time from its first fault to the next outage or the end.
type Recovered<'s> = (Recovery, &'s Range<Instant>);

/// A claim about the run, and what was found: a fact that bears it out, or the one that refutes it.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) claim: String,
    pub(crate) found: Result<String, String>,
}

/// All that was seen.
#[derive(Debug)]
pub(crate) struct Evidence {
    calls: HashMap<u64, Call>,
    /// In order of arrival.
    seen: Vec<Seen>,
    /// The same by the number of the call.
    requests: HashMap<u64, Seen>,
    /// The calls that the breaker says it let in as first probes of a trial.
    probes: Vec<u64>,
    /// How many fallbacks the breaker says it served.
    served: usize,
}

impl Evidence {
    pub(crate) fn new(
        calls: Vec<Call>,
        mut seen: Vec<Seen>,
        probes: Vec<u64>,
        served: usize,
    ) -> Self {
        let calls: HashMap<u64, Call> = calls.into_iter().map(|call| (call.number, call)).collect();
        seen.retain(|request| calls.contains_key(&request.call));
        seen.sort_by_key(|request| request.arrived);
        Self {
            requests: seen
                .iter()
                .map(|request| (request.call, *request))
                .collect(),
            calls,
            seen,
            probes,
            served,
        }
    }

    /// Judges outages, each named and given by the time from its first fault to the next outage or the end.
    pub(crate) fn judge(&self, outages: &[(&str, Range<Instant>)]) -> Vec<Check> {
        let mut checks = Vec::new();
        let mut recovered = Vec::new();
        let mut since = self.calls.values().map(|call| call.started).min();
        for (name, span) in outages {
            let recovery = self.recovery(span, since);
            since = recovery.as_ref().ok().map(|recovery| recovery.closed.start);
            checks.push(Check {
                claim: format!("{name}: opened, probed and closed again"),
                found: recovery
                    .as_ref()
                    .map(Recovery::story)
                    .map_err(String::clone),
            });
            recovered.extend(recovery.ok().map(|recovery| (recovery, span)));
        }
        // The rest is about recoveries: without them there is nothing to claim.
        if recovered.len() == outages.len() {
            checks.extend(self.claims(&recovered));
        }
        checks
    }

    /// True if the call did not reach the server, and did not time out on the way.
    fn was_held_back(&self, call: &Call) -> bool {
        !self.requests.contains_key(&call.number) && call.took() < TIMEOUT
    }

    /// If the call counted as a failure: a time at or after which it did.
    fn failed_no_earlier_than(&self, call: &Call) -> Option<Instant> {
        match (call.fate, self.requests.get(&call.number)) {
            (Fate::Stale | Fate::Failed, Some(request)) => Some(settled(request, call)),
            (Fate::Stale | Fate::Failed, None) if call.took() >= TIMEOUT => {
                Some(call.started + TIMEOUT)
            }
            _ => None,
        }
    }

    /// Calls that started in the span.
    fn within(&self, span: &Range<Instant>) -> impl Iterator<Item = &Call> {
        self.calls
            .values()
            .filter(|call| span.contains(&call.started))
    }

    /// Requests, in order of arrival, of calls that started in the span.
    fn requests(&self, span: &Range<Instant>) -> impl Iterator<Item = (&Seen, &Call)> {
        self.seen
            .iter()
            .filter_map(|request| Some((request, self.calls.get(&request.call)?)))
            .filter(|(_, call)| span.contains(&call.started))
    }
}

/// A time that the breaker learned of the outcome at or after.
fn settled(request: &Seen, call: &Call) -> Instant {
    match request.answered {
        Some(answered) if answered <= call.ended => answered,
        _ => call.started + TIMEOUT,
    }
}
