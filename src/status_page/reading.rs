//! What a circuit is at one moment. Of most nothing has changed since the last one: they are not
//! described anew.

use super::collector::Watched;
use super::document::{Circuit, Rates, Would, millis};
use super::history::{Entered, History, why};
use crate::last_change::LastChange;
use crate::registry::Found;
use breaker_core::{Generation, State, Trigger};

/// Entries into a state that are shown of every circuit without being asked for.
const RECENT: usize = 12;

/// The instant of the next probe is reckoned anew each time, from the time left: it has changed
/// only if it differs by more than clocks do, in milliseconds.
const SAME_PROBE: u64 = 500;

/// What a description depends on, but for its rates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    generation: Generation,
    state: State,
    failures: u32,
    reopenings: u8,
    next_probe: Option<u64>,
    /// What was told of the circuit by then.
    told: u32,
}

impl Reading {
    pub(super) fn new(watched: &Watched, found: &Found, now: u64, before: Option<&Self>) -> Self {
        // First: what is told meanwhile is seen the next time.
        let told = watched.told();
        // Two readings, which belong together if no state was entered meanwhile.
        let mut generation = found.generation();
        let mut snapshot = found.snapshot();
        for _ in 0..8 {
            let again = found.generation();
            if again == generation {
                break;
            }
            generation = again;
            snapshot = found.snapshot();
        }
        let is_open = snapshot.state == State::Open;
        let next_probe = found.time_left().filter(|_| is_open).map(|left| {
            let next = now.saturating_add(millis(left));
            let same = before.filter(|before| before.generation == generation);
            let known = same.and_then(|before| before.next_probe);
            known
                .filter(|known| known.abs_diff(next) <= SAME_PROBE)
                .unwrap_or(next)
        });
        Self {
            generation,
            state: snapshot.state,
            failures: snapshot.consecutive,
            reopenings: snapshot.reopenings,
            next_probe,
            told,
        }
    }

    /// In words.
    pub(super) fn circuit(
        &self,
        watched: &Watched,
        found: &Found,
        rates: Rates,
        now: u64,
    ) -> Circuit {
        let id = found.circuit_id();
        let history = watched.history();
        let entered = history.of(self.generation);
        let earlier = match entered {
            Some(_) => None,
            None => self.entered_before_it_was_watched(found),
        };
        let before = earlier.as_ref().and_then(|change| at(change, now));
        let would = watched.would().told(self.generation);
        Circuit {
            id: watched.number.to_string(),
            breaker: watched.name.to_string(),
            key: watched.key.as_deref().map(str::to_owned),
            state: self.state.as_str(),
            generation: self.generation.get(),
            since: entered.map(|entered| entered.at).or(before),
            why: entered
                .map(|entered| why(&entered.change))
                .or_else(|| earlier.as_ref().map(ToString::to_string)),
            trigger: entered
                .map(|entered| entered.change.trigger)
                .or_else(|| earlier.map(|change| change.trigger))
                .map(Trigger::as_str),
            by: entered.and_then(|entered| entered.by.as_deref().map(str::to_owned)),
            next_probe: self.next_probe,
            failures: self.failures,
            reopenings: self.reopenings,
            would: would.map(|told| Would::new(&told, id)),
            recent: recent(&history, before.unwrap_or(watched.first_seen), self.state),
            rates,
        }
    }

    /// What no observer of the page has heard of: it was not there yet.
    fn entered_before_it_was_watched(&self, found: &Found) -> Option<LastChange> {
        found
            .last_change()
            .filter(|change| change.generation == self.generation)
    }
}

/// When a change was made; of one to half-open it is not known any more.
fn at(change: &LastChange, now: u64) -> Option<u64> {
    (change.to != State::HalfOpen).then(|| now.saturating_sub(millis(change.ago)))
}

/// The last entries into a state; before them the state that it was in when it was first seen, if
/// nothing is missing in between.
fn recent(history: &History, first_seen: u64, now: State) -> Vec<(u64, &'static str)> {
    let entries = history.entries();
    let skipped = entries.len().saturating_sub(RECENT - 1);
    let first = match history.entries().next() {
        Some(first) if skipped == 0 && !history.is_full() => {
            // What is first heard of a circuit is mostly this entry itself.
            Some((first_seen.min(first.at), first.change.from.as_str()))
        }
        Some(_) => None,
        None => Some((first_seen, now.as_str())),
    };
    let entered = |entered: &Entered| (entered.at, entered.change.to.as_str());
    first
        .into_iter()
        .chain(entries.skip(skipped).map(entered))
        .collect()
}
