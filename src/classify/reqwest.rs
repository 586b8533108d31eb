//! reqwest's errors and responses.

use super::http::{says_how_long, status};
use super::{CodeOf, Holds, HttpOutput, WithRetryAfter, retry_after, within};
use crate::error::CallError;
use breaker_core::Outcome;
use http::{HeaderMap, StatusCode};
use reqwest::{Error, Response};
use serde_json::error::Category;

/// By what went wrong: what keeps everybody from an answer counts, and what is about
/// this one request does not.
///
/// | the error | outcome | why |
/// | --- | --- | --- |
/// | connection refused or reset, host name not found, TLS handshake failed | failure | nobody can call it |
/// | a proxy that doesn't make the connection (`https` through a tunnel), whatever it says: also a 407 | failure | the same. What a proxy answers to plain `http` is an answer |
/// | a timeout of the client's, of the request, of the connection or between two reads of the body | failure | the next caller would wait as long |
/// | closed before the answer's head, or the head is garbage | failure | it went wrong on the way |
/// | the body is cut short, or can't be decompressed | failure | the same, later |
/// | [`error_for_status`](Response::error_for_status): 429, 503 with `Retry-After` | overloaded, for so long | it says so itself; kept by [`error_with_retry_after`](ErrorWithRetryAfter::error_with_retry_after) |
/// | 429, 503 without; 408, all other 5xx | failure | as [`classify::status`](super::status()) says |
/// | all other 4xx | ignored | the same |
/// | `json()`: the body is no JSON, or half of it | failure | half an answer, or a proxy's page, is what an outage looks like |
/// | `json()`: JSON of another shape | ignored | an answer. Waiting will not mend it, and one odd record must not close the way to all others |
/// | a redirect loop, too many redirects, one that your own policy refuses | ignored | it answers, at once, and always so for this address |
/// | a bad URL, header or body: the request could not be built | ignored | the caller's mistake |
/// | the request's own body failed while it was sent | ignored | it comes from here, or from elsewhere |
/// | a circuit further in refused (in a connector, a resolver) | ignored | nobody was asked |
/// | anything else | failure | unknown: something went wrong on the way |
///
/// Use [`error_with_retry_after`](ErrorWithRetryAfter::error_with_retry_after)
/// where you would write `error_for_status`, whose error has lost the headers. And
/// say how long you are ready to stay away: whoever sends a `Retry-After` decides
/// it otherwise ([`at_most`](super::at_most)).
///
/// ```
/// use breakerbox::classify::{self, ErrorWithRetryAfter, WithRetryAfter};
/// use breakerbox::{CallError, circuit_breaker};
/// use std::time::Duration;
///
/// const LONGEST: Duration = Duration::from_secs(300);
///
/// #[circuit_breaker(classify = classify::at_most(LONGEST, classify::reqwest), timeout = "2s")]
/// async fn rooms(url: &str) -> Result<String, CallError<WithRetryAfter<reqwest::Error>>> {
///     let response = reqwest::get(url).await?.error_with_retry_after()?;
///     Ok(response.text().await?)
/// }
/// # async fn serve(head: &'static str) -> String {
/// #     use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// #     let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
/// #     let url = format!("http://{}", listener.local_addr().unwrap());
/// #     tokio::spawn(async move {
/// #         let (mut stream, _) = listener.accept().await.unwrap();
/// #         let _ = stream.read(&mut [0; 1024]).await;
/// #         stream.write_all(format!("HTTP/1.1 {head}\r\n\r\n").as_bytes()).await.unwrap();
/// #     });
/// #     url
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let _scope = breakerbox::test::scope();
/// # let url = serve("503 Busy\r\nRetry-After: 20\r\nContent-Length: 0").await;
/// // 503, Retry-After: 20
/// let Err(CallError::Call(busy)) = rooms(&url).await else { unreachable!() };
/// assert_eq!(busy.retry_after(), Some(Duration::from_secs(20)));
/// assert_eq!(busy.error().status().unwrap(), 503);
/// let Err(CallError::Open(refused)) = rooms(&url).await else { unreachable!() };
/// assert_eq!(refused.retry_after(), Some(Duration::from_secs(20)));
/// # }
/// ```
///
/// Where a 429 may count as any other failure, the error is reqwest's own:
///
/// ```
/// use breakerbox::{CallError, circuit_breaker, classify};
///
/// #[circuit_breaker(threshold = 1, classify = classify::reqwest)]
/// async fn rooms(url: &str) -> Result<String, CallError<reqwest::Error>> {
///     Ok(reqwest::get(url).await?.error_for_status()?.text().await?)
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let _scope = breakerbox::test::scope();
/// assert!(matches!(rooms("not a URL").await, Err(CallError::Call(_)))); // ignored
/// assert!(matches!(rooms("http://127.0.0.1:1").await, Err(CallError::Call(_)))); // refused
/// assert!(matches!(rooms("http://127.0.0.1:1").await, Err(CallError::Open(_))));
/// # }
/// ```
///
/// And where the function returns the response, whatever its status is:
///
/// ```
/// use breakerbox::{CallError, circuit_breaker, classify};
///
/// #[circuit_breaker(classify_output = classify::result(classify::response, classify::reqwest))]
/// async fn get(url: &str) -> Result<reqwest::Response, CallError<reqwest::Error>> {
///     Ok(reqwest::get(url).await?)
/// }
/// # let _ = get;
/// ```
#[must_use]
pub fn reqwest<H: Holds<Error>>(error: &H) -> Outcome {
    error.held().outcome(by_error)
}

