//! Why a fallback runs.

use crate::error::{CircuitOpenError, TimeoutError};

/// Why a fallback runs. `O` is the guarded function's output.
///
/// ```
/// use breakerbox::{CallError, Cause, circuit_breaker};
///
/// #[circuit_breaker(fallback = |cause| match cause {
///     Cause::Open(open) => Some(Ok(format!("retry in {:?}", open.retry_after()))),
///     Cause::Failed(_) | Cause::TimedOut(_) => None,      // the caller gets the original
/// })]
/// fn rate(hotel: &str) -> Result<String, CallError<&'static str>> {
///     Err(CallError::Call("no answer"))
/// }
/// # let _scope = breakerbox::test::scope();
/// assert_eq!(rate("H1"), Err(CallError::Call("no answer")));
/// ```
#[derive(Debug)]
pub enum Cause<'a, O> {
    /// The call was refused.
    Open(&'a CircuitOpenError),
    /// The call failed with this output, and that counted.
    Failed(&'a O),
    /// The call took too long.
    TimedOut(&'a TimeoutError),
}

impl<O> Clone for Cause<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Cause<'_, O> {}
