//! Errors of the AWS SDK.

use super::http::says_how_long;
use super::retry_after::wait;
use super::{CodeOf, Holds};
use crate::error::CallError;
use ::http::StatusCode;
use aws_credential_types::provider::error::CredentialsError;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::{DispatchFailure, SdkError};
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_smithy_types::error::operation::BuildError;
use aws_smithy_types::retry::ErrorKind;
use breaker_core::Outcome;
use core::any::Any;
use core::error::Error;
use core::time::Duration;

/// The list that the SDK's own retries go by: `aws_runtime::retries::classifiers::THROTTLING_ERRORS`.
const THROTTLING: [&str; 14] = [
    "Throttling",
    "ThrottlingException",
    "ThrottledException",
    "RequestThrottledException",
    "TooManyRequestsException",
    "ProvisionedThroughputExceededException",
    "TransactionInProgressException",
    "RequestLimitExceeded",
    "BandwidthLimitExceeded",
    "LimitExceededException",
    "RequestThrottled",
    "SlowDown",
    "PriorRequestNotComplete",
    "EC2ThrottledException",
];

/// Faults of the service that don't show in the status: S3 gives some with a 200,
/// event streams have none. `RequestTimeout` and its like are the SDK's `TRANSIENT_ERRORS`.
const FAULTS: [&str; 10] = [
    "InternalError",
    "InternalFailure",
    "InternalFailureException",
    "InternalServerError",
    "InternalServerException",
    "InternalServiceException",
    "RequestTimeout",
    "RequestTimeoutException",
    "ServiceUnavailable",
    "ServiceUnavailableException",
];

/// What an error of the AWS SDK counts as, of any service: [`SdkError`].
///
/// | error | counts as | why |
/// | --- | --- | --- |
/// | [throttling](#throttling); status 429 or 503 | overloaded for as long as it asks for (`x-amz-retry-after`, milliseconds; `Retry-After`, seconds or a date); without that a failure | it has too much to do: whoever calls on makes it worse |
/// | status 5xx; a code of a fault (`InternalServerException`, `ServiceUnavailable`, `RequestTimeout` ..) with any status | failure | the service failed |
/// | success that is not of the service's protocol | failure | whoever answered, it was not the service |
/// | any other code or status: validation, access denied, not found, conflicts, quotas, `DataUnavailableException` | ignored | an answer to this request |
/// | [`TimeoutError`](SdkError::TimeoutError) | failure | no answer in time |
/// | [`ResponseError`](SdkError::ResponseError): the response was cut short | failure, or overloaded as above | no answer |
/// | [`DispatchFailure`](SdkError::DispatchFailure): no connection, reset, not HTTP | failure | the service was not reached |
/// | .. of which the SDK says that the request was wrong | ignored | it was not sent |
/// | .. as there are no credentials, or their set-up is wrong | ignored | the caller's to mend: nothing was sent, and to wait helps nothing |
/// | .. as credentials did not come (IMDS or STS are down or slow) | failure | no call can be made, and each waits for it |
/// | [`ConstructionFailure`](SdkError::ConstructionFailure) | ignored | the request could not be made; it was not sent |
/// | [`CallError::Open`] of a circuit inside | ignored | nobody was asked |
/// | [`CallError::TimedOut`] of a call inside | failure | no answer in time |
///
/// The SDK retries by itself, so what comes here is what its last attempt ended
/// with: its retries are inside the guarded call, which counts once. Of the two
/// headers they wait for `x-amz-retry-after` alone: where a service sends the other
/// one, fewer attempts are kinder to it.
///
/// ```
/// use aws_smithy_runtime_api::client::result::SdkError; // it is each SDK's `error::SdkError`
/// # use aws_smithy_types::error::ErrorMetadata as GetCostAndUsageError;
/// use breakerbox::{CallError, circuit_breaker, classify};
///
/// # struct Client;
/// # impl Client {
/// #     fn get_cost_and_usage(&self) -> &Self { self }
/// #     async fn send(&self) -> Result<(), SdkError<GetCostAndUsageError, ()>> {
/// #         let error = GetCostAndUsageError::builder().code("LimitExceededException").build();
/// #         Err(SdkError::service_error(error, ()))
/// #     }
/// # }
/// type CostsError = CallError<SdkError<GetCostAndUsageError, ()>>;
///
/// #[circuit_breaker(threshold = 1, classify = classify::aws)]
/// async fn costs(client: &Client) -> Result<(), CostsError> {
///     Ok(client.get_cost_and_usage().send().await?)
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let _scope = breakerbox::test::scope();
/// assert!(matches!(costs(&Client).await, Err(CallError::Call(_)))); // throttled
/// assert!(matches!(costs(&Client).await, Err(CallError::Open(_))));
/// # }
/// ```
///
/// # Throttling
/// The codes are those that the SDK's own retries take for throttling. One of
/// them, `LimitExceededException`, has two meanings: Cost Explorer and others say
/// "too many calls" with it, some services that a quota of things is used up,
/// which no waiting mends. It is taken as the SDK takes it. For a service of the
/// second kind, take it out ([`only`](super::only) knows the codes of exceptions):
///
/// ```
/// # use aws_smithy_runtime_api::client::result::SdkError;
/// # use aws_smithy_types::error::metadata::ErrorMetadata;
/// use breakerbox::classify::{self, all, not, only};
/// use breakerbox::{CallError, circuit_breaker};
/// # type NewKeyError = CallError<SdkError<ErrorMetadata, ()>>;
///
/// // No more than 100,000 keys in an account.
/// #[circuit_breaker(
///     threshold = 1,
///     classify = all((classify::aws, not(only(["LimitExceededException"])))),
/// )]
/// fn new_key(code: &str) -> Result<u32, NewKeyError> {
///     let error = ErrorMetadata::builder().code(code).build();
///     Err(SdkError::service_error(error, ()))?
/// }
/// # let _scope = breakerbox::test::scope();
/// assert!(matches!(new_key("LimitExceededException"), Err(CallError::Call(_))));
/// assert!(matches!(new_key("ThrottlingException"), Err(CallError::Call(_)))); // it opens
/// assert!(matches!(new_key("LimitExceededException"), Err(CallError::Open(_))));
/// ```
///
/// A wait is taken as it is: put [`at_most`](super::at_most) around it where the
/// endpoint is not AWS's own.
pub fn aws<E, R, H>(error: &H) -> Outcome
where
    E: ProvideErrorMetadata,
    R: Any,
    H: Holds<SdkError<E, R>>,
{
    error.held().outcome(of_sdk_error)
}

