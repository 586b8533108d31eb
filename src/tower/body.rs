//! The body of a response, at whose end the call is settled.

use super::ending::sealed_errors::BodyErrors;
use super::judge::ByTrailers;
use crate::bound::Given;
use crate::claim::Claim;
use crate::owner::Owner;
use breaker_core::Outcome;
use bytes::Buf;
use core::fmt;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

pin_project! {
    /// The body of a response whose call is settled at its end: with
    /// [`at_end_of_body`](super::CircuitBreakerLayer::at_end_of_body).
    ///
    /// Everything passes through. Dropped before its end, its call was given up.
    pub struct GuardedBody<B, G, K, X = super::EveryBodyError>
    where
        B: Body,
        G: Owner,
    {
        // Dropped first: a call is over before its place is given back.
        #[pin]
        pub(crate) body: B,
        // Empty once the call is settled.
        pub(crate) end: Option<OpenEnd<G, K, X>>,
    }

    impl<B, G, K, X> PinnedDrop for GuardedBody<B, G, K, X>
    where
        B: Body,
        G: Owner,
    {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            // Read to its end, of which nobody asked it again.
            if let Some(end) = this.end
                && this.body.is_end_stream()
            {
                end.claim.settle(end.outcome, Given::NONE);
            }
        }
    }
}

/// A call that waits for the end of its response's body.
pub(crate) struct OpenEnd<G: Owner, K, X> {
    pub(crate) claim: Claim<G>,
    /// By the head.
    pub(crate) outcome: Outcome,
    /// Bytes that have yet to come, where that is known. Who has them all need not ask for the
    /// end, and a server doesn't.
    pub(crate) left: Option<u64>,
    pub(crate) by_error: X,
    pub(crate) by_trailers: PhantomData<fn() -> K>,
}

impl<G: Owner, K, X> OpenEnd<G, K, X> {
    /// Whether these bytes are the last of as many as there are.
    fn are_last(&mut self, bytes: usize) -> bool {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.left = self.left.map(|left| left.saturating_sub(bytes));
        self.left == Some(0)
    }

    fn settle(mut self, outcome: Outcome) {
        self.claim.settle(outcome, Given::NONE);
    }
}

impl<B, G, K, X> Body for GuardedBody<B, G, K, X>
where
    B: Body,
    G: Owner,
    K: ByTrailers,
    X: BodyErrors<B::Error>,
{
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        let Some(mut end) = this.end.take() else {
            return this.body.poll_frame(context);
        };
        let body = this.body.as_mut();
        let polled = end.claim.watch(|| body.poll_frame(context));
        match &polled {
            Poll::Ready(None) => {
                let outcome = end.outcome;
                end.settle(outcome);
            }
            Poll::Ready(Some(Err(error))) => {
                let OpenEnd {
                    mut claim,
                    by_error,
                    ..
                } = end;
                let outcome = claim.watch(|| by_error.outcome(error));
                claim.settle(outcome, Given::NONE);
            }
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(trailers) = frame.trailers_ref() {
                    let outcome = K::by_trailers(trailers).unwrap_or(end.outcome);
                    end.settle(outcome);
                    return polled;
                }
                let bytes = frame.data_ref().map_or(0, Buf::remaining);
                let body = this.body.as_ref();
                if end.are_last(bytes) || end.claim.watch(|| body.is_end_stream()) {
                    let outcome = end.outcome;
                    end.settle(outcome);
                } else {
                    *this.end = Some(end);
                }
            }
            Poll::Pending => *this.end = Some(end),
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B: Body, G: Owner, K, X> fmt::Debug for GuardedBody<B, G, K, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedBody")
            .field("claim", &self.end.as_ref().map(|end| &end.claim))
            .finish_non_exhaustive()
    }
}

/// That of an answer which was made in place of a call.
impl<B: Body + Default, G: Owner, K, X> Default for GuardedBody<B, G, K, X> {
    fn default() -> Self {
        Self {
            body: B::default(),
            end: None,
        }
    }
}
