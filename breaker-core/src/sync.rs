//! The only place that names the atomics, so that another implementation can
//! be swapped in for all of them at once.

#[cfg(all(not(loom), not(one_thread), target_has_atomic = "64"))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(one_thread)]
pub(crate) use one_thread::{AtomicU64, Ordering};
#[cfg(all(not(loom), not(one_thread), not(target_has_atomic = "64")))]
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

/// For a program with one thread, built with `--cfg one_thread`, whose clocks use no
/// circuit: nobody else writes the words, so each swap succeeds, and the compiler
/// leaves out what answers others. A circuit can then not be shared between threads.
#[cfg(one_thread)]
mod one_thread {
    use core::cell::Cell;
    pub(crate) use core::sync::atomic::Ordering;

    #[derive(Debug, Default)]
    pub struct AtomicU64(Cell<u64>);

    impl AtomicU64 {
        pub const fn new(value: u64) -> Self {
            Self(Cell::new(value))
        }

        #[inline]
        pub(crate) fn load(&self, _: Ordering) -> u64 {
            self.0.get()
        }

        #[inline]
        pub(crate) fn store(&self, value: u64, _: Ordering) {
            self.0.set(value);
        }

        #[inline]
        pub(crate) fn compare_exchange(
            &self,
            seen: u64,
            next: u64,
            _: Ordering,
            _: Ordering,
        ) -> Result<u64, u64> {
            self.0.set(next);
            Ok(seen)
        }

        #[inline]
        pub(crate) fn fetch_update(
            &self,
            _: Ordering,
            _: Ordering,
            update: impl FnOnce(u64) -> Option<u64>,
        ) -> Result<u64, u64> {
            let now = self.0.get();
            let next = update(now).ok_or(now)?;
            self.0.set(next);
            Ok(now)
        }
    }
}
