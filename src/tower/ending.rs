//! When the outcome is settled: at the response's head, or at the end of its body.

use super::body::{GuardedBody, OpenEnd};
use super::judge::ByTrailers;
use crate::bound::Given;
use crate::call::judge;
use crate::claim::Claim;
use crate::owner::Owner;
use crate::verdict::Classify;
use breaker_core::Outcome;
use core::marker::PhantomData;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use http_body::Body;

/// When the outcome is settled. Sealed.
pub trait Settles<T, E, G: Owner, K>: sealed::Settles<T, E, G, K> {}

impl<T, E, G: Owner, K, M: sealed::Settles<T, E, G, K>> Settles<T, E, G, K> for M {}

pub(crate) mod sealed {
    use crate::claim::Claim;
    use crate::owner::Owner;

    #[diagnostic::on_unimplemented(
        message = "`{Self}` does not settle a call that gives a `{T}`",
        label = "the response of this service is a `{T}`",
        note = "`at_end_of_body` is for an `http::Response`, whose body is an `http_body::Body`"
    )]
    pub trait Settles<T, E, G: Owner, K> {
        type Response;

        /// The head is there, or an error in its place.
        fn head(
            self,
            claim: Claim<G>,
            classify: K,
            output: Result<T, E>,
        ) -> Result<Self::Response, E>;

        /// A response that was made in place of a call.
        fn made(response: T) -> Self::Response;
    }
}

/// The outcome is settled at the response, whatever its body has yet to tell.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtHead;

impl<T, E, G, K> sealed::Settles<T, E, G, K> for AtHead
where
    G: Owner,
    K: Classify<Result<T, E>>,
{
    type Response = T;

    #[inline]
    fn head(self, mut claim: Claim<G>, classify: K, output: Result<T, E>) -> Result<T, E> {
        claim.step(|ticket| judge(ticket, classify, &output));
        output
    }

    #[inline]
    fn made(response: T) -> T {
        response
    }
}

/// The outcome of a call that did not fail by its head is settled at the end of the
/// response's body.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtEndOfBody<X = EveryBodyError> {
    by_error: X,
    /// By the request: a body that its answer may have is not sent.
    is_unread: bool,
}

impl<X> AtEndOfBody<X> {
    pub(crate) const fn new(by_error: X) -> Self {
        Self {
            by_error,
            is_unread: false,
        }
    }
}

/// What is to be known of a request before it is called. Sealed.
pub trait Awaits<Req>: sealed_awaits::Awaits<Req> {}

impl<Req, M: sealed_awaits::Awaits<Req>> Awaits<Req> for M {}

pub(crate) mod sealed_awaits {
    pub trait Awaits<Req> {
        fn answer_to(self, request: &Req) -> Self;
    }
}

impl<Req> sealed_awaits::Awaits<Req> for AtHead {
    #[inline]
    fn answer_to(self, _: &Req) -> Self {
        self
    }
}

impl<Req: AsksForBody, X> sealed_awaits::Awaits<Req> for AtEndOfBody<X> {
    #[inline]
    fn answer_to(self, request: &Req) -> Self {
        Self {
            is_unread: !request.asks_for_body(),
            ..self
        }
    }
}

/// Whether the body of a request's answer is read, for
/// [`at_end_of_body`](super::CircuitBreakerLayer::at_end_of_body). `http::Request` knows (with the
/// feature `reqwest` also `reqwest::Request`): that of an answer to `HEAD` is not, nor to `CONNECT`.
///
/// For a request of your own:
///
/// ```
/// use breakerbox::tower::AsksForBody;
///
/// struct Query(String);
///
/// impl AsksForBody for Query {}
/// # assert!(Query(String::new()).asks_for_body());
/// ```
#[diagnostic::on_unimplemented(
    message = "with `at_end_of_body`, `{Self}` does not say whether the body of its answer is read",
    label = "expected an `http::Request`",
    note = "put the layer where requests are `http::Request`s, or write `impl AsksForBody for` your own kind of request"
)]
pub trait AsksForBody {
    /// `false`: no body is read, so the call is settled at the head.
    fn asks_for_body(&self) -> bool {
        true
    }
}

