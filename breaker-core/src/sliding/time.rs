//! A window of the last so much time, in buckets.
//!
//! A bucket's number is the clock's reading divided by the bucket's width, plus
//! an offset that takes up what the clock was set back and what nobody needs to
//! remember of a long gap; so the number of the newest bucket, in the head, only
//! grows, and never by more than the whole window at once.
//! ```text
//! head:   generation (low bits) 18 | turn 39 | place 7: of the newest bucket
//! bucket: turn (low bits) 10 | calls 18 | failures 18 | slow 18
//! ```
//! Its place is the number modulo the window's length, its turn what is left.
//! A fast success makes both rates smaller, so it trips only where it is the last
//! of `min_calls`, or where calls have fallen out of the window since the rates
//! were looked at. Beside the head therefore stands the newest bucket with which
//! enough calls were judged and did not trip: as long as it is the newest, a fast
//! success only counts in it, and no other bucket is looked at
//! ([`Window::count_at_once`]). What was judged by limits that an operator set at run time
//! doesn't count for that: when they are gone, the next call is judged by the declared ones.
//!
//! A bucket of another turn is as if empty. Who moves the head on empties the
//! buckets that it passes, so none keeps a turn's number until it comes again.
//! Buckets of another generation have numbers that the head has left behind.

use super::Late;
use crate::config::MAX_BUCKETS;
use crate::policy::sealed::Moment;
use crate::rate::{Counts, Judged, Limits, Sample};
use crate::state::Generation;
use crate::sync::{AtomicU64, Ordering, swap};
use core::num::NonZeroU64;

const PLACE_BITS: u32 = 7;
const NUMBER_BITS: u32 = 46;

const FIELD_BITS: u32 = 18;
const FIELD: u64 = (1 << FIELD_BITS) - 1;
const SLOW_SHIFT: u32 = 0;
const FAILURES_SHIFT: u32 = FIELD_BITS;
const CALLS_SHIFT: u32 = 2 * FIELD_BITS;
const TURN_SHIFT: u32 = 3 * FIELD_BITS;

/// Of no bucket: a number is less than this.
pub(super) const NO_BUCKET: u64 = u64::MAX;

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

const _: () = assert!(MAX_BUCKETS as u64 <= mask(PLACE_BITS) + 1);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Head(u64);

impl Head {
    fn new(generation: Generation, turn: u64, place: u64) -> Self {
        let number = (turn << PLACE_BITS | place) & mask(NUMBER_BITS);
        Self(u64::from(generation.0) << NUMBER_BITS | number)
    }

    #[inline]
    fn belongs_to(self, generation: Generation) -> bool {
        self.0 >> NUMBER_BITS == Self::new(generation, 0, 0).0 >> NUMBER_BITS
    }

    #[inline]
    fn turn(self) -> u64 {
        (self.0 & mask(NUMBER_BITS)) >> PLACE_BITS
    }

