//! An answer and whether it is fresh.

use core::time::Duration;

/// An answer with its age, so that a stale one can't be taken for a fresh one
/// by accident.
///
/// ```
/// use breakerbox::Served;
/// use std::time::Duration;
///
/// let fresh = Served::fresh(7);
/// assert!(!fresh.stale);
/// let stale = Served::stale(6, Duration::from_secs(90)).map(|rooms| format!("{rooms} rooms"));
/// assert!(stale.stale);
/// assert_eq!((stale.value.as_str(), stale.age.as_secs()), ("6 rooms", 90));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Served<T> {
    /// The answer.
    pub value: T,
    /// How long ago the dependency gave it.
    pub age: Duration,
    /// It is a last-good answer, served in place of a fresh one.
    pub stale: bool,
}

impl<T> Served<T> {
    /// An answer that the dependency has just given.
    pub const fn fresh(value: T) -> Self {
        Self {
            value,
            age: Duration::ZERO,
            stale: false,
        }
    }

    /// A last-good answer, given so long ago.
    pub const fn stale(value: T, age: Duration) -> Self {
        Self {
            value,
            age,
            stale: true,
        }
    }

    /// The same age and flag over another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Served<U> {
        Served {
            value: f(self.value),
            age: self.age,
            stale: self.stale,
        }
    }
}
