//! HTTP's status codes, and whole responses.

use super::{CodeOf, retry_after};
use breaker_core::Outcome;
use http::header::HeaderMap;
use http::{Response, StatusCode, response};

/// By status: what says that others would fare no better counts, and what is about
/// this one request does not.
///
/// | status | outcome | why |
/// | --- | --- | --- |
/// | 1xx, 2xx, 3xx | success | it answered |
/// | 408 | failure | it, or a proxy before it, waited too long for the request: a timeout, seen from the other end |
/// | 429 | failure | fewer calls are what it asks for |
/// | 400, 404, 409, 410, 422 and all other 4xx | ignored | the caller's mistake, or simply the answer |
/// | 401, 403, 407 | ignored | the caller's credentials: an open circuit would only hide that |
/// | 421, 425 | ignored | about this connection: the same request may be made on another one |
/// | 500, 502, 503, 504, 507, 508, 511, 52x and all other 5xx | failure | it is broken, or what is behind it |
/// | 501, 505 | failure | it can't, however long one waits. Where a dependency really sends them for some requests, take them out: `all((classify::status, not(only([..]))))` |
/// | 600 and above | failure | not HTTP; to be taken for a 5xx ([RFC 9110, 15]) |
///
/// A status alone says nothing of a `Retry-After`: [`response()`] does.
///
/// ```
/// use breakerbox::{Outcome, classify};
/// use http::StatusCode;
///
/// assert_eq!(classify::status(StatusCode::NOT_MODIFIED), Outcome::Success);
/// assert_eq!(classify::status(StatusCode::NOT_FOUND), Outcome::Ignored);
/// assert_eq!(classify::status(StatusCode::BAD_GATEWAY), Outcome::Failure);
/// ```
///
/// [RFC 9110, 15]: https://www.rfc-editor.org/rfc/rfc9110#section-15-5
#[must_use]
pub fn status(status: StatusCode) -> Outcome {
    match status.as_u16() {
        ..400 => Outcome::Success,
        408 | 429 | 500.. => Outcome::Failure,
        _ => Outcome::Ignored,
    }
}

/// By a response's [`status()`], and where that is 429 or 503 by its `Retry-After`:
/// [`Outcome::Overloaded`] for as long as [`retry_after()`] says. On any other
/// status the header is not looked at.
///
/// For `classify_output`, and for layers. Takes a `http::Response`, a
/// `reqwest::Response` (feature `reqwest`), the `Parts` of one, and a `Result` of
/// these, of which every `Err` counts as a failure: for an `Err` with a classifier
/// of its own there is [`result`](super::result).
///
/// How long to wait is as the dependency says, be it a year: put
/// [`at_most`](super::at_most) around it.
///
/// ```
/// use breakerbox::{CallError, circuit_breaker, classify};
/// use http::Response;
/// use std::time::Duration;
///
/// type Answer = Result<Response<String>, CallError<&'static str>>;
///
/// #[circuit_breaker(
///     threshold = 5,
///     classify_output = classify::at_most(Duration::from_secs(120), classify::response),
/// )]
/// fn get(answer: Response<&str>) -> Answer {
///     Ok(answer.map(String::from))
/// }
///
/// let scope = breakerbox::test::scope();
/// let overloaded = Response::builder().status(503).header("retry-after", "20").body("");
/// assert_eq!(get(overloaded.unwrap()).unwrap().status(), 503); // as it is; it opens, for 20 s
/// scope.advance(Duration::from_secs(19));
/// assert!(matches!(get(Response::new("rooms")), Err(CallError::Open(_))));
/// scope.advance(Duration::from_secs(1));
/// assert_eq!(get(Response::new("rooms")).unwrap().body(), "rooms");
/// ```
#[must_use]
pub fn response<O: HttpOutput>(output: &O) -> Outcome {
    let Some((code, headers)) = output.head() else {
        return Outcome::Failure;
    };
    match retry_after(headers) {
        Some(wait) if says_how_long(code) => Outcome::Overloaded(wait),
        _ => status(code),
    }
}

/// Whether a `Retry-After` beside it means: leave me alone. (Beside a redirect, say,
/// it means something else.)
pub(super) fn says_how_long(code: StatusCode) -> bool {
    matches!(
        code,
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
    )
}

/// What there is after an HTTP call: what [`response()`] takes.
///
/// ```
/// use breakerbox::Outcome;
/// use breakerbox::classify::{self, HttpOutput};
/// use http::{HeaderMap, StatusCode};
///
/// struct Fetched {
///     status: StatusCode,
///     headers: HeaderMap,
/// }
///
/// impl HttpOutput for Fetched {
///     fn head(&self) -> Option<(StatusCode, &HeaderMap)> {
///         Some((self.status, &self.headers))
///     }
/// }
///
/// let headers = HeaderMap::new();
/// let fetched = Fetched { status: StatusCode::BAD_GATEWAY, headers };
/// assert_eq!(classify::response(&fetched), Outcome::Failure);
/// ```
#[diagnostic::on_unimplemented(
    message = "`classify::response` takes a response or a `Result` of one, not `{Self}`",
    label = "`{Self}` is not known to hold a status and headers",
    note = "for the error of a client, write `classify = ..` with the classifier of that client",
    note = "for an output of your own, implement `breakerbox::classify::HttpOutput`, or write `classify_output = |output| classify::response(&output.response)`"
)]
pub trait HttpOutput {
    /// Status and headers of the response, if there was one.
    fn head(&self) -> Option<(StatusCode, &HeaderMap)>;
}

impl<B> HttpOutput for Response<B> {
    fn head(&self) -> Option<(StatusCode, &HeaderMap)> {
        Some((self.status(), self.headers()))
    }
}

impl HttpOutput for response::Parts {
    fn head(&self) -> Option<(StatusCode, &HeaderMap)> {
        Some((self.status, &self.headers))
    }
}

impl<O: HttpOutput, E> HttpOutput for Result<O, E> {
    fn head(&self) -> Option<(StatusCode, &HeaderMap)> {
        self.as_ref().ok()?.head()
    }
}

/// By its status.
impl<B> CodeOf<Response<B>> for StatusCode {
    fn is_of(&self, response: &Response<B>) -> bool {
        response.status() == *self
    }
}
