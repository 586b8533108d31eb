//! Reconfiguring one at a time: who finds another at it waits, instead of being told to try
//! again.

/// Nothing of a user's runs in it, and no call waits for it.
#[cfg(feature = "std")]
pub(crate) fn one_at_a_time<R>(reconfigure: impl FnOnce() -> R) -> R {
    use std::sync::{Mutex, PoisonError};

    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    reconfigure()
}

/// Without std there is nothing to wait with:
/// [`ReconfigureError::UnderWay`](crate::ReconfigureError::UnderWay) is the caller's to see.
#[cfg(not(feature = "std"))]
pub(crate) fn one_at_a_time<R>(reconfigure: impl FnOnce() -> R) -> R {
    reconfigure()
}
