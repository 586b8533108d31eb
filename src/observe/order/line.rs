//! The events of one circuit, put in order: no lock, no clock, nobody who hears them.

use crate::observe::{AnyEvent, Event};
use breaker_core::{Generation, State};
use std::collections::{BTreeMap, VecDeque};

/// How many events of a circuit wait at most for one that came too early.
pub(super) const EARLY_AT_MOST: usize = 4_096;
/// How many wait at most while one is being delivered; as many changes again.
pub(super) const READY_AT_MOST: usize = 4_096;

/// Generations have 26 bits.
const GENERATIONS: u32 = 1 << 26;

/// The events of one circuit, between their telling and their delivery.
#[derive(Default)]
pub(super) struct Line {
    /// The generation of the last change that is ready, or was given up; at first that in which a
    /// circuit is made.
    last: u32,
    /// The state that it led to, where that is known.
    to: Option<State>,
    /// Whether this line began with the circuit. Else what was before is not missed.
    has_begun: bool,
    /// Changes that were given up, from one generation to another, the last ones of these.
    given_up: Option<(u32, u32)>,
    /// What came early: by how much after `origin`, by rank, then by sequence.
    early: BTreeMap<(u32, Rank, u64), Event>,
    /// The generation that those are counted from.
    origin: u32,
    /// Since when the first of them waits.
    pub(super) waits_since: Option<u64>,
    /// What may be delivered.
    pub(super) ready: VecDeque<Event>,
    /// What there was no room for: changes, and others.
    lost: (u64, u64),
    /// Whether a thread is delivering.
    pub(super) is_delivering: bool,
}

/// In which order events of one generation come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// That changes were missed.
    Missed,
    Change,
    Other,
}

/// What is to be done with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It is its turn.
    Now,
    /// It is kept, or was counted as missed before.
    Kept,
}

fn after(generation: u32, origin: u32) -> u32 {
    generation.wrapping_sub(origin) % GENERATIONS
}

/// How far it is ahead; `None`: it is the same, or was before.
fn ahead(generation: u32, of: u32) -> Option<u32> {
    let by = after(generation, of);
    (by != 0 && by < GENERATIONS / 2).then_some(by)
}

impl Line {
    /// Whether an event that arrives now may have to be kept: true rather too often.
    pub(super) fn may_keep(&self, event: &AnyEvent<'_>) -> bool {
        if self.is_delivering || !self.ready.is_empty() || !self.early.is_empty() {
            return true;
        }
        let Some(generation) = event.generation().map(Generation::get) else {
            return false;
        };
        let ahead = ahead(generation, self.last);
        let is_turn = match event {
            AnyEvent::StateChange(event) => {
                ahead == Some(1) && self.to.is_none_or(|to| to == event.change.from)
            }
            AnyEvent::Missed(_) => ahead.is_none_or(|by| by == 1),
            _ => ahead.is_none(),
        };
        !is_turn
    }

    /// An event arrives at this time; `kept` is the same where it [may be kept](Self::may_keep).
    pub(super) fn arrive(
        &mut self,
        event: &AnyEvent<'_>,
        kept: &mut Option<Event>,
        now: u64,
    ) -> Arrival {
        let Some(generation) = event.generation().map(Generation::get) else {
            if matches!(event, AnyEvent::KeyEvicted(_)) {
                self.end();
            }
            return Arrival::Now;
        };
        let change = match event {
            AnyEvent::StateChange(event) => event.change,
            AnyEvent::Missed(_) => {
                return match ahead(generation, self.last) {
                    None | Some(1) => Arrival::Now,
                    Some(_) => self.keep(kept, generation, Rank::Missed, now),
                };
            }
            _ => {
                return match ahead(generation, self.last) {
                    None => Arrival::Now,
                    Some(_) => self.keep(kept, generation, Rank::Other, now),
                };
            }
        };
        match ahead(generation, self.last) {
            Some(1) if self.to.is_none_or(|to| to == change.from) => {
                self.pass(generation, change.to);
                Arrival::Now
            }
            Some(by) if by > 1 => self.keep(kept, generation, Rank::Change, now),
            None if self.was_given_up(generation) => Arrival::Kept,
            // The numbers began anew just now.
            None if !self.has_begun => {
                self.pass(generation, change.to);
                Arrival::Now
            }
            // It can't be of this circuit: that is gone, and its place is another's.
            _ => {
                self.end();
                self.arrive(event, kept, now)
            }
        }
    }

