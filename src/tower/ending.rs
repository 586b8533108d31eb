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
use http::Response;
use http_body::Body;

/// When the outcome is settled. Sealed.
pub trait Settles<T, E, G: Owner, K>: sealed::Settles<T, E, G, K> {}

impl<T, E, G: Owner, K, M: sealed::Settles<T, E, G, K>> Settles<T, E, G, K> for M {}

pub(crate) mod sealed {
    use crate::claim::Claim;
    use crate::owner::Owner;

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
pub struct AtEndOfBody<X = EveryBodyError>(pub(crate) X);

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
        body: &B,
        mut claim: Claim<G>,
        outcome: Outcome,
    ) -> Option<OpenEnd<G, K, X>>
    where
        B: Body,
        G: Owner,
    {
        // What failed by its head has failed.
        let is_open = matches!(outcome, Outcome::Success | Outcome::Ignored);
        if !is_open || claim.watch(|| body.is_end_stream()) {
            claim.settle(outcome, Given::NONE);
            return None;
        }
        Some(OpenEnd {
            claim,
            outcome,
            by_error: self.0,
            by_trailers: PhantomData,
        })
    }
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
                let end = self.wait_for(response.body(), claim, outcome);
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
