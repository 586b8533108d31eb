//! What a `reqwest_middleware::Error` holds, and what becomes one.

use crate::classify::{Held, Holds, within};
use crate::error::{CallError, CircuitOpenError, TimeoutError};
use ::reqwest_middleware::Error;
use breaker_core::Outcome;
use core::error::Error as StdError;

/// The refusal that an error was made of, if it was: also within the error of another
/// middleware.
///
/// ```
/// use breakerbox::reqwest_middleware::refusal;
/// use breakerbox::{Breaker, Config};
/// use reqwest_middleware::Error;
///
/// let pms = Breaker::new("pms", Config::DEFAULT);
/// pms.force_open();
/// let error = Error::from(pms.admit().unwrap_err());
/// assert_eq!(refusal(&error).unwrap().name(), "pms");
/// ```
#[must_use]
pub fn refusal(error: &Error) -> Option<&CircuitOpenError> {
    causes(error)?.find_map(|cause| {
        cause
            .downcast_ref::<CircuitOpenError>()
            .or_else(|| refusal(cause.downcast_ref()?))
    })
}

/// What the error of a middleware was made of.
fn causes(error: &Error) -> Option<impl Iterator<Item = &(dyn StdError + 'static)>> {
    match error {
        Error::Middleware(error) => Some(within::chain(&**error)),
        Error::Reqwest(_) => None,
    }
}

impl Holds<reqwest::Error> for Error {
    fn held(&self) -> Held<'_, reqwest::Error> {
        if let Self::Reqwest(error) = self {
            return Held::Error(error);
        }
        causes(self)
            .into_iter()
            .flatten()
            .find_map(|cause| {
                if let Some(error) = cause.downcast_ref::<reqwest::Error>() {
                    return Some(Held::Error(error));
                }
                if let Some(error) = cause.downcast_ref::<Self>() {
                    return Some(error.held());
                }
                within::circuit(cause).map(Held::Other)
            })
            // A middleware's own.
            .unwrap_or(Held::Other(Outcome::Failure))
    }
}

impl Holds<reqwest::Error> for CallError<Error> {
    fn held(&self) -> Held<'_, reqwest::Error> {
        match self {
            Self::Call(error) => error.held(),
            Self::Open(open) => Held::Other(within::circuit(open).unwrap_or(Outcome::Ignored)),
            Self::TimedOut(_) => Held::Other(Outcome::Failure),
        }
    }
}

/// So that `?` makes a [`CallError::Call`] of it.
impl From<Error> for CallError<Error> {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

/// `Error::Middleware`, with the refusal as its source.
impl From<CircuitOpenError> for Error {
    fn from(open: CircuitOpenError) -> Self {
        Self::middleware(RequestRefused(open))
    }
}

/// Around the refusal, so that it is a source: errors that are transparent, as those
/// of `reqwest-middleware` and `reqwest-retry` are, show of what they hold only the
/// sources.
#[derive(Debug, thiserror::Error)]
#[error("circuit `{}` refused the request", .0.full_name())]
struct RequestRefused(#[source] CircuitOpenError);

/// `Error::Middleware`.
impl From<TimeoutError> for Error {
    fn from(timed_out: TimeoutError) -> Self {
        Self::middleware(timed_out)
    }
}
