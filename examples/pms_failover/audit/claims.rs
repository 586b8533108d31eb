//! What is claimed beside the recoveries themselves.

use std::collections::HashSet;
use std::ops::Range;
use std::time::Instant;

use super::{Check, Evidence, Recovered};
use crate::pipeline::{Call, Fate};
use crate::script::{self, Room, THRESHOLD, TIMEOUT};
use crate::server::Answer;

impl Evidence {
    /// Everything that is claimed of a run with these recoveries.
    pub(super) fn claims(&self, recovered: &[Recovered<'_>]) -> impl Iterator<Item = Check> {
        [
            (
                "one request for each probe",
                self.one_request_per_probe(recovered),
            ),
            (
                "a 404 is an answer: it opens nothing",
                self.answers_open_nothing(recovered),
            ),
            (
                "once closed, nothing is held back",
                self.nothing_held_back(recovered),
            ),
            (
                "in the end every room has a fresh answer",
                self.all_rooms_fresh(recovered),
            ),
            (
                "rooms with a last good answer never missed one",
                self.warm_rooms(recovered),
            ),
            ("rooms without one got the error", self.cold_rooms()),
            ("no stale answer is silent", self.stale_answers_reported()),
        ]
        .into_iter()
        .map(|(claim, found)| Check {
            claim: claim.to_owned(),
            found,
        })
    }

    fn one_request_per_probe(&self, recovered: &[Recovered<'_>]) -> Result<String, String> {
        for number in &self.probes {
            let requests = self
                .seen
                .iter()
                .filter(|request| request.call == *number)
                .count();
            let gave_up = self
                .calls
                .get(number)
                .is_some_and(|call| call.took() >= TIMEOUT);
            // On a machine that stands still a probe may time out before it is sent.
            if requests != 1 && !(requests == 0 && gave_up) {
                return Err(format!(
                    "the server saw {requests} requests of the probe {number}"
                ));
            }
        }
        let mut seen = 0;
        for (recovery, _) in recovered {
            let mut slot_was_given_back = false;
            for probe in &recovery.probes {
                if !slot_was_given_back && !self.probes.contains(&probe.call) {
                    return Err(format!(
                        "call {} was let in, and no probe is known",
                        probe.call
                    ));
                }
                slot_was_given_back = probe.answer == Answer::NotFound;
                seen += 1;
            }
        }
        Ok(format!(
            "{} trials reported by the breaker, {seen} requests at the server (a 404 decides nothing: the trial goes on)",
            self.probes.len()
        ))
    }

    fn answers_open_nothing(&self, recovered: &[Recovered<'_>]) -> Result<String, String> {
        let longest = recovered
            .iter()
            .map(|(recovery, span)| self.longest_run_of_not_found(recovery.closed.end..span.end))
            .max()
            .unwrap_or(0);
        if longest < THRESHOLD as usize {
            return Err(format!("at most {longest} in a row: too few to tell"));
        }
        Ok(format!(
            "{longest} in a row at the server, and the next call reached it"
        ))
    }

    fn longest_run_of_not_found(&self, span: Range<Instant>) -> usize {
        let (mut run, mut longest) = (0, 0);
        for request in self
            .seen
            .iter()
            .filter(|request| span.contains(&request.arrived))
        {
            run = if request.answer == Answer::NotFound {
                run + 1
            } else {
                0
            };
            longest = longest.max(run);
        }
        longest
    }

    fn nothing_held_back(&self, recovered: &[Recovered<'_>]) -> Result<String, String> {
        let mut count = 0;
        for (recovery, span) in recovered {
            for call in self.within(&(recovery.closed.end..span.end)) {
                // A call that ends in the next outage may have met its open circuit.
                if call.ended > span.end {
                    continue;
                }
                if self.was_held_back(call) {
                    return Err(format!("call {} did not reach the server", call.number));
                }
                count += 1;
            }
        }
        Ok(format!("all {count} calls reached the server"))
    }

    fn all_rooms_fresh(&self, recovered: &[Recovered<'_>]) -> Result<String, String> {
        let fresh: HashSet<Room> = recovered
            .last()
            .into_iter()
            .flat_map(|(recovery, span)| {
                self.within(span)
                    .filter(|call| call.fate == Fate::Fresh && call.ended >= recovery.closed.start)
            })
            .map(|call| call.room)
            .collect();
        let mut rooms = script::rooms().chain(script::late_rooms());
        match rooms.find(|room| !fresh.contains(room)) {
            Some(room) => Err(format!("room {} has none", room.0)),
            None => Ok(format!("{} rooms", fresh.len())),
        }
    }

    fn warm_rooms(&self, recovered: &[Recovered<'_>]) -> Result<String, String> {
        let warm: HashSet<Room> = script::rooms().collect();
        let mut stale = 0;
        for (recovery, span) in recovered {
            for call in self.within(&(span.start..recovery.closed.end)) {
                match call.fate {
                    Fate::Failed | Fate::Refused if warm.contains(&call.room) => {
                        return Err(format!(
                            "call {} for room {} got an error",
                            call.number, call.room.0
                        ));
                    }
                    Fate::Stale => stale += 1,
                    _ => {}
                }
            }
        }
        Ok(format!("{stale} stale answers in the meantime"))
    }

    fn cold_rooms(&self) -> Result<String, String> {
        let mut refused = 0;
        for room in script::late_rooms() {
            let mut calls: Vec<&Call> = self
                .calls
                .values()
                .filter(|call| call.room == room)
                .collect();
            calls.sort_by_key(|call| call.started);
            for call in calls
                .into_iter()
                .take_while(|call| call.fate != Fate::Fresh)
            {
                match call.fate {
                    Fate::Stale => {
                        return Err(format!("room {} got an answer from nowhere", room.0));
                    }
                    Fate::Refused => refused += 1,
                    _ => {}
                }
            }
        }
        match refused {
            0 => Err("none was refused".to_owned()),
            _ => Ok(format!("{refused} refusals")),
        }
    }

    fn stale_answers_reported(&self) -> Result<String, String> {
        let stale = self
            .calls
            .values()
            .filter(|call| call.fate == Fate::Stale)
            .count();
        if stale != self.served {
            return Err(format!("{stale} served, {} reported", self.served));
        }
        Ok(format!(
            "{stale} served, and as many reported to the observer"
        ))
    }
}
