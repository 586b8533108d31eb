//! Follows an outage by what the server and the callers saw.

use std::ops::Range;
use std::time::Instant;

use super::{Evidence, settled};
use crate::pipeline::{Call, Fate};
use crate::script::{RESET, THRESHOLD};
use crate::server::{Answer, Seen};

/// From the first fault to the closing of the circuit.
#[derive(Debug)]
pub(super) struct Recovery {
    pub(super) held_back: usize,
    /// The requests that were let in while the circuit was open, the last one successful.
    pub(super) probes: Vec<Seen>,
    /// When the circuit closed: between these.
    pub(super) closed: Range<Instant>,
}

impl Evidence {
    /// `since`: the circuit was closed no earlier.
    pub(super) fn recovery(
        &self,
        span: &Range<Instant>,
        since: Option<Instant>,
    ) -> Result<Recovery, String> {
        let held_back: Vec<&Call> = self
            .within(span)
            .filter(|call| self.was_held_back(call))
            .collect();
        let Some(cut) = held_back.iter().map(|call| call.ended).min() else {
            return Err(format!(
                "the circuit never opened: all {} calls reached the server",
                self.within(span).count()
            ));
        };
        // On a machine that stands still calls may time out before the outage: they count too.
        let mut failures: Vec<Instant> = self
            .calls
            .values()
            .filter(|call| since.is_none_or(|since| call.started >= since))
            .filter_map(|call| self.failed_no_earlier_than(call))
            .filter(|settled| *settled <= cut)
            .collect();
        failures.sort_unstable();
        let threshold = THRESHOLD as usize;
        let Some(tripped) = failures.get(threshold - 1) else {
            return Err(format!(
                "opened after {} failures: {threshold} were set",
                failures.len()
            ));
        };
        let (probes, closed) = self.follow(span, cut, *tripped)?;
        Ok(Recovery {
            held_back: held_back.len(),
            probes,
            closed,
        })
    }

    /// Follows the requests that were let in after the cut up to the one that closed the circuit.
    fn follow(
        &self,
        span: &Range<Instant>,
        cut: Instant,
        tripped: Instant,
    ) -> Result<(Vec<Seen>, Range<Instant>), String> {
        let mut probes = Vec::new();
        let mut closed = None;
        let mut earliest = tripped + RESET;
        for (request, call) in self.requests(span).filter(|(_, call)| call.started > cut) {
            if request.arrived < earliest {
                return Err(format!(
                    "call {} reached the server {:?} before any call may",
                    call.number,
                    earliest - request.arrived
                ));
            }
            if closed.is_some() {
                break;
            }
            probes.push(*request);
            earliest = settled(request, call);
            match call.fate {
                Fate::Fresh => closed = Some(earliest..call.ended),
                Fate::Ignored => {}
                Fate::Stale | Fate::Refused | Fate::Failed => earliest += RESET,
            }
        }
        match closed {
            Some(closed) if probes.iter().any(Seen::failed) => Ok((probes, closed)),
            Some(_) => Err("no probe met the fault".to_owned()),
            None => Err(format!(
                "{} probes, and it never closed again",
                probes.len()
            )),
        }
    }
}

impl Recovery {
    pub(super) fn story(&self) -> String {
        let failed = self.probes.iter().filter(|probe| probe.failed()).count();
        format!(
            "{} calls held back; let in while open: {failed} probes that failed, at least {RESET:?} apart, {} answered, the last of which closed it",
            self.held_back,
            self.probes.len() - failed
        )
    }
}

impl Seen {
    fn failed(&self) -> bool {
        matches!(self.answer, Answer::Error | Answer::Silence | Answer::Reset)
    }
}
