//! Words that lie over others at run time, read without waiting.
//!
//! One word says which hold:
//! ```text
//! count 48 | cancelled 1 | writing 1 | mask 14: which settings are overridden
//! ```
//! There are two banks of words, and the count's lowest bit says which of them holds. A writer
//! fills the other one, then publishes it with the next count; so what a reader reads stays as
//! it is until the *second* writer after it was published begins, and by then the count is
//! another:
//! 1. A writer claims the word first: there is one at a time ([`Overlay::write`]).
//! 2. It fills the bank that doesn't hold (`Version::spare`).
//! 3. A reader looks at the count again after the words ([`Overlay::read`]), which are stored
//!    with release and loaded with acquire: who has seen a word of a later writer sees the count
//!    that this writer began with.
//! 4. [`Overlay::clear`] waits for nobody: it takes the mask away at once, and a writer that is
//!    under way finds that it was cancelled, and publishes nothing.
//!
//! Why each access has its order; a model in `tests/loom/overlay.rs` fails without it:
//!
//! | access | order | why |
//! | --- | --- | --- |
//! | the words are stored | release | who has seen one knows that its writer had claimed: rule 3 |
//! | the words are loaded | acquire | the same, from the reader's side |
//! | the version is loaded | acquire | who sees a count sees the words that were published with it |
//! | the version is swapped | release | publishing: the words come before the count |
//!
//! That a swap acquires as well is for those who use [`swap`] elsewhere: here each follows an acquiring
//! load of what it finds. A count comes again after 2^48 writers; a reader would have to be held up
//! between its two looks for all of them.

#![allow(
    unreachable_pub,
    missing_docs,
    missing_debug_implementations,
    reason = "public only to loom's models, which look at it by itself"
)]

use crate::sync::{AtomicU64, Ordering, swap};

const MASK_BITS: u32 = 14;
const MASK: u64 = (1 << MASK_BITS) - 1;
const WRITING: u64 = 1 << MASK_BITS;
const CANCELLED: u64 = 1 << (MASK_BITS + 1);
const ONE: u64 = 1 << (MASK_BITS + 2);

/// See the head of this file.
pub struct Overlay<const WORDS: usize> {
    version: AtomicU64,
    banks: [[AtomicU64; WORDS]; 2],
}

/// What lies over: which settings are overridden, and the words that say what then holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Laid<const WORDS: usize> {
    pub mask: u64,
    pub words: [u64; WORDS],
}

/// Another writer was quicker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay;

#[derive(Clone, Copy, PartialEq, Eq)]
struct Version(u64);

impl Version {
    const fn mask(self) -> u64 {
        self.0 & MASK
    }

    const fn is_writing(self) -> bool {
        self.0 & WRITING != 0
    }

    const fn is_cancelled(self) -> bool {
        self.0 & CANCELLED != 0
    }

    /// Without what a writer notes: the same as long as the same words hold.
    const fn published(self) -> Self {
        Self(self.0 & !(WRITING | CANCELLED))
    }

    const fn claimed(self) -> Self {
        Self(self.0 | WRITING)
    }

    /// Nothing lies over any more.
    const fn cleared(self) -> Self {
        let cancelled = if self.is_writing() { CANCELLED } else { 0 };
        Self(self.0 & !MASK | cancelled)
    }

    /// The other bank holds.
    const fn next(self, mask: u64) -> Self {
        let count = self.0 & !(ONE - 1);
        Self(count.wrapping_add(ONE) | mask & MASK)
    }

    /// The bank that holds.
    const fn bank(self) -> usize {
        (self.0 / ONE % 2) as usize
    }

    /// The bank that doesn't.
    const fn spare(self) -> usize {
        1 - self.bank()
    }
}

impl<const WORDS: usize> Overlay<WORDS> {
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self {
            version: AtomicU64::new(0),
            banks: [const { [const { AtomicU64::new(0) }; WORDS] }; 2],
        }
    }

    #[cfg(loom)]
    #[allow(
        clippy::new_without_default,
        reason = "the real one is const, and no default is"
    )]
    pub fn new() -> Self {
        let bank = || core::array::from_fn(|_| AtomicU64::new(0));
        Self {
            version: AtomicU64::new(0),
            banks: [bank(), bank()],
        }
    }

    /// Whether anything lies over. (Acquire, though none is needed: where every load is of one
    /// order, what refuses senseless ones is left out of small programs.)
    #[inline]
    pub fn is_on(&self) -> bool {
        self.load().mask() != 0
    }

    /// What lies over; `None`: nothing.
    pub fn read(&self) -> Option<Laid<WORDS>> {
        loop {
            let version = self.load();
            if version.mask() == 0 {
                return None;
            }
            let laid = self.laid(version);
            if self.load().published() == version.published() {
                return Some(laid);
            }
        }
    }

    /// Lays words over, instead of those that lay there. `mask` says of which settings, and is
    /// not 0. Gives what lay there before.
    pub fn write(&self, mask: u64, words: [u64; WORDS]) -> Result<Option<Laid<WORDS>>, UnderWay> {
        let claimed = self.claim()?;
        // Nobody else writes to a bank now.
        let before = (claimed.mask() != 0).then(|| self.laid(claimed));
        if let Some(bank) = self.banks.get(claimed.spare()) {
            for (word, value) in bank.iter().zip(words) {
                word.store(value, Ordering::Release);
            }
        }
        loop {
            let seen = self.load();
            let next = if seen.is_cancelled() {
                seen.published()
            } else {
                seen.next(mask)
            };
            if swap(&self.version, seen.0, next.0) {
                return Ok(before);
            }
        }
    }

    /// Takes away what lies over, and gives it.
    pub fn clear(&self) -> Option<Laid<WORDS>> {
        loop {
            let seen = self.load();
            if seen.cleared() == seen {
                return None;
            }
            let before = (seen.mask() != 0).then(|| self.laid(seen));
            // If it is what it was, so were the words.
            if swap(&self.version, seen.0, seen.cleared().0) {
                return before;
            }
        }
    }

    fn claim(&self) -> Result<Version, UnderWay> {
        loop {
            let seen = self.load();
            if seen.is_writing() {
                return Err(UnderWay);
            }
            if swap(&self.version, seen.0, seen.claimed().0) {
                return Ok(seen);
            }
        }
    }

    #[inline]
    fn load(&self) -> Version {
        Version(self.version.load(Ordering::Acquire))
    }

    fn laid(&self, version: Version) -> Laid<WORDS> {
        let mut words = [0; WORDS];
        if let Some(bank) = self.banks.get(version.bank()) {
            for (value, word) in words.iter_mut().zip(bank) {
                *value = word.load(Ordering::Acquire);
            }
        }
        Laid {
            mask: version.mask(),
            words,
        }
    }
}
