//! Locking where a panic elsewhere is no reason to give up.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is kept is never left half changed, so a lock that was poisoned is as good as any.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
