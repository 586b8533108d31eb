//! What a caller gets where a call was refused or given up and no fallback
//! answers: an output of the function's own type.

use crate::error::{CircuitOpenError, TimeoutError};
use crate::fallback::NoAnswer;
use crate::limit::Never;

/// An output that an error can be put into.
#[diagnostic::on_unimplemented(
    message = "a call that is refused or times out has no output: `{Self}` is not a `Result`",
    label = "not a `Result`",
    note = "write `open_error = |open| ..` (and `timeout_error = |timeout| ..` beside `timeout`), which makes the output",
    note = "or a `fallback` that always answers: one that gives the function's own type, not an `Option` of it"
)]
pub trait Refusable {
    /// The error.
    type Error;

    /// The output that holds it.
    fn refused(error: Self::Error) -> Self;
}

impl<T, E> Refusable for Result<T, E> {
    type Error = E;

    fn refused(error: E) -> Self {
        Err(error)
    }
}

/// An error that can be made from a [`CircuitOpenError`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't say that a call was refused: it is not `From<CircuitOpenError>`",
    label = "the function's error type needs `From<CircuitOpenError>`",
    note = "write `impl From<CircuitOpenError> for {Self}` (with thiserror: a variant with `#[from] CircuitOpenError`); if it is a generic parameter, the bound `{Self}: From<CircuitOpenError>`",
    note = "or `open_error = |open| ..` in the attribute, which makes the error",
    note = "or, where `{Self}` is somebody else's, return `Result<_, CallError<{Self}>>`, and `.map_err(CallError::Call)?` in the body",
    note = "or a `fallback` that always answers: one that gives the function's own type, not an `Option` of it"
)]
pub trait OpenError {
    /// The error for a refused call.
    fn from_open(open: CircuitOpenError) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<CircuitOpenError>> OpenError for E {
    fn from_open(open: CircuitOpenError) -> Self {
        open.into()
    }
}

/// An error that can be made from a [`TimeoutError`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't say that a call timed out: it is not `From<TimeoutError>`",
    label = "the function's error type needs `From<TimeoutError>`",
    note = "write `impl From<TimeoutError> for {Self}` (with thiserror: a variant with `#[from] TimeoutError`); if it is a generic parameter, the bound `{Self}: From<TimeoutError>`",
    note = "or `timeout_error = |timeout| ..` in the attribute, which makes the error",
    note = "or, where `{Self}` is somebody else's, return `Result<_, CallError<{Self}>>`, and `.map_err(CallError::Call)?` in the body",
    note = "or a `fallback` that always answers, without `fallback_on = open`: one that gives the function's own type, not an `Option` of it"
)]
pub trait TimeoutErrorFrom {
    /// The error for a call that took too long.
    fn from_timeout(timed_out: TimeoutError) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<TimeoutError>> TimeoutErrorFrom for E {
    fn from_timeout(timed_out: TimeoutError) -> Self {
        timed_out.into()
    }
}

/// What a fallback may give in place of an answer: only where that can be is an
/// output made from a refusal.
pub trait OpenAfter<O> {
    /// The output for a refused call.
    fn open(self, open: CircuitOpenError) -> O;
}

impl<O> OpenAfter<O> for Never {
    fn open(self, _: CircuitOpenError) -> O {
        match self {}
    }
}

impl<O: Refusable<Error: OpenError>> OpenAfter<O> for NoAnswer {
    fn open(self, open: CircuitOpenError) -> O {
        O::refused(O::Error::from_open(open))
    }
}

/// The same for a call that took too long.
pub trait TimedOutAfter<O> {
    /// The output for a call that took too long.
    fn timed_out(self, timed_out: TimeoutError) -> O;
}

impl<O> TimedOutAfter<O> for Never {
    fn timed_out(self, _: TimeoutError) -> O {
        match self {}
    }
}

impl<O: Refusable<Error: TimeoutErrorFrom>> TimedOutAfter<O> for NoAnswer {
    fn timed_out(self, timed_out: TimeoutError) -> O {
        O::refused(O::Error::from_timeout(timed_out))
    }
}
