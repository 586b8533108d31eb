//! What brought a breaker's present state about: one word beside its circuit.
//!
//! ```text
//! bit 63 62            36 35     32 31  29 28 26 25                  0
//!     +-+----------------+---------+------+-----+---------------------+
//!     |1| failures, 27   | trigger | from | to  | generation, 26      |
//!     +-+----------------+---------+------+-----+---------------------+
//! ```
//! It is written where observers are told of a change, whether there are any or not, so no call
//! pays for it that changes no state. One word can't be torn, and a reader takes it only where its
//! generation is the present one: so it orders nothing, and each access may be relaxed.

use crate::observe::Entering;
use breaker_core::{Change, Generation, State, Trigger};
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

/// What brought the present state about, and how long ago: see
/// [`AnyBreaker::last_change`](crate::AnyBreaker::last_change).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastChange {
    /// The state that was left.
    pub from: State,
    /// The state that was entered, in which it is.
    pub to: State,
    /// The generation that began with it.
    pub generation: Generation,
    /// What brought it about.
    pub trigger: Trigger,
    /// Failures that led here, as [`Change::failures`].
    pub failures: u32,
    /// How long ago, as exactly as the breaker's clock has it: see
    /// [`SystemClock`](crate::SystemClock). While half-open: how long ago its last probe was
    /// admitted.
    pub ago: Duration,
}

/// As the line of a log has it: "opened after 5 failures". (For how long is no longer known.)
impl fmt::Display for LastChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entering = Entering {
            from: self.from,
            to: self.to,
            trigger: self.trigger,
            failures: self.failures,
            wait: None,
        };
        entering.fmt(f)
    }
}

const GENERATION: Field = Field::after(0, 26);
const TO: Field = Field::after(GENERATION.end(), 3);
const FROM: Field = Field::after(TO.end(), 3);
const TRIGGER: Field = Field::after(FROM.end(), 4);
const FAILURES: Field = Field::after(TRIGGER.end(), 27);
const IS_NOTED: u64 = 1 << FAILURES.end();

/// Some bits of the word.
#[derive(Clone, Copy)]
struct Field {
    shift: u32,
    bits: u32,
}

impl Field {
    const fn after(shift: u32, bits: u32) -> Self {
        Self { shift, bits }
    }

    const fn end(self) -> u32 {
        self.shift + self.bits
    }

    const fn most(self) -> u64 {
        (1 << self.bits) - 1
    }

    fn put(self, value: u64) -> u64 {
        value.min(self.most()) << self.shift
    }

    const fn get(self, word: u64) -> u64 {
        (word >> self.shift) & self.most()
    }
}

/// The last change of one circuit.
#[derive(Debug)]
pub struct Noted(AtomicU64);

impl Noted {
    /// As it was made.
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Two threads may come with their changes in either order: the later change stays.
    pub(crate) fn note(&self, change: &Change) {
        let Some(word) = word(change) else { return };
        let is_later = |seen: u64| seen == 0 || change.generation.is_after(generation(seen));
        let update = |seen| is_later(seen).then_some(word);
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, update);
    }

    /// What brought a generation about; `None` where that is not what was noted last.
    pub(crate) fn of(&self, (present, ago): (Generation, Duration)) -> Option<LastChange> {
        let word = self.0.load(Ordering::Relaxed);
        if word & IS_NOTED == 0 || generation(word) != present {
            return None;
        }
        Some(LastChange {
            from: state(FROM.get(word))?,
            to: state(TO.get(word))?,
            generation: present,
            trigger: Trigger::ALL.get(index(TRIGGER.get(word))).copied()?,
            failures: FAILURES.get(word).try_into().unwrap_or(u32::MAX),
            ago,
        })
    }
}

fn word(change: &Change) -> Option<u64> {
    let place = |state: State| State::ALL.iter().position(|it| *it == state);
    let trigger = Trigger::ALL.iter().position(|it| *it == change.trigger)?;
    Some(
        IS_NOTED
            | FAILURES.put(change.failures.into())
            | TRIGGER.put(trigger as u64)
            | FROM.put(place(change.from)? as u64)
            | TO.put(place(change.to)? as u64)
            | GENERATION.put(change.generation.get().into()),
    )
}

fn generation(word: u64) -> Generation {
    Generation::from_number(GENERATION.get(word).try_into().unwrap_or(u32::MAX))
}

fn state(number: u64) -> Option<State> {
    State::ALL.get(index(number)).copied()
}

fn index(number: u64) -> usize {
    number.try_into().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(generation: u32, trigger: Trigger, failures: u32) -> Change {
        let breaker = crate::Breaker::new("pms", breaker_core::Config::DEFAULT);
        let mut change = breaker.force_open();
        change.generation = Generation::from_number(generation);
        change.trigger = trigger;
        change.failures = failures;
        change
    }

    #[test]
    fn every_change_is_given_as_it_was_noted() {
        let ago = Duration::from_secs(1);
        for (from, to) in State::ALL
            .iter()
            .flat_map(|from| State::ALL.map(|to| (*from, to)))
        {
            for trigger in Trigger::ALL {
                for (generation, failures) in [(0, 0), (67_108_863, (1 << 27) - 1), (5, 1)] {
                    let mut change = change(generation, trigger, failures);
                    (change.from, change.to) = (from, to);
                    let noted = Noted::new();
                    noted.note(&change);
                    let given = noted.of((change.generation, ago)).unwrap();
                    assert_eq!((given.from, given.to), (from, to));
                    assert_eq!((given.trigger, given.failures), (trigger, failures));
                    assert_eq!((given.generation, given.ago), (change.generation, ago));
                }
            }
        }
    }

    #[test]
    fn the_later_change_stays_also_where_the_numbers_begin_anew() {
        for (earlier, later) in [(0, 1), (7, 8), (67_108_863, 0), (67_108_860, 3)] {
            for order in [[earlier, later], [later, earlier]] {
                let noted = Noted::new();
                for number in order {
                    noted.note(&change(number, Trigger::Operator, 0));
                }
                let of = |number| noted.of((Generation::from_number(number), Duration::ZERO));
                assert_eq!(of(later).map(|it| it.generation.get()), Some(later));
                assert_eq!(of(earlier), None, "nobody takes it for the present one");
            }
        }
    }

    #[test]
    fn more_failures_than_are_kept_are_the_most_that_are() {
        let noted = Noted::new();
        let change = change(1, Trigger::Failures, u32::MAX);
        noted.note(&change);
        let given = noted.of((change.generation, Duration::ZERO)).unwrap();
        assert_eq!(
            (given.failures, given.trigger),
            ((1 << 27) - 1, Trigger::Failures)
        );
        assert_eq!((given.from, given.to), (State::Closed, State::ForcedOpen));
    }
}
