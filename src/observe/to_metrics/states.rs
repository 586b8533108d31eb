//! The states of the circuits of one name, whatever order their changes are told in.

use crate::observe::CircuitId;
use breaker_core::{Generation, State};
use std::collections::HashMap;

/// A circuit was seen in a state, which it entered with this generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) circuit: CircuitId,
    pub(super) generation: Generation,
    pub(super) state: State,
}

/// How many states there are.
pub(super) const STATES: usize = 6;

/// The number of a state on the page. They are promised: see `MetricsObserver`.
pub(super) const fn number(state: State) -> usize {
    match state {
        State::Closed => 0,
        State::Open => 1,
        State::HalfOpen => 2,
        State::ForcedOpen => 3,
        State::Disabled => 4,
        State::Shadow => 5,
    }
}

/// Of one circuit: that of the last change. (Several may share a name.)
#[derive(Debug, Default)]
pub(super) struct One {
    last: Option<Entry>,
    /// What the registry calls it.
    name: Box<str>,
}

impl One {
    /// Whether that is news.
    pub(super) fn entered(&mut self, name: &str, entry: Entry) -> bool {
        let is_news = match self.last {
            Some(last) if last.circuit == entry.circuit => {
                entry.generation.is_after(last.generation)
            }
            _ => true,
        };
        if is_news {
            self.last = Some(entry);
            if *self.name != *name {
                self.name = name.into();
            }
        }
        is_news
    }

    /// The breaker is no more.
    pub(super) fn left(&mut self, name: &str) {
        if *self.name == *name {
            *self = Self::default();
        }
    }

    pub(super) fn state(&self) -> State {
        self.last.map_or(State::Closed, |last| last.state)
    }
}

/// Of the circuits of keys. One that has never changed is closed, and not kept here; one that has
/// is kept until its key is given up, so that what is told late is known to be late.
#[derive(Debug, Default)]
pub(super) struct Keys {
    known: HashMap<CircuitId, (Generation, State)>,
    in_state: [u32; STATES],
}

impl Keys {
    /// Whether that is news.
    pub(super) fn entered(&mut self, entry: Entry) -> bool {
        let Entry {
            circuit,
            generation,
            state,
        } = entry;
        let before = self.known.get(&circuit).copied();
        if before.is_some_and(|(known, _)| !generation.is_after(known)) {
            return false;
        }
        self.leave(before);
        self.known.insert(circuit, (generation, state));
        self.in_state[number(state)] += 1;
        true
    }

    /// The key was given up. Whether that is news.
    pub(super) fn gone(&mut self, circuit: CircuitId) -> bool {
        let before = self.known.remove(&circuit);
        self.leave(before);
        before.is_some()
    }

    fn leave(&mut self, before: Option<(Generation, State)>) {
        if let Some((_, state)) = before {
            self.in_state[number(state)] -= 1;
        }
    }

    pub(super) fn state(&self, circuit: CircuitId) -> State {
        self.known
            .get(&circuit)
            .map_or(State::Closed, |(_, state)| *state)
    }

    /// How many are in each state; of closed ones only those that were something else before.
    pub(super) fn in_state(&self) -> [u32; STATES] {
        self.in_state
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Keys, One, number};
    use crate::observe::CircuitId;
    use breaker_core::{Generation, State};

    fn entry(circuit: u64, generation: u32, state: State) -> Entry {
        Entry {
            circuit: CircuitId(circuit),
            generation: Generation::from_number(generation),
            state,
        }
    }

    #[test]
    fn a_change_that_is_told_late_changes_nothing() {
        let mut one = One::default();
        assert_eq!(one.state(), State::Closed);
        assert!(one.entered("pms", entry(1, 2, State::HalfOpen)));
        assert!(!one.entered("pms", entry(1, 1, State::Open)));
        assert!(!one.entered("pms", entry(1, 2, State::HalfOpen)));
        assert_eq!(one.state(), State::HalfOpen);
        assert!(one.entered("pms", entry(1, 3, State::Closed)));
        // Of another circuit of that name.
        assert!(one.entered("pms", entry(2, 1, State::Open)));
        assert_eq!(one.state(), State::Open);
        one.left("another");
        assert_eq!(one.state(), State::Open);
        one.left("pms");
        assert_eq!(one.state(), State::Closed);
        // A new one, that may stand where the old one stood.
        assert!(one.entered("pms", entry(2, 1, State::Open)));
    }

    #[test]
    fn generations_that_begin_anew_are_later() {
        let mut one = One::default();
        assert!(one.entered("pms", entry(1, (1 << 26) - 1, State::Open)));
        assert!(one.entered("pms", entry(1, 0, State::HalfOpen)));
        assert!(!one.entered("pms", entry(1, (1 << 26) - 1, State::Open)));
    }

    #[test]
    fn keys_are_counted_right_whatever_order_their_changes_come_in() {
        let whole = [
            entry(1, 1, State::Open),
            entry(1, 2, State::HalfOpen),
            entry(1, 3, State::Closed),
            entry(2, 1, State::Open),
            entry(2, 2, State::HalfOpen),
        ];
        // Every order of all five.
        let mut order = [0, 1, 2, 3, 4];
        let mut orders = 0;
        permute(&mut order, 0, &mut |order| {
            let mut keys = Keys::default();
            for place in order {
                keys.entered(whole[*place]);
            }
            let mut expected = [0; super::STATES];
            expected[number(State::Closed)] = 1;
            expected[number(State::HalfOpen)] = 1;
            assert_eq!(keys.in_state(), expected, "{order:?}");
            assert_eq!(keys.state(CircuitId(1)), State::Closed);
            assert_eq!(keys.state(CircuitId(2)), State::HalfOpen);
            orders += 1;
        });
        assert_eq!(orders, 120);
    }

    fn permute(order: &mut [usize; 5], from: usize, act: &mut impl FnMut(&[usize; 5])) {
        if from == order.len() {
            act(order);
            return;
        }
        for place in from..order.len() {
            order.swap(from, place);
            permute(order, from + 1, act);
            order.swap(from, place);
        }
    }

    #[test]
    fn a_key_that_is_given_up_leaves_nothing() {
        let mut keys = Keys::default();
        keys.entered(entry(1, 1, State::Open));
        keys.entered(entry(1, 2, State::Closed));
        assert!(keys.gone(CircuitId(1)));
        assert!(!keys.gone(CircuitId(1)));
        assert_eq!(keys.in_state(), [0; super::STATES]);
        // The number is another key's now, whose generations begin anew.
        assert!(keys.entered(entry(1, 1, State::Open)));
        assert_eq!(keys.in_state()[number(State::Open)], 1);
    }
}
