//! A window of the last so many calls.
//!
//! The head is one word, changed by compare-and-swap:
//! ```text
//! generation (low bits) 15 | lapped 1 | position 12 | calls 12 | failures 12 | slow 12
//! ```
//! A slot holds the outcomes of 19 calls, 2 bits each (failed, slow), and the
//! generation that wrote them; what another generation wrote is as if empty, so
//! nothing has to be cleared when the breaker closes.
//!
//! A call claims its position, exchanges what stands there, and adds the
//! difference to the counts. The counts so are always the sum of what was
//! exchanged: whatever the order, no call is counted twice. A success over a
//! success makes no difference, and stops after the claim.

use super::Late;
use crate::policy::sealed::Moment;
use crate::rate::{Counts, SAMPLES_PER_SLOT, Sample};
use crate::state::Generation;
use crate::sync::{AtomicU64, Ordering, swap};

const FIELD_BITS: u32 = 12;
const FIELD: u64 = (1 << FIELD_BITS) - 1;
const SLOW_SHIFT: u32 = 0;
const FAILURES_SHIFT: u32 = FIELD_BITS;
const CALLS_SHIFT: u32 = 2 * FIELD_BITS;
const POSITION_SHIFT: u32 = 3 * FIELD_BITS;
const LAPPED: u64 = 1 << (4 * FIELD_BITS);
const TAG_SHIFT: u32 = 4 * FIELD_BITS + 1;

const SAMPLE_BITS: u32 = 2;
const SAMPLE: u64 = (1 << SAMPLE_BITS) - 1;
const SLOT_TAG_SHIFT: u32 = SAMPLE_BITS * SAMPLES_PER_SLOT;

#[derive(Clone, Copy, PartialEq, Eq)]
struct Head(u64);

impl Head {
    const fn empty(generation: Generation) -> Self {
        Self((generation.0 as u64) << TAG_SHIFT)
    }

    fn belongs_to(self, generation: Generation) -> bool {
        self.0 >> TAG_SHIFT == Self::empty(generation).0 >> TAG_SHIFT
    }

    fn field(self, shift: u32) -> u32 {
        // 12 bits.
        ((self.0 >> shift) & FIELD) as u32
    }

    fn with(self, shift: u32, value: u32) -> Self {
        Self(self.0 & !(FIELD << shift) | (u64::from(value) & FIELD) << shift)
    }

    /// The position of the next call, and whether it has held one before.
    fn claim(self, size: u32) -> (u32, bool, Self) {
        let position = self.field(POSITION_SHIFT);
        let lapped = self.0 & LAPPED != 0;
        let next = if position + 1 < size {
            self.with(POSITION_SHIFT, position + 1)
        } else {
            Self(self.with(POSITION_SHIFT, 0).0 | LAPPED)
        };
        (position, lapped, next)
    }

    /// The head after a position held `old` and now holds `new`.
    fn exchanged(self, lapped: bool, old: u64, new: u64) -> Self {
        let change = |shift, bit: u64| {
            let count = self.field(shift) + u32::from(new & bit != 0);
            count.saturating_sub(u32::from(old & bit != 0))
        };
        self.with(CALLS_SHIFT, self.field(CALLS_SHIFT) + u32::from(!lapped))
            .with(FAILURES_SHIFT, change(FAILURES_SHIFT, FAILED))
            .with(SLOW_SHIFT, change(SLOW_SHIFT, SLOW))
    }

    fn counts(self) -> Counts {
        Counts {
            calls: self.field(CALLS_SHIFT),
            failures: self.field(FAILURES_SHIFT),
            slow: self.field(SLOW_SHIFT),
        }
    }
}

const FAILED: u64 = 0b01;
const SLOW: u64 = 0b10;

fn bits(sample: Sample) -> u64 {
    (u64::from(sample.failed) * FAILED) | (u64::from(sample.slow) * SLOW)
}

pub(super) struct Window<'a> {
    pub(super) head: &'a AtomicU64,
    pub(super) slots: &'a [AtomicU64],
    pub(super) size: u32,
}

impl Window<'_> {
    /// Counts a call. `None`: the window holds what it held before.
    pub(super) fn count(
        &self,
        generation: Generation,
        sample: Sample,
        moment: &impl Moment,
    ) -> Result<Option<Counts>, Late> {
        let (position, lapped) = self.claim(generation, moment)?;
        let new = bits(sample);
        let old = self.exchange(generation, position, new, moment)?;
        if lapped && old == new {
            return Ok(None);
        }
        self.add(generation, lapped, old, new).map(Some)
    }

    fn claim(&self, generation: Generation, moment: &impl Moment) -> Result<(u32, bool), Late> {
        loop {
            let seen = Head(self.head.load(Ordering::Acquire));
            let present = if seen.belongs_to(generation) {
                seen
            } else if moment.is_current() {
                Head::empty(generation)
            } else {
                return Err(Late);
            };
            let (position, lapped, next) = present.claim(self.size);
            if swap(self.head, seen.0, next.0) {
                return Ok((position, lapped));
            }
        }
    }

    /// Puts `new` at a position, and gives what this generation had there.
    fn exchange(
        &self,
        generation: Generation,
        position: u32,
        new: u64,
        moment: &impl Moment,
    ) -> Result<u64, Late> {
        let shift = SAMPLE_BITS * (position % SAMPLES_PER_SLOT);
        let Some(slot) = self.slots.get((position / SAMPLES_PER_SLOT) as usize) else {
            // The constructor saw to it that there are enough.
            return Err(Late);
        };
        let tag = u64::from(generation.0) << SLOT_TAG_SHIFT;
        loop {
            let seen = slot.load(Ordering::Acquire);
            let present = if seen >> SLOT_TAG_SHIFT == tag >> SLOT_TAG_SHIFT {
                seen
            } else {
                tag
            };
            let old = (present >> shift) & SAMPLE;
            if old == new {
                return Ok(old);
            }
            if present != seen && !moment.is_current() {
                return Err(Late);
            }
            let next = present & !(SAMPLE << shift) | new << shift;
            if swap(slot, seen, next) {
                return Ok(old);
            }
        }
    }

    fn add(
        &self,
        generation: Generation,
        lapped: bool,
        old: u64,
        new: u64,
    ) -> Result<Counts, Late> {
        loop {
            let seen = Head(self.head.load(Ordering::Acquire));
            if !seen.belongs_to(generation) {
                return Err(Late);
            }
            let next = seen.exchanged(lapped, old, new);
            if swap(self.head, seen.0, next.0) {
                return Ok(next.counts());
            }
        }
    }
}
