//! Which errors of the common clients are outages, and which are answers.
//!
//! Each classifier takes the error of one client, as it is or in a
//! [`CallError`], and says what a call that ended with it counts as:
//!
//! ```
//! use breakerbox::{CallError, circuit_breaker, classify};
//!
//! #[circuit_breaker(threshold = 1, classify = classify::io)]
//! fn read(path: &str) -> Result<String, CallError<std::io::Error>> {
//!     Ok(std::fs::read_to_string(path)?)
//! }
//! # let _scope = breakerbox::test::scope();
//! assert!(matches!(read("/nowhere"), Err(CallError::Call(_))));
//! assert!(matches!(read("/nowhere"), Err(CallError::Call(_)))); // an answer, not an outage
//! ```
//!
//! | classifier | of | feature |
//! | --- | --- | --- |
//! | [`io`] | `std::io::Error`: sockets, pipes, files | `std` |
//! | [`reqwest`](crate::classify::reqwest()) | `reqwest::Error` | `reqwest` |
//! | [`aws`] | `SdkError` of an AWS SDK, of any service | `aws` |
//! | [`tonic`](crate::classify::tonic()) | `tonic::Status` | `tonic` |
//! | [`response`], [`status`] | whole responses, of hyper, reqwest and others (`classify_output`); their status alone | `http` |
//!
//! Above each stands a table of what counts, and why. [`any`], [`all`], [`not`],
//! [`only`], [`at_most`] and [`result`] make others of them and of your own. Where
//! the error is an enum of your own, implement [`Holds`] for it. The guide's
//! chapter on [classifiers](crate::guide::classifiers) has which to take.
//!
//! **A `Retry-After` is believed**, be it a year: [`at_most`] limits it.

// Without the features that they are about, some links lead nowhere.
#![cfg_attr(
    not(all(feature = "aws", feature = "reqwest", feature = "tonic")),
    allow(rustdoc::broken_intra_doc_links)
)]

use crate::error::CallError;
use breaker_core::Outcome;
use core::time::Duration;

#[cfg(feature = "aws")]
mod aws;
mod combine;
#[cfg(any(feature = "tonic", feature = "tower"))]
mod grpc;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "std")]
mod io;
mod only;
#[cfg(feature = "reqwest")]
mod reqwest;
#[cfg(feature = "http")]
mod retry_after;
#[cfg(feature = "tonic")]
mod tonic;
mod weight;
mod with_retry_after;
#[cfg(feature = "std")]
pub(crate) mod within;

#[cfg(feature = "aws")]
pub use aws::aws;
pub use combine::{Classifiers, all, any, at_most, not, result};
#[cfg(feature = "tower")]
pub(crate) use grpc::grpc_headers;
#[cfg(feature = "http")]
pub use http::{HttpOutput, response, status};
#[cfg(feature = "std")]
pub use io::io;
pub use only::{CodeOf, only};
#[cfg(feature = "reqwest")]
pub use reqwest::{ErrorWithRetryAfter, reqwest};
#[cfg(feature = "http")]
pub use retry_after::retry_after;
#[cfg(feature = "tonic")]
pub use tonic::tonic;
pub use with_retry_after::WithRetryAfter;

/// Another circuit refused, inside of this call: nobody was asked, which says
/// nothing of this circuit's dependency.
const REFUSED_WITHIN: Outcome = Outcome::Ignored;

/// A call through another circuit took too long, and so this one has failed.
const TIMED_OUT_WITHIN: Outcome = Outcome::Failure;

