//! A window of the last so many calls.
//!
//! The head is one word, and a call is counted by one compare-and-swap of it:
//! ```text
//! generation (low bits) 12 | turn 13 | position 12 | failures 12 | slow 12 | pending 1 | newest 2
//! ```
//! So the window is exactly the last calls, in the order of these swaps, and
//! the counts are theirs. What can't be swapped with it is the place that the
//! newest call takes; the head carries that call's outcome along, and whoever
//! counts the next one puts it there first, where it is pending: where the place
//! may still hold another outcome.
//!
//! In a window of nothing but fast successes a further one only moves the
//! position on, and no slot is looked at ([`Window::count_at_once`]).
//!
//! A slot holds the outcomes of 14 calls, 2 bits each (failed, slow):
//! ```text
//! generation (low bits) 20 | changes 16 | outcomes 28
//! ```
//! What another generation wrote is as if empty, so nothing has to be cleared
//! when the breaker closes. Turn and changes tell a word from one that looks
//! the same a whole turn later. A success in the place of a success writes
//! nothing but the head.

use super::Late;
use crate::policy::sealed::Moment;
use crate::rate::{Counts, Judged, Limits, SAMPLES_PER_SLOT, Sample};
use crate::state::Generation;
use crate::sync::{AtomicU64, Ordering, swap, try_swap};

const OUTCOME_BITS: u32 = 2;
const OUTCOME: u64 = mask(OUTCOME_BITS);
const FAILED: u64 = 0b01;
const SLOW: u64 = 0b10;

const COUNT_BITS: u32 = 12;
const TURN_BITS: u32 = 13;
const PENDING: u64 = 1 << OUTCOME_BITS;
const SLOW_SHIFT: u32 = OUTCOME_BITS + 1;
const FAILURES_SHIFT: u32 = SLOW_SHIFT + COUNT_BITS;
const POSITION_SHIFT: u32 = FAILURES_SHIFT + COUNT_BITS;
const TURN_SHIFT: u32 = POSITION_SHIFT + COUNT_BITS;
const TAG_SHIFT: u32 = TURN_SHIFT + TURN_BITS;

/// What is left of a head without turn and position: of a window of nothing but
/// fast successes, only the generation.
const PURE: u64 = !(mask(COUNT_BITS + TURN_BITS) << POSITION_SHIFT);

const CHANGE_BITS: u32 = 16;
const CHANGE_SHIFT: u32 = OUTCOME_BITS * SAMPLES_PER_SLOT;
const SLOT_TAG_SHIFT: u32 = CHANGE_SHIFT + CHANGE_BITS;

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

fn tag_of(generation: Generation) -> u64 {
    u64::from(generation.0) & mask(u64::BITS - TAG_SHIFT)
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Head {
    tag: u64,
    /// 0 in the first turn, in which each place is taken for the first time.
    turn: u64,
    /// Where the next call goes.
    position: u32,
    failures: u32,
    slow: u32,
    /// The place of the call before may not hold its outcome yet.
    pending: bool,
    /// The outcome of the call before.
    newest: u64,
}

impl Head {
    /// Pending: the places may hold what was written by a generation of which a
    /// slot can't tell this one. (Those of a new window are empty, and its head
    /// is 0.)
    const fn empty(tag: u64) -> Self {
        Self {
            tag,
            turn: 0,
            position: 0,
            failures: 0,
            slow: 0,
            pending: true,
            newest: 0,
        }
    }

    const fn from_raw(raw: u64) -> Self {
        Self {
            tag: raw >> TAG_SHIFT,
            turn: (raw >> TURN_SHIFT) & mask(TURN_BITS),
            position: ((raw >> POSITION_SHIFT) & mask(COUNT_BITS)) as u32,
            failures: ((raw >> FAILURES_SHIFT) & mask(COUNT_BITS)) as u32,
            slow: ((raw >> SLOW_SHIFT) & mask(COUNT_BITS)) as u32,
            pending: raw & PENDING != 0,
            newest: raw & OUTCOME,
        }
    }

    fn raw(self) -> u64 {
        self.tag << TAG_SHIFT
            | self.turn << TURN_SHIFT
            | u64::from(self.position) << POSITION_SHIFT
            | u64::from(self.failures) << FAILURES_SHIFT
            | u64::from(self.slow) << SLOW_SHIFT
            | (u64::from(self.pending) * PENDING)
            | self.newest
    }

    /// The place of the newest call, where it doesn't hold its outcome yet.
    fn pending_place(self, size: u32) -> Option<u32> {
        let place = self.position.checked_sub(1).unwrap_or(size - 1);
        self.pending.then_some(place)
    }

    /// The head after a call whose place held `old`.
    fn count(self, size: u32, old: u64, new: u64) -> Self {
        let change = |count: u32, bit| {
            (count + u32::from(new & bit != 0)).saturating_sub(u32::from(old & bit != 0))
        };
        let (position, turn) = if self.position + 1 < size {
            (self.position + 1, self.turn)
        } else {
            // The first turn doesn't come again.
            (
                0,
                if self.turn == mask(TURN_BITS) {
                    1
                } else {
                    self.turn + 1
                },
            )
        };
        Self {
            tag: self.tag,
            turn,
            position,
            failures: change(self.failures, FAILED),
            slow: change(self.slow, SLOW),
            // In the first turn nobody looked what the place holds.
            pending: self.turn == 0 || old != new,
            newest: new,
        }
    }

    #[inline]
    fn counts(self, size: u32) -> Counts {
        let calls = if self.turn == 0 { self.position } else { size };
        Counts {
            calls,
            failures: self.failures,
            slow: self.slow,
        }
    }
}

/// One slot as a generation sees it.
#[derive(Clone, Copy)]
struct Slot(u64);

impl Slot {
    fn seen_by(raw: u64, generation: Generation) -> Self {
        let tag = u64::from(generation.0) << SLOT_TAG_SHIFT;
        let outcomes = if raw >> SLOT_TAG_SHIFT == tag >> SLOT_TAG_SHIFT {
            raw & mask(CHANGE_SHIFT)
        } else {
            0
        };
        // The changes go on, so that no word comes again soon.
        Self(tag | raw & mask(CHANGE_BITS) << CHANGE_SHIFT | outcomes)
    }

    fn outcome(self, place: u32) -> u64 {
        (self.0 >> (OUTCOME_BITS * (place % SAMPLES_PER_SLOT))) & OUTCOME
    }

    fn with(self, place: u32, outcome: u64) -> u64 {
        let shift = OUTCOME_BITS * (place % SAMPLES_PER_SLOT);
        let changes = (self.0 >> CHANGE_SHIFT).wrapping_add(1) & mask(CHANGE_BITS);
        let kept = self.0 & !(mask(CHANGE_BITS) << CHANGE_SHIFT) & !(OUTCOME << shift);
        kept | changes << CHANGE_SHIFT | outcome << shift
    }
}

pub(super) struct Window<'a> {
    pub(super) head: &'a AtomicU64,
    pub(super) slots: &'a [AtomicU64],
    pub(super) size: u32,
}

