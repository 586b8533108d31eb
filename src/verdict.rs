//! What counts as a failure.

use breaker_core::Outcome;

/// What a classifier may give: a `bool` (`true`: it counts as a failure), an
/// [`Outcome`], or an `Option` of one (`None`: as `false`).
///
/// From `classify`, which sees an error, `false` means [`Outcome::Ignored`];
/// from `classify_output`, which sees the whole output, [`Outcome::Success`].
///
/// The wait of [`Outcome::Overloaded`] is taken as it is: `max_reset` does not
/// cap it. What comes from a `Retry-After` that you don't trust, cap with
/// [`classify::at_most`](crate::classify::at_most).
///
/// ```
/// use breakerbox::{CallError, Outcome, circuit_breaker};
/// use std::time::Duration;
///
/// struct Status(u16);
///
/// fn by_status(error: &CallError<Status>) -> Outcome {
///     match error {
///         CallError::Call(Status(503)) => Outcome::Overloaded(Duration::from_secs(60)),
///         CallError::Call(Status(500..)) => Outcome::Failure,
///         _ => Outcome::Ignored,
///     }
/// }
///
/// #[circuit_breaker(classify = by_status)]
/// fn rooms() -> Result<u32, CallError<Status>> {
///     Err(CallError::Call(Status(503)))
/// }
/// # let _scope = breakerbox::test::scope();
/// assert!(matches!(rooms(), Err(CallError::Call(_))));
/// assert!(matches!(rooms(), Err(CallError::Open(_))));
/// ```
#[diagnostic::on_unimplemented(
    message = "a classifier gives `bool` or `Outcome`, not `{Self}`",
    label = "this classifier gives `{Self}`",
    note = "`true` counts as a failure; `breakerbox::Outcome` says more: `Success`, `Failure`, `Ignored`, `Overloaded(wait)`"
)]
pub trait Verdict: Sized {
    /// The outcome, if it says one.
    #[doc(hidden)]
    fn stated(self) -> Option<Outcome>;

    /// The outcome, where `false` means `answer`.
    #[doc(hidden)]
    #[inline]
    fn outcome(self, answer: Outcome) -> Outcome {
        self.stated().unwrap_or(answer)
    }
}

impl Verdict for bool {
    #[inline]
    fn stated(self) -> Option<Outcome> {
        self.then_some(Outcome::Failure)
    }
}

impl Verdict for Outcome {
    #[inline]
    fn stated(self) -> Option<Outcome> {
        Some(self)
    }
}

impl Verdict for Option<Outcome> {
    #[inline]
    fn stated(self) -> Option<Outcome> {
        self
    }
}

/// The output of a fallible call. A trait and not a name decides, so an alias
/// of `Result` is one too.
#[diagnostic::on_unimplemented(
    message = "the breaker can't tell a failure from an answer: `{Self}` is not a `Result`",
    label = "not a `Result`",
    note = "write `classify_output = |output| ..`, which gives `true` for what counts as a failure"
)]
pub trait ResultLike {
    /// The error, of which `classify` decides.
    type Error;

    /// The error, if it is one.
    fn error(&self) -> Option<&Self::Error>;
}

impl<T, E> ResultLike for Result<T, E> {
    type Error = E;

    #[inline]
    fn error(&self) -> Option<&E> {
        self.as_ref().err()
    }
}

/// Says what an output counts as.
pub trait Classify<O> {
    /// The outcome of a call with this output.
    fn classify(self, output: &O) -> Outcome;
}

/// Every `Err` counts as a failure.
#[derive(Clone, Copy, Debug)]
pub struct EveryErr;

impl<O: ResultLike> Classify<O> for EveryErr {
    #[inline]
    fn classify(self, output: &O) -> Outcome {
        if output.error().is_some() {
            Outcome::Failure
        } else {
            Outcome::Success
        }
    }
}

/// A classifier of errors.
#[derive(Clone, Copy, Debug)]
pub struct ByError<F>(pub(crate) F);

impl<O, F, R> Classify<O> for ByError<F>
where
    O: ResultLike,
    F: FnOnce(&O::Error) -> R,
    R: Verdict,
{
    #[inline]
    fn classify(self, output: &O) -> Outcome {
        match output.error() {
            Some(error) => (self.0)(error).outcome(Outcome::Ignored),
            None => Outcome::Success,
        }
    }
}

/// A classifier of whole outputs.
#[derive(Clone, Copy, Debug)]
pub struct ByOutput<F>(pub(crate) F);

impl<O, F, R> Classify<O> for ByOutput<F>
where
    F: FnOnce(&O) -> R,
    R: Verdict,
{
    #[inline]
    fn classify(self, output: &O) -> Outcome {
        (self.0)(output).outcome(Outcome::Success)
    }
}