impl<B> AsksForBody for http::Request<B> {
    fn asks_for_body(&self) -> bool {
        has_body(self.method())
    }
}

#[cfg(feature = "reqwest")]
impl AsksForBody for reqwest::Request {
    fn asks_for_body(&self) -> bool {
        has_body(self.method())
    }
}

/// Whether an answer to it may have one.
fn has_body(method: &Method) -> bool {
    !matches!(*method, Method::HEAD | Method::CONNECT)
}

/// Every error of a body counts as a failure.
#[derive(Clone, Copy, Debug, Default)]
pub struct EveryBodyError;

/// A classifier of the errors of bodies.
#[derive(Clone, Copy, Debug)]
pub struct ByBodyError<F>(pub(crate) F);

/// Says what an error of a body counts as. Sealed.
pub trait BodyErrors<E>: sealed_errors::BodyErrors<E> {}

impl<E, X: sealed_errors::BodyErrors<E>> BodyErrors<E> for X {}

pub(crate) mod sealed_errors {
    use breaker_core::Outcome;

    pub trait BodyErrors<E> {
        fn outcome(self, error: &E) -> Outcome;
    }
}

impl<E> sealed_errors::BodyErrors<E> for EveryBodyError {
    #[inline]
    fn outcome(self, _: &E) -> Outcome {
        Outcome::Failure
    }
}

impl<E, F, R> sealed_errors::BodyErrors<E> for ByBodyError<F>
where
    F: FnOnce(&E) -> R,
    R: crate::verdict::Verdict,
{
    #[inline]
    fn outcome(self, error: &E) -> Outcome {
        (self.0)(error).outcome(Outcome::Ignored)
    }
}

impl<X> AtEndOfBody<X> {
    /// Settles by the head, where there is nothing to wait for.
    pub(crate) fn wait_for<B, G, K>(
        self,
        status: StatusCode,
        headers: &HeaderMap,
        body: &B,
        mut claim: Claim<G>,
        outcome: Outcome,
    ) -> Option<OpenEnd<G, K, X>>
    where
        B: Body,
        G: Owner,
        K: ByTrailers,
    {
        // What failed by its head has failed.
        let is_open = matches!(outcome, Outcome::Success | Outcome::Ignored);
        let is_read = !self.is_unread && !has_no_body(status);
        let (is_over, length) = claim.watch(|| (body.is_end_stream(), length(headers, body)));
        let left = length.filter(|_| !K::AWAITED);
        if !is_open || !is_read || is_over || left == Some(0) {
            claim.settle(outcome, Given::NONE);
            return None;
        }
        Some(OpenEnd {
            claim,
            outcome,
            left,
            by_error: self.by_error,
            by_trailers: PhantomData,
        })
    }
}

/// A server that is given one throws it away.
fn has_no_body(status: StatusCode) -> bool {
    status.is_informational() || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// How long a body says that it is, by its head or by itself.
fn length<B: Body>(headers: &HeaderMap, body: &B) -> Option<u64> {
    let said = headers.get(CONTENT_LENGTH).map(HeaderValue::to_str);
    let said = said.and_then(|length| length.ok()?.parse().ok());
    said.or_else(|| body.size_hint().exact())
}

impl<B, E, G, K, X> sealed::Settles<Response<B>, E, G, K> for AtEndOfBody<X>
where
    B: Body,
    G: Owner,
    K: Classify<Result<Response<B>, E>> + ByTrailers,
    X: sealed_errors::BodyErrors<B::Error>,
{
    type Response = Response<GuardedBody<B, G, K, X>>;

    fn head(
        self,
        mut claim: Claim<G>,
        classify: K,
        output: Result<Response<B>, E>,
    ) -> Result<Self::Response, E> {
        let outcome = claim.watch(|| classify.classify(&output));
        match output {
            Ok(response) => {
                let (status, headers) = (response.status(), response.headers());
                let end = self.wait_for(status, headers, response.body(), claim, outcome);
                Ok(response.map(|body| GuardedBody { body, end }))
            }
            Err(error) => {
                claim.settle(outcome, Given::NONE);
                Err(error)
            }
        }
    }

    fn made(response: Response<B>) -> Self::Response {
        response.map(|body| GuardedBody { body, end: None })
    }
}