fn of_sdk_error<E: ProvideErrorMetadata, R: Any>(error: &SdkError<E, R>) -> Outcome {
    match error {
        SdkError::ServiceError(answer) => of_answer(answer.err().code(), as_http(answer.raw())),
        SdkError::ResponseError(broken) => as_http(broken.raw())
            .filter(|response| status_of(response).is_some_and(says_how_long))
            .map_or(Outcome::Failure, overloaded),
        SdkError::DispatchFailure(failure) if lies_with_the_caller(failure) => Outcome::Ignored,
        SdkError::ConstructionFailure(_) => Outcome::Ignored,
        // And what a later SDK may add: an answer would be a `ServiceError`.
        _ => Outcome::Failure,
    }
}

fn of_answer(code: Option<&str>, response: Option<&HttpResponse>) -> Outcome {
    let status = response.and_then(status_of);
    let is_one_of = |codes: &[&str]| code.is_some_and(|code| codes.contains(&code));
    if is_one_of(&THROTTLING) || status.is_some_and(says_how_long) {
        return response.map_or(Outcome::Failure, overloaded);
    }
    let of_status = status.map(super::status);
    // Success is no error, unless nobody could read what was said. A redirection says enough.
    let unread = code.is_none() && status.is_none_or(|status| status.is_success());
    if is_one_of(&FAULTS) || unread || of_status == Some(Outcome::Failure) {
        return Outcome::Failure;
    }
    Outcome::Ignored
}

/// The response, where the raw one is HTTP's; of an event stream it is an event.
fn as_http<R: Any>(raw: &R) -> Option<&HttpResponse> {
    (raw as &dyn Any).downcast_ref()
}

fn status_of(response: &HttpResponse) -> Option<StatusCode> {
    StatusCode::from_u16(response.status().as_u16()).ok()
}

/// For as long as the response asks for; a failure if it doesn't.
fn overloaded(response: &HttpResponse) -> Outcome {
    let header = |name| response.headers().get(name);
    let millis = header("x-amz-retry-after").and_then(|wait| wait.trim().parse().ok());
    let wait = millis
        .filter(|&millis: &u64| millis > 0)
        .map(Duration::from_millis)
        .or_else(|| wait(header("retry-after")?, header("date")));
    wait.map_or(Outcome::Failure, Outcome::Overloaded)
}

/// Whether the request did not leave for a reason that lies with the caller. What
/// the SDK has no kind for (a response that is not HTTP, for one) does not.
fn lies_with_the_caller(failure: &DispatchFailure) -> bool {
    failure.is_user()
        || failure.as_other() == Some(ErrorKind::ClientError)
        || matches!(
            credentials_error(failure),
            Some(
                CredentialsError::CredentialsNotLoaded(_)
                    | CredentialsError::InvalidConfiguration(_)
            )
        )
}

/// Why there were no credentials, if that is why the request was not sent.
fn credentials_error(failure: &DispatchFailure) -> Option<&CredentialsError> {
    let connector = failure.as_connector_error()?;
    let mut sources = core::iter::successors(connector.source(), |&error| error.source());
    sources.find_map(|error| error.downcast_ref())
}

/// By the code of a service's exception: `"ThrottlingException"`.
impl<E: ProvideErrorMetadata, R> CodeOf<SdkError<E, R>> for &str {
    fn is_of(&self, error: &SdkError<E, R>) -> bool {
        error.code() == Some(self)
    }
}

/// By the code of a service's exception: `"ThrottlingException"`.
impl<E: ProvideErrorMetadata, R> CodeOf<CallError<SdkError<E, R>>> for &str {
    fn is_of(&self, error: &CallError<SdkError<E, R>>) -> bool {
        matches!(error, CallError::Call(error) if self.is_of(error))
    }
}

impl<E, R> From<SdkError<E, R>> for CallError<SdkError<E, R>> {
    fn from(error: SdkError<E, R>) -> Self {
        Self::Call(error)
    }
}

/// What a builder of the SDK says of a field that is missing, as the SDK's operations do.
impl<E, R> From<BuildError> for CallError<SdkError<E, R>> {
    fn from(error: BuildError) -> Self {
        Self::Call(error.into())
    }
}