fn by_error(error: &Error) -> Outcome {
    if let Some(code) = error.status() {
        return status(code);
    }
    if error.is_builder() || error.is_redirect() {
        return Outcome::Ignored;
    }
    if let Some(outcome) = within::circuit(error) {
        return outcome;
    }
    if sending_failed(error) || is_of_another_shape(error) {
        return Outcome::Ignored;
    }
    Outcome::Failure
}

/// Whether the body to be sent failed: it is reqwest's own error again, inside of
/// that of the request.
fn sending_failed(error: &Error) -> bool {
    error.is_request()
        && within::chain(error)
            .filter_map(|error| error.downcast_ref())
            .any(Error::is_body)
}

/// Whether the whole body came and was JSON, only not what it should be.
fn is_of_another_shape(error: &Error) -> bool {
    within::chain(error)
        .filter_map(|error| error.downcast_ref())
        .any(|error: &serde_json::Error| error.classify() == Category::Data)
}

/// [`error_for_status`](Response::error_for_status) for circuits: its error doesn't
/// lose the `Retry-After`.
pub trait ErrorWithRetryAfter: Sized {
    /// The response, or an error if its status is 4xx or 5xx, with the wait that
    /// the headers of a 429 or 503 say.
    ///
    /// In a function that returns `Result<_, CallError<WithRetryAfter<reqwest::Error>>>`
    /// its `?` just works, and so does that of reqwest's other methods;
    /// [`classify::reqwest`](reqwest()) shows it. For `reqwest::blocking`, and other
    /// clients whose errors lose the headers, [`WithRetryAfter::new`] makes the same.
    ///
    /// # Errors
    /// reqwest's own for the status, and the wait.
    fn error_with_retry_after(self) -> Result<Self, WithRetryAfter<Error>>;
}

impl ErrorWithRetryAfter for Response {
    fn error_with_retry_after(self) -> Result<Self, WithRetryAfter<Error>> {
        let wait = says_how_long(self.status())
            .then(|| retry_after(self.headers()))
            .flatten();
        self.error_for_status()
            .map_err(|error| WithRetryAfter::new(error, wait))
    }
}

impl HttpOutput for Response {
    fn head(&self) -> Option<(StatusCode, &HeaderMap)> {
        Some((self.status(), self.headers()))
    }
}

/// By the status of an error that was made of a response.
impl<H: Holds<Error>> CodeOf<H> for StatusCode {
    fn is_of(&self, error: &H) -> bool {
        error.held().error().and_then(Error::status) == Some(*self)
    }
}

/// By its status.
impl CodeOf<Response> for StatusCode {
    fn is_of(&self, response: &Response) -> bool {
        response.status() == *self
    }
}

/// So that `?` makes a [`CallError::Call`] of it.
impl From<Error> for CallError<Error> {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

/// So that `?` makes a [`CallError::Call`] of it.
impl From<Error> for CallError<WithRetryAfter<Error>> {
    fn from(error: Error) -> Self {
        Self::Call(error.into())
    }
}
