//! A call of a guarded service.

use super::ending::sealed::Settles;
use super::refuse::sealed::Refuses;
use crate::claim::Claim;
use crate::error::CircuitOpenError;
use crate::owner::Owner;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;

pin_project! {
    /// A call of a [`CircuitBreaker`](super::CircuitBreaker). Dropped before it has
    /// ended, it was given up.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F, G, K, R, M>
    where
        G: Owner,
    {
        #[pin]
        call: Admitted<F, G>,
        // Empty once it has ended, and while the call runs.
        rest: Option<Rest<K, R, M>>,
    }
}

pin_project! {
    #[project = AdmittedProjection]
    enum Admitted<F, G>
    where
        G: Owner,
    {
        Call {
            // Dropped first: a call is over before its place is given back.
            #[pin]
            call: F,
            claim: Option<Claim<G>>,
        },
        Refused {
            open: Option<CircuitOpenError>,
        },
    }
}

/// What is to be done once the call has ended.
pub(crate) struct Rest<K, R, M> {
    pub(crate) classify: K,
    pub(crate) refuse: R,
    pub(crate) ending: M,
}

impl<F, G: Owner, K, R, M> ResponseFuture<F, G, K, R, M> {
    #[inline]
    pub(crate) fn new(call: F, claim: Claim<G>, rest: Rest<K, R, M>) -> Self {
        Self {
            call: Admitted::Call {
                call,
                claim: Some(claim),
            },
            rest: Some(rest),
        }
    }

    #[inline]
    pub(crate) fn refused(open: CircuitOpenError, rest: Rest<K, R, M>) -> Self {
        Self {
            call: Admitted::Refused { open: Some(open) },
            rest: Some(rest),
        }
    }
}

impl<F, G, K, R, M, T, E> Future for ResponseFuture<F, G, K, R, M>
where
    F: Future<Output = Result<T, E>>,
    G: Owner,
    R: Refuses<T, E>,
    M: Settles<T, E, G, K>,
{
    type Output = Result<M::Response, R::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Some(rest) = this.rest.take() else {
            polled_after_its_end()
        };
        let (call, kept) = match this.call.project() {
            AdmittedProjection::Call { call, claim } => (call, claim),
            AdmittedProjection::Refused { open } => {
                let Some(open) = open.take() else {
                    polled_after_its_end()
                };
                return Poll::Ready(rest.refuse.refused(open).map(M::made));
            }
        };
        let Some(mut claim) = kept.take() else {
            polled_after_its_end()
        };
        let Poll::Ready(output) = claim.watch(|| call.poll(context)) else {
            *this.rest = Some(rest);
            *kept = Some(claim);
            return Poll::Pending;
        };
        let ended = rest.ending.head(claim, rest.classify, output);
        Poll::Ready(ended.map_err(|error| rest.refuse.failed(error)))
    }
}

/// Like an async block: polled after it was ready, or had panicked.
#[cold]
fn polled_after_its_end() -> ! {
    panic!("a call of a guarded service was polled after it had ended")
}

impl<F, G: Owner, K, R, M> fmt::Debug for ResponseFuture<F, G, K, R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("ResponseFuture");
        match &self.call {
            Admitted::Call { claim, .. } => debug.field("claim", claim),
            Admitted::Refused { open } => debug.field("open", open),
        };
        debug.finish_non_exhaustive()
    }
}
