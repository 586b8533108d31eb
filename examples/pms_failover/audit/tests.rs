//! A run written down by hand, and what spoils it.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::Evidence;
use crate::pipeline::{Call, Fate};
use crate::script::{self, Room};
use crate::server::{Answer, Seen};

/// A run written down by hand, in milliseconds.
struct Run {
    origin: Instant,
    calls: Vec<Call>,
    seen: Vec<Seen>,
    probes: Vec<u64>,
}

impl Run {
    fn at(&self, millis: u64) -> Instant {
        self.origin + Duration::from_millis(millis)
    }

    fn call(&mut self, span: Range<u64>, room: u32, fate: Fate) -> u64 {
        let number = self.calls.len() as u64 + 1;
        self.calls.push(Call {
            number,
            room: Room(room),
            started: self.at(span.start),
            ended: self.at(span.end),
            fate,
            price: None,
        });
        number
    }

    /// A call that reached the server at once and was answered at its end.
    fn reach(&mut self, span: Range<u64>, room: u32, answer: Answer) -> u64 {
        let fate = match answer {
            Answer::Inventory => Fate::Fresh,
            Answer::NotFound => Fate::Ignored,
            _ => Fate::Stale,
        };
        let silent = answer == Answer::Silence;
        let (arrived, ended) = (self.at(span.start), self.at(span.end));
        let call = self.call(span, room, fate);
        self.seen.push(Seen {
            call,
            arrived,
            answered: (!silent).then_some(ended),
            answer,
        });
        call
    }

    fn probe(&mut self, span: Range<u64>, answer: Answer) {
        let call = self.reach(span, 101, answer);
        self.probes.push(call);
    }

    /// Two outages as they should go. The first has a straggler, a hanging probe and 404s.
    fn good() -> Self {
        let mut run = Self {
            origin: Instant::now(),
            calls: Vec::new(),
            seen: Vec::new(),
            probes: Vec::new(),
        };
        for millis in 0..5 {
            run.reach(millis..millis + 1, 101, Answer::Error);
        }
        run.reach(3..20, 102, Answer::Error);
        run.call(6..7, 103, Fate::Stale);
        run.call(8..9, 133, Fate::Refused);
        run.probe(410..412, Answer::Error);
        run.call(500..501, 101, Fate::Stale);
        run.probe(820..1320, Answer::Silence);
        run.probe(1730..1732, Answer::NotFound);
        run.reach(1732..1733, 102, Answer::NotFound);
        run.reach(1734..1736, 104, Answer::Inventory);
        for millis in 1750..1756 {
            run.reach(millis..millis + 1, 101, Answer::NotFound);
        }
        for millis in 2000..2005 {
            run.reach(millis..millis + 1, 101, Answer::Reset);
        }
        run.call(2006..2007, 102, Fate::Stale);
        run.probe(2410..2411, Answer::Reset);
        run.probe(2820..2822, Answer::Inventory);
        for room in script::rooms().chain(script::late_rooms()) {
            run.reach(2900..2902, room.0, Answer::Inventory);
        }
        run
    }

    /// The claims that were refuted.
    fn refuted(self) -> Vec<String> {
        let stale = self.calls.iter().filter(|call| call.fate == Fate::Stale);
        let served = stale.count();
        let outages = [
            ("first", self.origin..self.at(2000)),
            ("second", self.at(2000)..self.at(4000)),
        ];
        Evidence::new(self.calls, self.seen, self.probes, served)
            .judge(&outages)
            .into_iter()
            .filter_map(|check| Some(format!("{}: {}", check.claim, check.found.err()?)))
            .collect()
    }
}

/// What `spoil` adds to a good run is found out, and named with these words.
fn found_out(words: &str, spoil: impl FnOnce(&mut Run)) {
    let mut run = Run::good();
    spoil(&mut run);
    let refuted = run.refuted();
    assert!(
        refuted.iter().any(|claim| claim.contains(words)),
        "{refuted:#?}"
    );
}

#[test]
fn a_good_run_passes() {
    assert_eq!(Run::good().refuted(), Vec::<String>::new());
}

#[test]
fn a_late_straggler_is_forgiven() {
    let mut run = Run::good();
    let call = run.call(6..250, 101, Fate::Stale);
    let arrived = run.at(200);
    run.seen.push(Seen {
        call,
        arrived,
        answered: Some(arrived),
        answer: Answer::Error,
    });
    assert_eq!(run.refuted(), Vec::<String>::new());
}

#[test]
fn calls_that_timed_out_before_the_outage_count_towards_it() {
    let mut run = Run::good();
    // Three of the first outage's five failures are such calls.
    for seen in run
        .seen
        .iter_mut()
        .filter(|seen| seen.answer == Answer::Error)
        .take(3)
    {
        let index = run.calls.iter().position(|call| call.number == seen.call);
        let call = &mut run.calls[index.expect("every request has a call")];
        call.started -= Duration::from_millis(510);
        call.ended -= Duration::from_millis(10);
        seen.arrived = call.started;
        seen.answered = None;
    }
    assert_eq!(run.refuted(), Vec::<String>::new());
}

#[test]
fn a_circuit_that_never_opens() {
    found_out("never opened", |run| {
        let reached: Vec<u64> = run.seen.iter().map(|seen| seen.call).collect();
        run.calls.retain(|call| reached.contains(&call.number));
    });
}

#[test]
fn one_that_opens_too_early() {
    found_out("opened after 4 failures", |run| {
        let call = run.seen.remove(0).call;
        run.calls.retain(|other| other.number != call);
    });
}

#[test]
fn one_that_leaks() {
    found_out("before any call may", |run| {
        run.reach(100..101, 102, Answer::Error);
    });
}

#[test]
fn a_probe_too_early() {
    found_out("before any call may", |run| {
        run.probe(390..391, Answer::Error)
    });
}

#[test]
fn two_probes_at_once() {
    found_out("before any call may", |run| {
        run.probe(411..413, Answer::Error)
    });
}

#[test]
fn a_call_beside_the_probe_that_closes() {
    found_out("before any call may", |run| {
        run.reach(2821..2830, 102, Answer::Inventory);
    });
}

#[test]
fn a_probe_nobody_knows_of() {
    found_out("no probe is known", |run| {
        run.probes.pop();
    });
}

#[test]
fn a_probe_that_never_arrived() {
    found_out("saw 0 requests", |run| {
        let call = run.call(2430..2431, 101, Fate::Stale);
        run.probes.push(call);
    });
}

#[test]
fn one_that_never_closes() {
    found_out("never closed again", |run| {
        let closing = run.at(2800);
        run.seen.retain(|seen| seen.arrived < closing);
    });
}

#[test]
fn one_that_opens_over_404s() {
    found_out("did not reach the server", |run| {
        run.call(1800..1801, 101, Fate::Stale);
    });
}

#[test]
fn a_warm_room_with_an_error() {
    found_out("got an error", |run| {
        run.call(600..601, 101, Fate::Refused);
    });
}

#[test]
fn a_cold_room_with_an_answer() {
    found_out("from nowhere", |run| {
        run.call(600..601, 134, Fate::Stale);
    });
}