    #[inline]
    fn place(self) -> usize {
        (self.0 & mask(PLACE_BITS)) as usize
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Bucket(u64);

impl Bucket {
    fn empty(turn: u64) -> Self {
        Self(turn << TURN_SHIFT)
    }

    #[inline]
    fn is_of(self, turn: u64) -> bool {
        self.0 >> TURN_SHIFT == Self::empty(turn).0 >> TURN_SHIFT
    }

    #[inline]
    fn field(self, shift: u32) -> u64 {
        (self.0 >> shift) & FIELD
    }

    #[inline]
    fn is_full(self) -> bool {
        self.field(CALLS_SHIFT) == FIELD
    }

    fn with(self, sample: Sample) -> Self {
        let kept = |shift| {
            if self.is_full() {
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
    pub(super) judged: &'a AtomicU64,
    /// One for each bucket.
    pub(super) slots: &'a [AtomicU64],
    pub(super) len: NonZeroU64,
    /// Nanoseconds a bucket.
    pub(super) width: NonZeroU64,
}

impl Window<'_> {
    /// Counts a fast success that can't trip, where the newest bucket is this
    /// moment's and was judged. `false`: nothing was done.
    #[inline]
    pub(super) fn count_at_once(&self, generation: Generation, moment: &impl Moment) -> bool {
        let head = Head(self.head.load(Ordering::Acquire));
        let offset = self.offset.load(Ordering::Acquire);
        let number = self.number(head);
        // The clock last: it costs more than the rest.
        if !head.belongs_to(generation)
            || self.judged.load(Ordering::Acquire) != number
            || (moment.now() / self.width).wrapping_add(offset) != number
        {
            return false;
        }
        let Some(slot) = self.slot(head) else {
            return false;
        };
        let seen = Bucket(slot.load(Ordering::Acquire));
        seen.is_of(head.turn())
            && !seen.is_full()
            && swap(slot, seen.0, seen.0 + (1 << CALLS_SHIFT))
    }

    /// Counts a call, and judges what the window then holds.
    pub(super) fn count(
        &self,
        generation: Generation,
        sample: Sample,
        moment: &impl Moment,
        limits: &Limits,
    ) -> Result<Judged, Late> {
        let newest = self.move_on(generation, moment)?;
        self.put(generation, newest, sample)?;
        let (counts, newest) = self.sum(generation)?;
        let judged = limits.judge(counts);
        if counts.calls >= limits.min_calls || !moment.is_by_declared() {
            // An older number, by a thread that was held up, is no bucket's that
            // anyone would count in.
            let number = match judged.trigger {
                None if moment.is_by_declared() => self.number(newest),
                _ => NO_BUCKET,
            };
            self.judged.store(number, Ordering::Release);
        }
        Ok(judged)
    }

    /// What the window holds at this moment.
    #[cold]
    pub(super) fn counts(&self, generation: Generation, moment: &impl Moment) -> Counts {
        // Moved on as for a call: what has left the window is out.
        let newest = self.move_on(generation, moment);
        let sum = newest.and_then(|_| self.sum(generation));
        sum.map_or(Counts::default(), |(counts, _)| counts)
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
        self.swap_head(seen, generation, self.len());
    }

    #[inline]
    fn len(&self) -> u64 {
        self.len.get()
    }

    #[inline]
    fn number(&self, head: Head) -> u64 {
        head.turn() * self.len() + head.place() as u64
    }

    #[inline]
    fn slot(&self, head: Head) -> Option<&AtomicU64> {
        // A head is only made with a place below the length.
        self.slots.get(head.place())
    }

    /// The head when the bucket of that number is the newest.
    fn head_at(&self, generation: Generation, number: u64) -> Head {
        Head::new(generation, number / self.len, number % self.len)
    }

    /// Moves the head to the bucket of this moment.
    #[inline]
    fn move_on(&self, generation: Generation, moment: &impl Moment) -> Result<Head, Late> {
        loop {
            let seen = Head(self.head.load(Ordering::Acquire));
            let newest = self.number(seen);
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
                return Ok(seen);
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
            self.swap_head(seen, generation, ahead.unsigned_abs());
        }
    }

    /// Moves the head on by so many buckets, a whole window at most, and empties
    /// what it passes.
    fn swap_head(&self, seen: Head, generation: Generation, ahead: u64) {
        let newest = self.number(seen);
        let next = self.head_at(generation, newest + ahead);
        if !swap(self.head, seen.0, next.0) {
            return;
        }
        for number in newest + 1..=newest + ahead {
            let passed = self.head_at(generation, number);
            let Some(slot) = self.slot(passed) else {
                return;
            };
            let held = Bucket(slot.load(Ordering::Acquire));
            if !held.is_of(passed.turn()) {
                // If it fails, another thread has begun to fill it.
                let _ = swap(slot, held.0, Bucket::empty(passed.turn()).0);
            }
        }
    }

    /// Puts a call into the bucket that was the newest.
    fn put(&self, generation: Generation, newest: Head, sample: Sample) -> Result<(), Late> {
        let Some(slot) = self.slot(newest) else {
            return Ok(());
        };
        loop {
            let seen = Bucket(slot.load(Ordering::Acquire));
            let present = if seen.is_of(newest.turn()) {
                seen
            } else {
                let head = Head(self.head.load(Ordering::Acquire));
                if !head.belongs_to(generation) {
                    return Err(Late);
                }
                if self.number(head).wrapping_sub(self.number(newest)) >= self.len() {
                    // Held up for so long that the bucket is out again.
                    return Ok(());
                }
                Bucket::empty(newest.turn())
            };
            if swap(slot, seen.0, present.with(sample).0) {
                return Ok(());
            }
        }
    }

    /// What the window holds, and its newest bucket.
    #[inline]
    fn sum(&self, generation: Generation) -> Result<(Counts, Head), Late> {
        loop {
            let head = Head(self.head.load(Ordering::Acquire));
            if !head.belongs_to(generation) {
                return Err(Late);
            }
            let turn = head.turn();
            let mut counts = Counts::default();
            let mut add = |slots: &[AtomicU64], turn| {
                for slot in slots {
                    let bucket = Bucket(slot.load(Ordering::Acquire));
                    if bucket.is_of(turn) {
                        // 18 bits each, of 128 buckets at most.
                        counts.calls += bucket.field(CALLS_SHIFT) as u32;
                        counts.failures += bucket.field(FAILURES_SHIFT) as u32;
                        counts.slow += bucket.field(SLOW_SHIFT) as u32;
                    }
                }
            };
            // The newest last: the others no longer change.
            let halves = self.slots.split_at_checked(head.place() + 1);
            let (upto, after) = halves.unwrap_or((self.slots, &[]));
            add(after, turn.wrapping_sub(1));
            add(upto, turn);
            // Else the oldest may have been emptied while it was added up.
            if self.head.load(Ordering::Acquire) == head.0 {
                return Ok((counts, head));
            }
        }
    }
}
