//! A window of the last so much time, in buckets.
//!
//! A bucket's number is the clock's reading divided by the bucket's width, plus
//! an offset that takes up what the clock was set back and what nobody needs to
//! remember of a long gap; so the number of the newest bucket, in the head, only
//! grows, and never by more than the whole window at once.
//! ```text
//! head:   generation (low bits) 18 | number of the newest bucket 46
//! bucket: turn of the window (low bits) 10 | calls 18 | failures 18 | slow 18
//! ```
//! A bucket of another turn is as if empty. Who moves the head on empties the
//! buckets that it passes, so none keeps a turn's number until it comes again.
//! Buckets of another generation have numbers that the head has left behind.

use super::Late;
use crate::policy::sealed::Moment;
use crate::rate::{Counts, Sample};
use crate::state::Generation;
use crate::sync::{AtomicU64, Ordering, swap};

const NUMBER_BITS: u32 = 46;
const NUMBER: u64 = (1 << NUMBER_BITS) - 1;

const FIELD_BITS: u32 = 18;
const FIELD: u64 = (1 << FIELD_BITS) - 1;
const SLOW_SHIFT: u32 = 0;
const FAILURES_SHIFT: u32 = FIELD_BITS;
const CALLS_SHIFT: u32 = 2 * FIELD_BITS;
const TURN_SHIFT: u32 = 3 * FIELD_BITS;

#[derive(Clone, Copy, PartialEq, Eq)]
struct Head(u64);

impl Head {
    fn new(generation: Generation, number: u64) -> Self {
        Self(u64::from(generation.0) << NUMBER_BITS | number & NUMBER)
    }

    fn belongs_to(self, generation: Generation) -> bool {
        self.0 >> NUMBER_BITS == Self::new(generation, 0).0 >> NUMBER_BITS
    }

    fn number(self) -> u64 {
        self.0 & NUMBER
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Bucket(u64);

impl Bucket {
    fn empty(turn: u64) -> Self {
        Self(turn << TURN_SHIFT)
    }

    fn is_of(self, turn: u64) -> bool {
        self.0 >> TURN_SHIFT == Self::empty(turn).0 >> TURN_SHIFT
    }

    fn field(self, shift: u32) -> u64 {
        (self.0 >> shift) & FIELD
    }

    fn with(self, sample: Sample) -> Self {
        let full = self.field(CALLS_SHIFT) == FIELD;
        let kept = |shift| {
            if full {
                self.field(shift) / 2
            } else {
                self.field(shift)
            }
        };
        let calls = kept(CALLS_SHIFT) + 1;
        let failures = kept(FAILURES_SHIFT) + u64::from(sample.failed);
        let slow = kept(SLOW_SHIFT) + u64::from(sample.slow);
        let turn = self.0 >> TURN_SHIFT << TURN_SHIFT;
        Self(turn | calls << CALLS_SHIFT | failures << FAILURES_SHIFT | slow << SLOW_SHIFT)
    }
}

pub(super) struct Window<'a> {
    pub(super) head: &'a AtomicU64,
    pub(super) offset: &'a AtomicU64,
    /// One for each bucket.
    pub(super) slots: &'a [AtomicU64],
    /// Nanoseconds a bucket.
    pub(super) width: u64,
}

impl Window<'_> {
    /// Counts a call.
    pub(super) fn count(
        &self,
        generation: Generation,
        sample: Sample,
        moment: &impl Moment,
    ) -> Result<Counts, Late> {
        let number = self.move_on(generation, moment)?;
        self.put(generation, number, sample)?;
        self.sum(generation)
    }

    /// The breaker entered a state of `generation`. Done at every entry, so that
    /// the head never keeps a generation until its low bits come again.
    pub(super) fn enter(&self, generation: Generation, moment: &impl Moment) {
        loop {
            let seen = Head(self.head.load(Ordering::Acquire));
            if seen.belongs_to(generation) || !moment.is_current() {
                return;
            }
            self.forget(seen, generation);
        }
    }

