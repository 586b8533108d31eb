//! What a caller gets whose call was refused.

use crate::error::{CallError, CircuitOpenError};
use http::header::RETRY_AFTER;
use http::{HeaderValue, Response, StatusCode};

/// What a refused call gives. Sealed.
pub trait Refuses<T, E>: sealed::Refuses<T, E> {}

impl<T, E, R: sealed::Refuses<T, E>> Refuses<T, E> for R {}

pub(crate) mod sealed {
    use crate::error::CircuitOpenError;

    pub trait Refuses<T, E> {
        type Error;

        fn refused(self, open: CircuitOpenError) -> Result<T, Self::Error>;

        /// The service's own error.
        fn failed(self, error: E) -> Self::Error;
    }
}

/// [`CallError::Open`]; the service's own error becomes [`CallError::Call`].
#[derive(Clone, Copy, Debug, Default)]
pub struct AsCallError;

impl<T, E> sealed::Refuses<T, E> for AsCallError {
    type Error = CallError<E>;

    #[inline]
    fn refused(self, open: CircuitOpenError) -> Result<T, CallError<E>> {
        Err(CallError::Open(open))
    }

    #[inline]
    fn failed(self, error: E) -> CallError<E> {
        CallError::Call(error)
    }
}

/// What a closure makes of it; the service's own error stays as it is.
#[derive(Clone, Copy, Debug)]
pub struct WhenOpen<F>(pub(crate) F);

impl<T, E, F> sealed::Refuses<T, E> for WhenOpen<F>
where
    F: FnOnce(CircuitOpenError) -> Result<T, E>,
{
    type Error = E;

    #[inline]
    fn refused(self, open: CircuitOpenError) -> Result<T, E> {
        (self.0)(open)
    }

    #[inline]
    fn failed(self, error: E) -> E {
        error
    }
}

/// `tonic::Status`, which tonic's clients and servers hand on as it is: see
/// [`tonic`](super::CircuitBreakerLayer::tonic).
#[cfg(feature = "tonic")]
#[derive(Clone, Copy, Debug, Default)]
pub struct AsStatus;

#[cfg(feature = "tonic")]
impl<T, E> sealed::Refuses<T, E> for AsStatus
where
    E: Into<Box<dyn core::error::Error + Send + Sync>>,
{
    type Error = tonic::Status;

    fn refused(self, open: CircuitOpenError) -> Result<T, tonic::Status> {
        Err(open.into())
    }

    /// As tonic would.
    fn failed(self, error: E) -> tonic::Status {
        tonic::Status::from_error(error.into())
    }
}

/// A server's answer to a call that its circuit refused: `503 Service Unavailable`
/// without a body, with the wait as `Retry-After`, in seconds, rounded up, where
/// it is known.
///
/// ```
/// use breakerbox::tower::unavailable;
/// use breakerbox::{Breaker, Config};
/// use std::convert::Infallible;
/// use std::time::Duration;
///
/// let pms = Breaker::new("pms", Config::DEFAULT);
/// pms.open_for(Duration::from_millis(4_200));
/// let answer: Result<http::Response<String>, Infallible> = unavailable(pms.admit().unwrap_err());
/// let answer = answer.unwrap();
/// assert_eq!(answer.status(), 503);
/// assert_eq!(answer.headers()["retry-after"], "5");
/// ```
///
/// # Errors
/// None: `E` is that of the service.
pub fn unavailable<B: Default, E>(open: CircuitOpenError) -> Result<Response<B>, E> {
    let mut answer = Response::new(B::default());
    *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    if let Some(wait) = open.retry_after() {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let seconds = HeaderValue::from(seconds);
        answer.headers_mut().insert(RETRY_AFTER, seconds);
    }
    Ok(answer)
}
