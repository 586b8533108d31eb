//! Errors with how long to wait.

use super::{Held, Holds, held_in};
use crate::error::CallError;
use core::error::Error;
use core::fmt;
use core::time::Duration;

/// A client's error, and how long the answer that it was made of asks to wait, if it
/// does: what the error itself has lost.
///
/// A classifier of `E` takes it as well, and makes [`Outcome::Overloaded`] of what it
/// would count: `classify::reqwest` (feature `reqwest`) shows it. Reads and prints as
/// the error itself.
///
/// ```
/// use breakerbox::classify::{self, WithRetryAfter};
/// use breakerbox::{CallError, circuit_breaker};
/// use std::io::{Error, ErrorKind};
/// use std::time::Duration;
///
/// #[circuit_breaker(classify = classify::io)]
/// fn rooms(busy: Option<Duration>) -> Result<u32, CallError<WithRetryAfter<Error>>> {
///     let error = Error::from(ErrorKind::ResourceBusy);
///     Err(CallError::Call(WithRetryAfter::new(error, busy)))
/// }
/// # let _scope = breakerbox::test::scope();
/// assert!(matches!(rooms(Some(Duration::from_secs(20))), Err(CallError::Call(_))));
/// let Err(CallError::Open(refused)) = rooms(None) else { unreachable!() };
/// assert_eq!(refused.retry_after(), Some(Duration::from_secs(20)));
/// ```
///
/// [`Outcome::Overloaded`]: crate::Outcome::Overloaded
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WithRetryAfter<E> {
    error: E,
    retry_after: Option<Duration>,
}

impl<E> WithRetryAfter<E> {
    /// The error, and what `classify::retry_after` found in the headers.
    pub const fn new(error: E, retry_after: Option<Duration>) -> Self {
        Self { error, retry_after }
    }

    /// The client's error.
    pub const fn error(&self) -> &E {
        &self.error
    }

    /// The client's error.
    #[must_use]
    pub fn into_error(self) -> E {
        self.error
    }

    /// How long to wait before the next call, if the answer says so.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl<E: fmt::Display> fmt::Display for WithRetryAfter<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<E: Error> Error for WithRetryAfter<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// Of an error that was made of no answer, or of one that doesn't say.
impl<E> From<E> for WithRetryAfter<E> {
    fn from(error: E) -> Self {
        Self::new(error, None)
    }
}

/// So that `?` makes a [`CallError::Call`] of it.
impl<E> From<WithRetryAfter<E>> for CallError<WithRetryAfter<E>> {
    fn from(error: WithRetryAfter<E>) -> Self {
        Self::Call(error)
    }
}

impl<E> Holds<E> for WithRetryAfter<E> {
    fn held(&self) -> Held<'_, E> {
        match self.retry_after {
            Some(wait) => Held::WithRetryAfter(&self.error, wait),
            None => Held::Error(&self.error),
        }
    }
}

impl<E> Holds<E> for CallError<WithRetryAfter<E>> {
    fn held(&self) -> Held<'_, E> {
        held_in(self, Holds::held)
    }
}
