//! Errors by their codes.

#[cfg(feature = "std")]
use super::Holds;

/// Counts errors of these codes and no others.
///
/// | code | of | feature |
/// | --- | --- | --- |
/// | [`std::io::ErrorKind`] | `std::io::Error` | `std` |
/// | `http::StatusCode` | a response; with the feature `reqwest` also `reqwest::Error` | `http` |
/// | `&str`: the code of a service's exception | `SdkError` of the AWS SDK, also in a [`CallError`](crate::CallError) | `aws` |
/// | `tonic::Code` | `tonic::Status`, also in a [`CallError`](crate::CallError) | `tonic` |
///
/// For errors of your own, implement [`CodeOf`].
///
/// ```
/// use breakerbox::{CallError, circuit_breaker, classify};
/// use std::io::{self, ErrorKind};
///
/// #[circuit_breaker(threshold = 1, classify = classify::only([
///     ErrorKind::ConnectionRefused,
///     ErrorKind::TimedOut,
/// ]))]
/// fn ask(answer: io::Result<u32>) -> Result<u32, CallError<io::Error>> {
///     Ok(answer?)
/// }
/// # let _scope = breakerbox::test::scope();
/// assert!(ask(Err(ErrorKind::ConnectionReset.into())).is_err());
/// assert!(ask(Err(ErrorKind::TimedOut.into())).is_err()); // it opens
/// assert!(matches!(ask(Ok(3)), Err(CallError::Open(_))));
/// ```
pub const fn only<E, C, const N: usize>(codes: [C; N]) -> impl Fn(&E) -> bool + Clone
where
    C: CodeOf<E> + Clone,
{
    move |error| codes.iter().any(|code| code.is_of(error))
}

/// A code that errors of type `E` may have: what [`only`] takes.
///
/// ```
/// use breakerbox::classify::{self, CodeOf};
///
/// struct Answered {
///     code: String,
/// }
///
/// struct Code(&'static str);
/// # impl Clone for Code { fn clone(&self) -> Self { Self(self.0) } }
///
/// impl CodeOf<Answered> for Code {
///     fn is_of(&self, error: &Answered) -> bool {
///         error.code == self.0
///     }
/// }
///
/// let busy = classify::only([Code("BUSY"), Code("LOADING")]);
/// assert!(busy(&Answered { code: "LOADING".into() }));
/// assert!(!busy(&Answered { code: "WRONGTYPE".into() }));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a code of `{E}`",
    label = "no error `{E}` has a `{Self}`",
    note = "for codes of your own, implement `breakerbox::classify::CodeOf<{E}>`"
)]
pub trait CodeOf<E> {
    /// Whether it is the error's.
    fn is_of(&self, error: &E) -> bool;
}

/// By [`kind`](std::io::Error::kind), of the error as it is: what it wraps is not
/// looked at.
#[cfg(feature = "std")]
impl<H: Holds<std::io::Error>> CodeOf<H> for std::io::ErrorKind {
    fn is_of(&self, error: &H) -> bool {
        error
            .held()
            .error()
            .is_some_and(|error| error.kind() == *self)
    }
}