/// An error that holds a client's error `E`: that itself, [`CallError`] of it, or
/// an enum of your own with a variant for it.
///
/// ```
/// use breakerbox::classify::{self, Held, Holds};
/// use breakerbox::{CircuitOpenError, Outcome, circuit_breaker};
///
/// #[derive(Debug)]
/// enum PmsError {
///     Io(std::io::Error),
///     NoSuchHotel,
///     TryLater,
/// }
///
/// impl Holds<std::io::Error> for PmsError {
///     fn held(&self) -> Held<'_, std::io::Error> {
///         match self {
///             Self::Io(error) => Held::Error(error),
///             Self::NoSuchHotel | Self::TryLater => Held::Other(Outcome::Ignored),
///         }
///     }
/// }
///
/// impl From<CircuitOpenError> for PmsError {
///     fn from(_: CircuitOpenError) -> Self {
///         Self::TryLater
///     }
/// }
///
/// #[circuit_breaker(threshold = 1, classify = classify::io)]
/// fn rooms(hotel: &str) -> Result<u32, PmsError> {
///     if hotel.is_empty() {
///         return Err(PmsError::NoSuchHotel);
///     }
///     std::net::TcpStream::connect("127.0.0.1:1").map_err(PmsError::Io)?;
///     Ok(3)
/// }
/// # let _scope = breakerbox::test::scope();
/// assert!(matches!(rooms(""), Err(PmsError::NoSuchHotel)));
/// assert!(matches!(rooms("Adlon"), Err(PmsError::Io(_)))); // nobody is there: it opens
/// assert!(matches!(rooms("Adlon"), Err(PmsError::TryLater)));
/// ```
#[diagnostic::on_unimplemented(
    message = "this classifier takes a `{E}`, and `{Self}` is not known to hold one",
    label = "`{Self}` does not implement `Holds<{E}>`",
    note = "for an enum of your own, write `impl breakerbox::classify::Holds<..> for MyError`, with the client's error in the brackets: its `held` says where that is",
    note = "or look for it yourself: `classify = |error| match error {{ MyError::Client(error) => classify::client(error), _ => Outcome::Ignored }}`",
    note = "of a boxed error, or `anyhow`'s: `classify = |error| match error.downcast_ref::<client::Error>() {{ Some(error) => classify::client(error), None => Outcome::Ignored }}`",
    note = "above `classify_output` it takes the `Err` alone: `classify::result(|ok| .., classify::client)`"
)]
pub trait Holds<E> {
    /// The client's error, or what is there in its place.
    fn held(&self) -> Held<'_, E>;
}

/// What an error holds for a classifier of `E`.
#[derive(Debug, PartialEq, Eq)]
pub enum Held<'a, E> {
    /// A client's error: the classifier says what it counts as.
    Error(&'a E),
    /// The same, made of an answer that asks to be left alone for so long: what the
    /// classifier counts is an overload.
    WithRetryAfter(&'a E, Duration),
    /// Something else, which counts as this whatever the classifier is.
    Other(Outcome),
}

impl<'a, E> Held<'a, E> {
    /// The client's error, if there is one.
    #[must_use]
    pub fn error(self) -> Option<&'a E> {
        match self {
            Self::Error(error) | Self::WithRetryAfter(error, _) => Some(error),
            Self::Other(_) => None,
        }
    }

    /// What it counts as, where the client's error counts as `classify` says.
    ///
    /// ```
    /// use breakerbox::Outcome;
    /// use breakerbox::classify::Held;
    ///
    /// let by_number = |&number: &u16| match number {
    ///     500.. => Outcome::Failure,
    ///     _ => Outcome::Ignored,
    /// };
    /// assert_eq!(Held::Error(&503).outcome(by_number), Outcome::Failure);
    /// assert_eq!(Held::Other(Outcome::Success).outcome(by_number), Outcome::Success);
    /// ```
    #[inline]
    pub fn outcome(self, classify: impl FnOnce(&'a E) -> Outcome) -> Outcome {
        match self {
            Self::Error(error) => classify(error),
            Self::WithRetryAfter(error, wait) => match classify(error) {
                Outcome::Failure => Outcome::Overloaded(wait),
                other => other,
            },
            Self::Other(outcome) => outcome,
        }
    }
}

impl<E> Clone for Held<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Held<'_, E> {}

impl<E> Holds<E> for E {
    #[inline]
    fn held(&self) -> Held<'_, E> {
        Held::Error(self)
    }
}

/// Of another guarded call, made inside of this one. That its circuit refused is
/// ignored: nobody was asked. That it took too long is a failure of this one too.
impl<E> Holds<E> for CallError<E> {
    #[inline]
    fn held(&self) -> Held<'_, E> {
        held_in(self, Held::Error)
    }
}

/// What the error of a guarded call holds, whose own error holds what `call` says.
#[inline]
fn held_in<'a, C, E>(
    error: &'a CallError<C>,
    call: impl FnOnce(&'a C) -> Held<'a, E>,
) -> Held<'a, E> {
    match error {
        CallError::Call(error) => call(error),
        CallError::Open(_) => Held::Other(REFUSED_WITHIN),
        CallError::TimedOut(_) => Held::Other(TIMED_OUT_WITHIN),
    }
}
