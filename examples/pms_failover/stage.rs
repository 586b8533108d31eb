//! Plays acts: breaks the server, lets the pipeline run, prints what happens.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use breakerbox::State;

use crate::cost::Bill;
use crate::pipeline::{Call, Fate, Pipeline};
use crate::script::{self, Act, Fault, GRACE, Room, TICK};
use crate::server::Server;
use crate::timeline::Timeline;

/// How often the stage looks whether an act is over.
const GLANCE: Duration = Duration::from_millis(50);

/// 404s after the closing that make an act of them.
const ENOUGH_IGNORED: usize = 50;

/// A pipeline in front of the server.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    server: &'a Server,
    timeline: Arc<Timeline>,
    pipeline: Pipeline,
    rooms: HashSet<Room>,
    /// What was printed already.
    shown: Shown,
    played: Vec<Played>,
}

/// How far the timeline is printed.
#[derive(Clone, Copy, Debug)]
struct Shown {
    at: Instant,
    calls: usize,
    requests: usize,
}

/// An act that was played.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub(crate) act: Act,
    pub(crate) span: Range<Instant>,
    requests: usize,
}

/// A play that is over.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) calls: Vec<Call>,
    pub(crate) acts: Vec<Played>,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(server: &'a Server, timeline: Arc<Timeline>, pipeline: Pipeline) -> Self {
        let shown = Shown {
            at: Instant::now(),
            calls: pipeline.booked(0).len(),
            requests: server.count(),
        };
        Self {
            server,
            timeline,
            pipeline,
            rooms: HashSet::new(),
            shown,
            played: Vec::new(),
        }
    }

    /// Puts rooms on sale.
    pub(crate) fn sell(&mut self, rooms: impl Iterator<Item = Room>) {
        for room in rooms {
            self.rooms.insert(room);
            self.pipeline.sell(room);
        }
    }

    /// Plays an act for its time; with `to_the_point` a little longer if what it is there to show takes longer.
    pub(crate) async fn play(&mut self, act: Act, to_the_point: bool) {
        self.timeline.announce(act.title);
        let requests = self.server.count();
        let from = Instant::now();
        self.server.play(act.fault);
        if act.fault == Fault::Errors {
            // Not before: their first call must meet the outage.
            self.sell(script::late_rooms());
        }
        let mut next_row = self.shown.at + TICK;
        loop {
            tokio::time::sleep(GLANCE).await;
            let now = Instant::now();
            let over = match now.checked_duration_since(from + act.lasts) {
                None => false,
                Some(late) => {
                    !to_the_point || late >= GRACE || self.has_come_to_the_point(act.fault, from)
                }
            };
            // What an act's end cuts short is shown with the next row, unless it is a good part of one.
            let a_good_part = over && now - self.shown.at >= TICK / 2;
            if a_good_part || now >= next_row {
                self.print_row(now);
                next_row += TICK;
            }
            if over {
                break;
            }
        }
        self.played.push(Played {
            act,
            span: from..Instant::now(),
            requests: self.server.count() - requests,
        });
    }

    /// Lets the pipeline end its calls.
    pub(crate) async fn close(self) -> Record {
        Record {
            calls: self.pipeline.close().await,
            acts: self.played,
        }
    }

    fn has_come_to_the_point(&self, fault: Fault, from: Instant) -> bool {
        let calls = |fate, since| -> Vec<Call> {
            let mut calls = self.pipeline.booked(0);
            calls.retain(|call| call.fate == fate && call.started >= since);
            calls
        };
        match fault {
            Fault::Errors | Fault::Hangs | Fault::Resets => {
                self.timeline.entered(State::HalfOpen, from).is_some()
            }
            Fault::UnknownRooms => self
                .timeline
                .entered(State::Closed, from)
                .is_some_and(|closed| calls(Fate::Ignored, closed).len() >= ENOUGH_IGNORED),
            Fault::None => {
                let fresh: HashSet<Room> = calls(Fate::Fresh, from)
                    .iter()
                    .map(|call| call.room)
                    .collect();
                fresh == self.rooms
            }
        }
    }

    fn print_row(&mut self, now: Instant) {
        let calls = self.pipeline.booked(self.shown.calls);
        let requests = self.server.count();
        self.timeline
            .row(now - self.shown.at, &calls, requests - self.shown.requests);
        self.shown = Shown {
            at: now,
            calls: self.shown.calls + calls.len(),
            requests,
        };
    }
}

impl Record {
    /// The acts in which the server was broken.
    pub(crate) fn outages(&self) -> impl Iterator<Item = &Played> {
        self.acts
            .iter()
            .filter(|played| played.act.fault.is_outage())
    }

    /// For each outage its first act's title, and the time from there to the next outage or the end.
    pub(crate) fn spans(&self) -> Vec<(&'static str, Range<Instant>)> {
        let mut spans: Vec<(&'static str, Range<Instant>)> = Vec::new();
        let mut broken = false;
        for Played { act, span, .. } in &self.acts {
            match spans.last_mut() {
                Some(last) if broken || !act.fault.is_outage() => last.1.end = span.end,
                _ if act.fault.is_outage() => spans.push((act.title, span.clone())),
                _ => {}
            }
            broken = act.fault.is_outage();
        }
        spans
    }

    /// What the outages cost.
    pub(crate) fn bill(&self) -> Bill {
        let mut bill = Bill::default();
        for Played { span, requests, .. } in self.outages() {
            bill.lasted += span.end - span.start;
            bill.requests += requests;
            bill.calls.extend(
                self.calls
                    .iter()
                    .filter(|call| span.contains(&call.started)),
            );
        }
        bill
    }
}
