//! A guarded service.

use super::CircuitBreakerLayer;
use super::ending::{AtHead, Awaits, Settles};
use super::future::{ResponseFuture, Rest};
use super::refuse::{AsCallError, Refuses};
use super::reserved::Reserved;
use super::which::{Finds, Which};
use crate::call::judge;
use crate::verdict::{Classify, EveryErr};
use core::fmt;
use core::task::{Context, Poll, ready};
use tower_service::Service;

/// A service behind a breaker, made by [`CircuitBreakerLayer`]: see the
/// [module](super).
pub struct CircuitBreaker<S, B: Which, K = EveryErr, R = AsCallError, M = AtHead> {
    inner: S,
    how: CircuitBreakerLayer<B, K, R, M>,
    /// For the next call.
    reserved: Reserved<B::Owner>,
}

impl<S, B: Which, K, R, M> CircuitBreaker<S, B, K, R, M> {
    pub(super) fn new(inner: S, how: CircuitBreakerLayer<B, K, R, M>) -> Self {
        Self {
            inner,
            how,
            reserved: Reserved::nothing(),
        }
    }

    /// The service that is guarded.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The service that is guarded. What is called by it passes the breaker by.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The service, without its guard.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, Req, B, K, R, M> Service<Req> for CircuitBreaker<S, B, K, R, M>
where
    S: Service<Req>,
    B: Finds<Req>,
    K: Classify<Result<S::Response, S::Error>> + Clone,
    R: Refuses<S::Response, S::Error> + Clone,
    M: Settles<S::Response, S::Error, B::Owner, K> + Awaits<Req> + Clone,
{
    type Response = M::Response;
    type Error = R::Error;
    type Future = ResponseFuture<S::Future, B::Owner, K, R, M>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), R::Error>> {
        let refused = match self.how.breaker.known() {
            Some(owner) => !self.reserved.ask(owner),
            None => false,
        };
        if refused {
            // Ready to refuse: whatever becomes of the inner service is not waited for.
            return Poll::Ready(Ok(()));
        }
        let inner = &mut self.inner;
        let Err(error) = ready!(self.reserved.watch(|| inner.poll_ready(context))) else {
            return Poll::Ready(Ok(()));
        };
        let output = Err(error);
        let classify = self.how.classify.clone();
        self.reserved.end(|ticket| {
            judge(ticket, classify, &output);
        });
        Poll::Ready(
            output
                .map(|_: S::Response| ())
                .map_err(|error| self.how.refuse.clone().failed(error)),
        )
    }

    fn call(&mut self, request: Req) -> Self::Future {
        let how = &self.how;
        let rest = Rest {
            classify: how.classify.clone(),
            refuse: how.refuse.clone(),
            ending: how.ending.clone().answer_to(&request),
        };
        match self.reserved.begin(|| how.breaker.find(&request)) {
            Ok(mut claim) => {
                let inner = &mut self.inner;
                let call = claim.watch(|| inner.call(request));
                ResponseFuture::new(call, claim, rest)
            }
            Err(open) => ResponseFuture::refused(open, rest),
        }
    }
}

/// A clone has no place reserved: it asks for its own.
impl<S: Clone, B: Which, K: Clone, R: Clone, M: Clone> Clone for CircuitBreaker<S, B, K, R, M> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), self.how.clone())
    }
}

impl<S: fmt::Debug, B: Which, K, R, M> fmt::Debug for CircuitBreaker<S, B, K, R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CircuitBreaker")
            .field("inner", &self.inner)
            .field("reserved", &self.reserved)
            .finish_non_exhaustive()
    }
}
