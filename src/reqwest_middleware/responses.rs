//! reqwest's responses: what they count as, and their bodies.

use crate::bound::Given;
use crate::claim::Claim;
use crate::classify;
use crate::owner::Owner;
use crate::tower::ending::sealed::Settles;
use crate::tower::ending::sealed_errors::BodyErrors;
use crate::tower::judge::ByTrailers;
use crate::tower::{AtEndOfBody, GuardedBody};
use crate::verdict::Classify;
use ::reqwest_middleware::{Error, Result};
use breaker_core::Outcome;
use reqwest::{Body, Response, ResponseBuilderExt};

/// An error by [`classify::reqwest`](classify::reqwest()).
#[derive(Clone, Copy, Debug, Default)]
pub struct ByClient;

impl ByTrailers for ByClient {
    fn by_trailers(_: &http::HeaderMap) -> Option<Outcome> {
        None
    }
}

impl Classify<Result<Response>> for ByClient {
    fn classify(self, output: &Result<Response>) -> Outcome {
        match output {
            Ok(_) => Outcome::Success,
            Err(error) => classify::reqwest(error),
        }
    }
}

impl<G, K, X> Settles<Response, Error, G, K> for AtEndOfBody<X>
where
    G: Owner,
    K: Classify<Result<Response>> + ByTrailers + Send + Sync + 'static,
    X: BodyErrors<reqwest::Error> + Send + Sync + 'static,
{
    type Response = Response;

    fn head(self, mut claim: Claim<G>, classify: K, output: Result<Response>) -> Result<Response> {
        let outcome = claim.watch(|| classify.classify(&output));
        let response = match output {
            Ok(response) => response,
            Err(error) => {
                claim.settle(outcome, Given::NONE);
                return Err(error);
            }
        };
        // Of what it is made of, only the address is not in the parts.
        let address = http::response::Builder::new().url(response.url().clone());
        let (mut parts, body) = http::Response::from(response).into_parts();
        if let Ok(address) = address.body(()) {
            parts.extensions.extend(address.into_parts().0.extensions);
        }
        let end = self.wait_for(parts.status, &parts.headers, &body, claim, outcome);
        let body = Body::wrap(GuardedBody::<_, G, K, X> { body, end });
        Ok(http::Response::from_parts(parts, body).into())
    }

    fn made(response: Response) -> Response {
        response
    }
}
