//! The only place that names the atomics, so that another implementation can
//! be swapped in for all of them at once.

#[cfg(all(not(loom), target_has_atomic = "64"))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(all(not(loom), not(target_has_atomic = "64")))]
pub(crate) use portable_atomic::{AtomicU64, Ordering};

/// One compare-and-swap, which may be acted on by whoever sees its result.
#[inline]
pub(crate) fn swap(word: &AtomicU64, seen: u64, next: u64) -> bool {
    try_swap(word, seen, next).is_ok()
}

/// [`swap`], and else what stands there.
#[inline]
pub(crate) fn try_swap(word: &AtomicU64, seen: u64, next: u64) -> Result<u64, u64> {
    word.compare_exchange(seen, next, Ordering::AcqRel, Ordering::Acquire)
}

/// A `const` constructor, except under loom, whose atomics have none.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visibility:vis const fn $($rest:tt)*) => {
        #[cfg(not(loom))]
        $(#[$attribute])* $visibility const fn $($rest)*
        #[cfg(loom)]
        $(#[$attribute])* $visibility fn $($rest)*
    };
}

pub(crate) use const_fn;
