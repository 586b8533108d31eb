//! What states a circuit entered, and why.

use crate::observe::Entering;
use breaker_core::{Change, Generation};
use std::collections::VecDeque;

/// An entry into a state.
#[derive(Clone, Debug)]
pub(super) struct Entered {
    /// Milliseconds of Unix time.
    pub(super) at: u64,
    pub(super) change: Change,
    /// The event's number: the greater, the later.
    pub(super) sequence: u64,
    /// Who did it, if it was an operator on the page and the guard said who.
    pub(super) by: Option<Box<str>>,
}

/// The last entries of a circuit, oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    entries: VecDeque<Entered>,
    /// Whether there were more.
    is_full: bool,
}

impl History {
    /// Puts an entry in its place: events of one circuit may come in either order.
    pub(super) fn add(&mut self, entered: Entered, most: usize) {
        let later = |other: &Entered| other.sequence > entered.sequence;
        let behind = self.entries.iter().rev().take_while(|other| later(other));
        let place = self.entries.len() - behind.count();
        self.entries.insert(place, entered);
        while self.entries.len() > most {
            self.entries.pop_front();
            self.is_full = true;
        }
    }

    /// Whether earlier ones are not kept any more.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(super) fn entries(&self) -> impl DoubleEndedIterator<Item = &Entered> + ExactSizeIterator {
        self.entries.iter()
    }

    /// The entry that began this generation, if it was seen.
    pub(super) fn of(&self, generation: Generation) -> Option<&Entered> {
        let mut latest_first = self.entries.iter().rev();
        latest_first.find(|entered| entered.change.generation == generation)
    }

    /// The entries of a circuit that is in this generation now, where those of an earlier circuit
    /// may come first: generations only grow.
    pub(super) fn since_it_began(&self, now: Generation) -> Self {
        let mut entries = VecDeque::new();
        let mut next = now.get();
        for entered in self.entries.iter().rev() {
            let generation = entered.change.generation.get();
            let fits = if entries.is_empty() {
                generation == next
            } else {
                generation < next
            };
            if !fits {
                break;
            }
            next = generation;
            entries.push_front(entered.clone());
        }
        Self {
            entries,
            is_full: false,
        }
    }

    /// Notes who brought a generation about.
    pub(super) fn attribute(&mut self, generation: Generation, by: &str) {
        let mut latest_first = self.entries.iter_mut().rev();
        if let Some(entered) = latest_first.find(|it| it.change.generation == generation) {
            entered.by = Some(by.into());
        }
    }
}

/// Why a state was entered, as a log has it, but for the name: "opened after 5 failures, for 30s".
pub(super) fn why(change: &Change) -> String {
    Entering::from(change).to_string()
}

/// The line of a log, without "circuit `name`", of an event that has no name.
pub(super) fn without_name(event: &impl ToString) -> String {
    let line = event.to_string();
    match line.strip_prefix("circuit `` ") {
        Some(rest) => rest.to_owned(),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Breaker;
    use breaker_core::{Config, Trigger};
    use std::time::Duration;

    fn entered(sequence: u64) -> Entered {
        let pms = Breaker::new("pms", Config::DEFAULT);
        let mut change = pms.open_for(Duration::from_secs(30));
        change.generation = Generation::from_number(u32::try_from(sequence).unwrap());
        change.trigger = Trigger::Failures;
        change.failures = 5;
        Entered {
            at: 1000 + sequence,
            change,
            sequence,
            by: None,
        }
    }

    fn sequences(history: &History) -> Vec<u64> {
        history.entries().map(|entered| entered.sequence).collect()
    }

    #[test]
    fn the_last_ones_are_kept_in_the_order_of_their_numbers() {
        let mut history = History::default();
        for sequence in [1, 2, 5, 4, 3] {
            history.add(entered(sequence), 4);
        }
        assert_eq!(sequences(&history), [2, 3, 4, 5]);
        history.add(entered(1), 4);
        assert_eq!(sequences(&history), [2, 3, 4, 5]);
        for sequence in 6..500 {
            history.add(entered(sequence), 4);
        }
        assert_eq!(sequences(&history), [496, 497, 498, 499]);
    }

    #[test]
    fn what_an_earlier_circuit_did_is_not_this_ones() {
        for (generations, now, own) in [
            (&[][..], 0, 0),
            (&[1, 2], 0, 0),
            (&[1, 2, 1], 1, 1),
            (&[1, 2, 1, 2, 3], 3, 3),
            (&[1], 1, 1),
            // It has just changed, and this isn't told yet.
            (&[5, 1], 2, 0),
        ] {
            let mut history = History::default();
            for (sequence, &generation) in (1..).zip(generations) {
                let mut entered = entered(sequence);
                entered.change.generation = Generation::from_number(generation);
                history.add(entered, 10);
            }
            let since = history.since_it_began(Generation::from_number(now));
            assert_eq!(since.entries().len(), own, "{generations:?}");
        }
    }

    #[test]
    fn who_did_it_is_noted_at_the_generation_that_it_began() {
        let mut history = History::default();
        history.add(entered(7), 4);
        history.attribute(Generation::from_number(8), "bob");
        assert!(history.entries().all(|entered| entered.by.is_none()));
        history.attribute(Generation::from_number(7), "ann");
        let by = history
            .of(Generation::from_number(7))
            .unwrap()
            .by
            .as_deref();
        assert_eq!(by, Some("ann"));
    }

    #[test]
    fn why_is_the_line_of_the_log_without_the_name() {
        let change = entered(1).change;
        assert_eq!(why(&change), "opened after 5 failures, for 30s");
    }
}