    /// A whole window on: what another generation counted is out.
    fn forget(&self, seen: Head, generation: Generation) {
        self.swap_head(seen, Head::new(generation, seen.number() + self.len()));
    }

    fn len(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Moves the head to the bucket of this moment, and gives its number.
    fn move_on(&self, generation: Generation, moment: &impl Moment) -> Result<u64, Late> {
        loop {
            let seen = Head(self.head.load(Ordering::Acquire));
            let newest = seen.number();
            if !seen.belongs_to(generation) {
                if !moment.is_current() {
                    return Err(Late);
                }
                self.forget(seen, generation);
                continue;
            }
            let offset = self.offset.load(Ordering::Acquire);
            // Read after the two: so it is older than neither, unless the clock
            // was set back.
            let reading = moment.now() / self.width;
            let ahead = reading
                .wrapping_add(offset)
                .wrapping_sub(newest)
                .cast_signed();
            if ahead == 0 {
                return Ok(newest);
            }
            if ahead < 0 || ahead.unsigned_abs() > self.len() {
                // Set back: the newest bucket becomes the one of this reading.
                // Far ahead: everything is out, which a whole window does too.
                let number = if ahead < 0 {
                    newest
                } else {
                    newest + self.len()
                };
                let _ = swap(self.offset, offset, number.wrapping_sub(reading));
                continue;
            }
            self.swap_head(seen, Head::new(generation, newest + ahead.unsigned_abs()));
        }
    }

    /// Moves the head, by a whole window at most, and empties what it passes.
    fn swap_head(&self, seen: Head, next: Head) {
        if !swap(self.head, seen.0, next.0) {
            return;
        }
        for number in seen.number() + 1..=next.number() {
            let (slot, turn) = self.slot(number);
            let held = Bucket(slot.load(Ordering::Acquire));
            if !held.is_of(turn) {
                // If it fails, another thread has begun to fill it.
                let _ = swap(slot, held.0, Bucket::empty(turn).0);
            }
        }
    }

    fn slot(&self, number: u64) -> (&AtomicU64, u64) {
        let place = (number % self.len()) as usize;
        (&self.slots[place], number / self.len())
    }

    fn put(&self, generation: Generation, number: u64, sample: Sample) -> Result<(), Late> {
        let (slot, turn) = self.slot(number);
        loop {
            let seen = Bucket(slot.load(Ordering::Acquire));
            let present = if seen.is_of(turn) {
                seen
            } else {
                let head = Head(self.head.load(Ordering::Acquire));
                if !head.belongs_to(generation) {
                    return Err(Late);
                }
                if head.number().wrapping_sub(number) >= self.len() {
                    // Held up for so long that the bucket is out again.
                    return Ok(());
                }
                Bucket::empty(turn)
            };
            if swap(slot, seen.0, present.with(sample).0) {
                return Ok(());
            }
        }
    }

    fn sum(&self, generation: Generation) -> Result<Counts, Late> {
        loop {
            let head = Head(self.head.load(Ordering::Acquire));
            if !head.belongs_to(generation) {
                return Err(Late);
            }
            let newest = head.number();
            let mut counts = Counts::default();
            // The newest last: the others no longer change.
            for number in newest.saturating_sub(self.len() - 1)..=newest {
                let (slot, turn) = self.slot(number);
                let bucket = Bucket(slot.load(Ordering::Acquire));
                if bucket.is_of(turn) {
                    // 18 bits each, of 128 buckets at most.
                    counts.calls += bucket.field(CALLS_SHIFT) as u32;
                    counts.failures += bucket.field(FAILURES_SHIFT) as u32;
                    counts.slow += bucket.field(SLOW_SHIFT) as u32;
                }
            }
            // Else the oldest may have been emptied while it was added up.
            if self.head.load(Ordering::Acquire) == head.0 {
                return Ok(counts);
            }
        }
    }
}
