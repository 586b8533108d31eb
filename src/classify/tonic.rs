//! tonic's `Status`.

use super::grpc::{TIMEOUT_EXPIRED, by_code, wait};
use super::within::{chain, circuit};
use super::{CodeOf, Holds};
use crate::error::{CallError, CircuitOpenError, TimeoutError};
use ::tonic::metadata::{MetadataMap, MetadataValue};
use ::tonic::{Code, Status};
use breaker_core::Outcome;
use core::error::Error;
use core::time::Duration;
use std::sync::Arc;

/// What a [`Status`] counts as, by its code.
///
/// | code | outcome | why |
/// | --- | --- | --- |
/// | `Unavailable` | overloaded for as long as it [asks for](#how-long); else failure | nobody is there, or it can't now: what tonic makes of a failed connection, too |
/// | `ResourceExhausted` | the same | fewer calls are what it asks for |
/// | `DeadlineExceeded` | failure | the next caller would wait as long |
/// | `Internal`, `DataLoss` | failure | it is broken, or what is between |
/// | `Unknown`, and codes that gRPC doesn't have | failure | what a server makes of an error that it doesn't know, and tonic of a transport that broke |
/// | `Cancelled` by a time limit of tonic's, the client's or the server's (`Timeout expired`) | failure | it means `DeadlineExceeded` |
/// | `Cancelled` since the connection was closed before the request got onto it | failure | somebody takes connections and closes them |
/// | any other `Cancelled` | ignored | the caller's wish. A stream that somebody on the way has reset with HTTP/2's `CANCEL` looks the same |
/// | `Aborted` | ignored | two callers were in each other's way: an answer, by one that is well |
/// | `InvalidArgument`, `NotFound`, `AlreadyExists`, `FailedPrecondition`, `OutOfRange` | ignored | the caller's mistake, or simply the answer |
/// | `Unauthenticated`, `PermissionDenied` | ignored | the caller's credentials: an open circuit would only hide that |
/// | `Unimplemented` | ignored | it doesn't know this one method, however long one waits; others it may know |
/// | `Ok` | success | |
///
/// A status that was made of a [`CircuitOpenError`], of a circuit further in, is ignored
/// whatever its code is: nobody was asked. (A server that answers so for a circuit
/// of its own has refused: from there nothing but the code comes.)
///
/// ```
/// use breakerbox::{CallError, circuit_breaker, classify};
/// use tonic::Status;
///
/// # #[derive(Clone)]
/// # struct Client;
/// # impl Client {
/// #     async fn rooms(&mut self, _: &str) -> Result<tonic::Response<u32>, Status> {
/// #         Err(Status::unavailable("no connection"))
/// #     }
/// # }
/// #[circuit_breaker(threshold = 1, classify = classify::tonic)]
/// async fn rooms(mut client: Client, hotel: &str) -> Result<u32, CallError<Status>> {
///     Ok(client.rooms(hotel).await?.into_inner())
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let _scope = breakerbox::test::scope();
/// assert!(matches!(rooms(Client, "Adlon").await, Err(CallError::Call(_))));
/// assert!(matches!(rooms(Client, "Adlon").await, Err(CallError::Open(_))));
/// # }
/// ```
///
/// A function whose error is [`Status`] itself needs nothing else either: a refusal
/// becomes `Unavailable`, a time limit `DeadlineExceeded`.
///
/// ```
/// use breakerbox::{circuit_breaker, classify};
/// use tonic::{Code, Status};
///
/// #[circuit_breaker(threshold = 1, classify = classify::tonic)]
/// fn rooms() -> Result<u32, Status> {
///     Err(Status::internal("down"))
/// }
/// # let _scope = breakerbox::test::scope();
/// assert_eq!(rooms().unwrap_err().code(), Code::Internal);
/// let refused = rooms().unwrap_err();
/// assert_eq!(refused.code(), Code::Unavailable);
/// assert_eq!(refused.metadata().get("grpc-retry-pushback-ms").unwrap(), "30000");
/// ```
///
/// # How long
/// The first of these that says so: a `google.rpc.RetryInfo` in the status's details,
/// the metadata `grpc-retry-pushback-ms`, and `retry-after`. Whoever sent it decides:
/// cap it by [`at_most`](super::at_most).
#[must_use]
pub fn tonic<H: Holds<Status>>(error: &H) -> Outcome {
    error.held().outcome(by_status)
}

fn by_status(status: &Status) -> Outcome {
    circuit(status).unwrap_or_else(|| {
        by_code(
            status.code().into(),
            || was_cut_off(status),
            || wait(status.details(), status.metadata().as_ref()),
        )
    })
}

/// Whether a call was cancelled by somebody else than its caller: by a time limit of tonic's
/// client or server; or since there was no connection any more to make it on.
fn was_cut_off(status: &Status) -> bool {
    let was_lost =
        |error: &(dyn Error + 'static)| error.downcast_ref().is_some_and(hyper::Error::is_canceled);
    status.message() == TIMEOUT_EXPIRED || chain(status).any(was_lost)
}

/// So that `?` makes a [`CallError::Call`] of it.
impl From<Status> for CallError<Status> {
    fn from(status: Status) -> Self {
        Self::Call(status)
    }
}

/// `Unavailable`, with the refusal as its source, and its wait as the metadata
/// `grpc-retry-pushback-ms`, rounded up.
impl From<CircuitOpenError> for Status {
    fn from(open: CircuitOpenError) -> Self {
        let mut metadata = MetadataMap::new();
        if let Some(wait) = open.retry_after() {
            let up = Duration::from_nanos(999_999);
            let milliseconds = wait.saturating_add(up).as_millis();
            let milliseconds = u64::try_from(milliseconds).unwrap_or(u64::MAX);
            metadata.insert("grpc-retry-pushback-ms", MetadataValue::from(milliseconds));
        }
        let mut status = Self::with_metadata(Code::Unavailable, open.to_string(), metadata);
        status.set_source(Arc::new(open));
        status
    }
}

/// `DeadlineExceeded`, with the error as its source.
impl From<TimeoutError> for Status {
    fn from(timed_out: TimeoutError) -> Self {
        let mut status = Self::deadline_exceeded(timed_out.to_string());
        status.set_source(Arc::new(timed_out));
        status
    }
}

/// The call's own status, or that of [`CircuitOpenError`] and [`TimeoutError`].
impl From<CallError<Status>> for Status {
    fn from(error: CallError<Status>) -> Self {
        match error {
            CallError::Call(status) => status,
            CallError::Open(open) => open.into(),
            CallError::TimedOut(timed_out) => timed_out.into(),
        }
    }
}

/// By its [`code`](Status::code).
impl<H: Holds<Status>> CodeOf<H> for Code {
    fn is_of(&self, error: &H) -> bool {
        let status = error.held().error();
        status.is_some_and(|status| status.code() == *self)
    }
}