    fn was_given_up(&self, generation: u32) -> bool {
        self.given_up
            .is_some_and(|(first, last)| after(generation, first) <= after(last, first))
    }

    fn pass(&mut self, generation: u32, to: State) {
        self.last = generation;
        self.to = Some(to);
        self.has_begun = true;
    }

    fn keep(&mut self, kept: &mut Option<Event>, generation: u32, rank: Rank, now: u64) -> Arrival {
        let Some(event) = kept.take() else {
            return Arrival::Kept;
        };
        if self.early.is_empty() {
            self.origin = self.last;
            self.waits_since = Some(now);
        }
        let number = event.as_any().sequence();
        let place = (after(generation, self.origin), rank, number);
        self.early.insert(place, event);
        if self.early.len() > EARLY_AT_MOST {
            self.give_up(now);
        }
        Arrival::Kept
    }

    /// Lets those go whose turn has come.
    pub(super) fn follow(&mut self, now: u64) {
        while let Some((&(by, rank, _), first)) = self.early.first_key_value() {
            let generation = (self.origin + by) % GENERATIONS;
            let to = match first.as_any() {
                AnyEvent::StateChange(event) => Some(event.change.to),
                _ => None,
            };
            match (ahead(generation, self.last), rank, to) {
                (None, ..) | (Some(1), Rank::Missed, _) => {}
                (Some(1), Rank::Change, Some(to)) => self.pass(generation, to),
                _ => break,
            }
            if let Some((_, event)) = self.early.pop_first() {
                self.push(event);
            }
            // The next one waits from now on.
            self.waits_since = Some(now);
        }
        if self.early.is_empty() {
            self.waits_since = None;
        }
    }

    /// Waits no longer for what the first one waits for.
    pub(super) fn give_up(&mut self, now: u64) {
        let Some((&(by, rank, _), event)) = self.early.first_key_value() else {
            return;
        };
        let generation = (self.origin + by) % GENERATIONS;
        // Of a change the one before it; of another event the change to its generation.
        let last = if rank == Rank::Other {
            generation
        } else {
            generation.wrapping_sub(1) % GENERATIONS
        };
        let first = (self.last + 1) % GENERATIONS;
        let changes = u64::from(after(last, self.last));
        if self.has_begun {
            let missed = event.missed_beside(changes, 0);
            self.given_up = Some((first, last));
            self.push(missed);
        }
        self.last = last;
        self.to = None;
        self.has_begun = true;
        self.follow(now);
    }

    /// The circuit is gone: what is early waits for nothing any more, and what comes next is of
    /// another one.
    fn end(&mut self) {
        while !self.early.is_empty() {
            self.give_up(0);
        }
        *self = Self {
            ready: std::mem::take(&mut self.ready),
            lost: self.lost,
            is_delivering: self.is_delivering,
            ..Self::default()
        };
    }

    /// To be delivered after those that are.
    pub(super) fn push(&mut self, event: Event) {
        let is_change = matches!(event.as_any(), AnyEvent::StateChange(_));
        let most = READY_AT_MOST * if is_change { 2 } else { 1 };
        if self.ready.len() >= most {
            let (changes, others) = &mut self.lost;
            *if is_change { changes } else { others } += 1;
            return;
        }
        // Between two changes by their numbers: as they come, they may be the other way round.
        let place = if is_change {
            self.ready.len()
        } else {
            let number = event.as_any().sequence();
            let is_later = |other: &Event| {
                let other = other.as_any();
                !matches!(other, AnyEvent::StateChange(_) | AnyEvent::Missed(_))
                    && other.sequence() > number
            };
            let later = self.ready.iter().rev().take_while(|other| is_later(other));
            self.ready.len() - later.count()
        };
        self.ready.insert(place, event);
    }

    /// What is to be delivered now.
    pub(super) fn take(&mut self) -> VecDeque<Event> {
        let mut ready = std::mem::take(&mut self.ready);
        if let Some(last) = ready.back()
            && self.lost != (0, 0)
        {
            let (changes, others) = std::mem::take(&mut self.lost);
            ready.push_back(last.missed_beside(changes, others));
        }
        ready
    }

    /// Whether nothing is lost if it is forgotten.
    pub(super) fn is_new(&self) -> bool {
        !self.has_begun && self.is_idle()
    }

    /// Whether nothing waits and nobody delivers.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_delivering && self.early.is_empty() && self.ready.is_empty() && self.lost == (0, 0)
    }
}