impl Window<'_> {
    /// Counts a fast success among nothing else, which can't trip, unless a turn
    /// ends. `false`: nothing was done.
    #[inline]
    pub(super) fn count_at_once(&self, generation: Generation) -> bool {
        let mut seen = self.head.load(Ordering::Acquire);
        loop {
            let position = (seen >> POSITION_SHIFT) & mask(COUNT_BITS);
            if seen & PURE != tag_of(generation) << TAG_SHIFT
                || position + 1 >= u64::from(self.size)
            {
                return false;
            }
            match try_swap(self.head, seen, seen + (1 << POSITION_SHIFT)) {
                Ok(_) => return true,
                Err(present) => seen = present,
            }
        }
    }

    /// Counts a call, and judges what the window then holds.
    #[inline]
    pub(super) fn count(
        &self,
        generation: Generation,
        sample: Sample,
        moment: &impl Moment,
        limits: &Limits,
    ) -> Result<Judged, Late> {
        let tag = tag_of(generation);
        let new = u64::from(sample.failed) * FAILED + u64::from(sample.slow) * SLOW;
        loop {
            let seen = self.head.load(Ordering::Acquire);
            let mut head = Head::from_raw(seen);
            if head.tag != tag {
                if !moment.is_current() {
                    return Err(Late);
                }
                head = Head::empty(tag);
            } else if let Some(place) = head.pending_place(self.size) {
                self.put(generation, place, head.newest, seen);
            }
            let old = if head.turn == 0 {
                0
            } else {
                self.outcome(generation, head.position)
            };
            let next = head.count(self.size, old, new);
            if swap(self.head, seen, next.raw()) {
                return Ok(limits.judge(next.counts(self.size)));
            }
        }
    }

    /// What the window holds.
    #[cold]
    pub(super) fn counts(&self, generation: Generation) -> Counts {
        let head = Head::from_raw(self.head.load(Ordering::Acquire));
        if head.tag == tag_of(generation) {
            head.counts(self.size)
        } else {
            Counts::default() // nothing was counted in it yet
        }
    }

    /// The breaker entered a state of `generation`. Done at every entry, so that
    /// the head never keeps a generation until its low bits come again.
    pub(super) fn enter(&self, generation: Generation, moment: &impl Moment) {
        let tag = tag_of(generation);
        loop {
            let seen = self.head.load(Ordering::Acquire);
            if Head::from_raw(seen).tag == tag || !moment.is_current() {
                return;
            }
            if swap(self.head, seen, Head::empty(tag).raw()) {
                return;
            }
        }
    }

    #[inline]
    fn slot(&self, place: u32) -> Option<&AtomicU64> {
        // The constructor saw to it that there are enough.
        self.slots.get((place / SAMPLES_PER_SLOT) as usize)
    }

    #[inline]
    fn outcome(&self, generation: Generation, place: u32) -> u64 {
        self.slot(place).map_or(0, |slot| {
            let seen = slot.load(Ordering::Acquire);
            Slot::seen_by(seen, generation).outcome(place)
        })
    }

    /// Puts the newest call's outcome into its place, as long as the head is
    /// still `head`: else another thread has seen to it.
    #[inline]
    fn put(&self, generation: Generation, place: u32, outcome: u64, head: u64) {
        let Some(slot) = self.slot(place) else {
            return;
        };
        loop {
            let seen = slot.load(Ordering::Acquire);
            let held = Slot::seen_by(seen, generation);
            if held.outcome(place) == outcome || self.head.load(Ordering::Acquire) != head {
                return;
            }
            if swap(slot, seen, held.with(place, outcome)) {
                return;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Else positions would run over into the turn, and turns into the
    /// generation.
    #[test]
    fn a_success_at_once_ends_no_turn() {
        let (generation, size) = (Generation(5), 3);
        let at = |position| Head {
            turn: mask(TURN_BITS),
            position,
            pending: false,
            ..Head::empty(tag_of(generation))
        };
        let head = AtomicU64::new(at(1).raw());
        let slots = &[];
        let window = Window {
            head: &head,
            slots,
            size,
        };
        assert!(window.count_at_once(generation));
        assert_eq!(head.load(Ordering::Relaxed), at(2).raw());
        assert!(!window.count_at_once(generation));
        assert_eq!(head.load(Ordering::Relaxed), at(2).raw());
        let next = at(2).count(size, 0, 0);
        assert_eq!((next.turn, next.position), (1, 0));
    }
}
