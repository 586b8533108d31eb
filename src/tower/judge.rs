//! What a response counts as.

use crate::classify::{grpc_headers, response};
use crate::verdict::{ByError, ByOutput, Classify, EveryErr};
use breaker_core::Outcome;
use http::{HeaderMap, Response};

/// What counts, where trailers say more than the head did.
pub trait ByTrailers {
    /// Whether they are waited for, also where all of the body is known to have come.
    const AWAITED: bool = false;

    /// `None`: what the head said stands.
    fn by_trailers(trailers: &HeaderMap) -> Option<Outcome>;
}

macro_rules! by_head_alone {
    ($($way:ty $(, $parameter:ident)*;)*) => {$(
        impl<$($parameter),*> ByTrailers for $way {
            #[inline]
            fn by_trailers(_: &HeaderMap) -> Option<Outcome> {
                None
            }
        }
    )*};
}

by_head_alone! {
    EveryErr;
    ByError<F>, F;
    ByOutput<F>, F;
    Http<K>, K;
}

/// A response by its status and its `Retry-After`; an error by `K`.
#[derive(Clone, Copy, Debug)]
pub struct Http<K = EveryErr>(pub(crate) K);

/// A response by its `grpc-status`; an error by `K`.
#[derive(Clone, Copy, Debug)]
pub struct Grpc<K = EveryErr>(pub(crate) K);

/// A classifier of errors alone, or beside one of responses. Sealed.
pub trait Errors: sealed::Errors {}

impl<K: sealed::Errors> Errors for K {}

pub(crate) mod sealed {
    pub trait Errors {
        /// The same, whose errors `N` classifies.
        type By<N>;

        fn by<N>(self, errors: N) -> Self::By<N>;
    }
}

macro_rules! errors_alone {
    ($($way:ty $(, $parameter:ident)*;)*) => {$(
        impl<$($parameter),*> sealed::Errors for $way {
            type By<N> = N;

            fn by<N>(self, errors: N) -> N {
                errors
            }
        }
    )*};
}

errors_alone! {
    EveryErr;
    ByError<F>, F;
    ByOutput<F>, F;
}

macro_rules! beside_responses {
    ($($way:ident),*) => {$(
        impl<K: sealed::Errors> sealed::Errors for $way<K> {
            type By<N> = $way<K::By<N>>;

            fn by<N>(self, errors: N) -> $way<K::By<N>> {
                $way(self.0.by(errors))
            }
        }
    )*};
}

beside_responses!(Http, Grpc);

impl<K> ByTrailers for Grpc<K> {
    const AWAITED: bool = true;

    fn by_trailers(trailers: &HeaderMap) -> Option<Outcome> {
        grpc_headers(trailers)
    }
}

impl<B, E, K: Classify<Result<Response<B>, E>>> Classify<Result<Response<B>, E>> for Http<K> {
    fn classify(self, output: &Result<Response<B>, E>) -> Outcome {
        match output {
            Ok(head) => response(head),
            Err(_) => self.0.classify(output),
        }
    }
}

#[cfg(feature = "reqwest")]
impl<E, K> Classify<Result<reqwest::Response, E>> for Http<K>
where
    K: Classify<Result<reqwest::Response, E>>,
{
    fn classify(self, output: &Result<reqwest::Response, E>) -> Outcome {
        match output {
            Ok(head) => response(head),
            Err(_) => self.0.classify(output),
        }
    }
}

impl<B, E, K: Classify<Result<Response<B>, E>>> Classify<Result<Response<B>, E>> for Grpc<K> {
    fn classify(self, output: &Result<Response<B>, E>) -> Outcome {
        match output {
            Ok(head) => grpc_headers(head.headers()).unwrap_or_else(|| response(head)),
            Err(_) => self.0.classify(output),
        }
    }
}
