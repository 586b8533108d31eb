//! A middleware for [`reqwest-middleware`](::reqwest_middleware): a breaker in every request of a
//! `reqwest` client.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! use breakerbox::reqwest_middleware::{CircuitBreakerMiddleware, refusal};
//! use breakerbox::{Config, KeyedBreakers, Settings};
//! use reqwest_middleware::ClientBuilder;
//!
//! /// One breaker for each host.
//! static HOSTS: KeyedBreakers<String> =
//!     KeyedBreakers::new("hosts", Settings::new().threshold(2).must());
//!
//! # let _scope = breakerbox::test::scope();
//! let client = ClientBuilder::new(reqwest::Client::new())
//!     .with(CircuitBreakerMiddleware::by_host(&HOSTS))
//!     .build();
//! for _ in 0..2 {
//!     let error = client.get("http://127.0.0.1:1/rooms").send().await.unwrap_err();
//!     assert!(error.is_connect()); // nobody is there
//! }
//! let error = client.get("http://127.0.0.1:1/rooms").send().await.unwrap_err();
//! let refused = refusal(&error).unwrap();
//! assert_eq!(refused.key().unwrap().to_string(), "127.0.0.1:1");
//! assert!(refused.retry_after().is_some());
//! # }
//! ```
//!
//! # What to write
//! | | |
//! | --- | --- |
//! | **which breaker** | |
//! | [`new(&PMS)`](CircuitBreakerMiddleware::new), [`new(shared)`](CircuitBreakerMiddleware::new) | one for all requests |
//! | [`by_host(&HOSTS)`](CircuitBreakerMiddleware::by_host) | one for each host, with its port if that is not the scheme's own |
//! | [`by_key(&ACCOUNTS, f)`](CircuitBreakerMiddleware::by_key), [`by_owned_key`](CircuitBreakerMiddleware::by_owned_key) | one for each key of a request |
//! | **what counts** | |
//! | (nothing) | responses by [status and `Retry-After`](crate::classify::response()), errors by [`classify::reqwest`](crate::classify::reqwest()); see [below](#errors) |
//! | [`classify(f)`](CircuitBreakerMiddleware::classify) | the same of responses, errors by `f` |
//! | [`classify_output(f)`](CircuitBreakerMiddleware::classify_output) | the whole `reqwest_middleware::Result<Response>` |
//! | **when it is settled** | |
//! | (nothing) | when the response is there |
//! | [`at_end_of_body()`](CircuitBreakerMiddleware::at_end_of_body) | when its body has been read |
//!
//! It is not built for WebAssembly: what `reqwest` gives there is not `Send`. There, annotate the
//! function that makes the request.
//!
//! A response passes through as it is, also one of 503. A call that is dropped, a body that is
//! dropped before its end, and a panic are what they are to [tower's layer](crate::tower).
//!
//! # Errors
//! A refused request gives `Error::Middleware`, whose source is the [`CircuitOpenError`].
//! [`refusal`] finds it, also within the error of another middleware.
//!
//! `reqwest_middleware::Error` holds a `reqwest::Error` to classifiers
//! ([`Holds`](crate::classify::Holds)): so
//! [`classify::reqwest`](crate::classify::reqwest()) takes it, here and in the attribute. What
//! another middleware has failed with is searched for one; where none shows it counts, since nobody
//! knows what it is (`reqwest-retry` hides one that it has not retried: see below). A refusal of a circuit further in is ignored. And it has a `From` of
//! [`CircuitOpenError`] and [`TimeoutError`], so that it may be an annotated function's
//! error.
//!
//! # Beside `reqwest-retry`
//! Middlewares are called in the order in which they were added.
//!
//! - `.with(breaker).with(retry)`: the retry inside, which is the better one. Its tries are one
//!   call, and what it mends is no failure. An error that was not worth a second try, like a bad
//!   address, comes as a `RetryError::Error` that doesn't show what it holds, and so it counts.
//!   To look into it, ask for that type in [`classify`](CircuitBreakerMiddleware::classify):
//!   `error.downcast_ref::<RetryError>()`.
//! - `.with(retry).with(breaker)`: the retry outside. Each try is a call, and a refusal ends it:
//!   the retry takes an error of a middleware for final, so an open circuit is not stormed. Who
//!   wants to wait for the circuit has [`CircuitOpenError::retry_after`] to wait by.
//!
//! [`CircuitOpenError`]: crate::CircuitOpenError
//! [`CircuitOpenError::retry_after`]: crate::CircuitOpenError::retry_after
//! [`TimeoutError`]: crate::TimeoutError

mod errors;
mod responses;

pub use errors::refusal;

use crate::claim::Claim;
use crate::error::CircuitOpenError;
use crate::guard::KeyedGuard;
use crate::keyed::Key;
use crate::owner::Owner;
use crate::owner::sealed::Owner as _;
use crate::subject::sealed::Subject as _;
use crate::tower::ending::sealed::Settles;
use crate::tower::future::{ResponseFuture, Rest};
use crate::tower::which::sealed::Finds;
use crate::tower::{
    AtEndOfBody, AtHead, ByBodyError, ByError, ByHost, ByKey, ByOutput, ByOwnedKey, EveryBodyError,
    Http, WhenOpen, Which,
};
use crate::verdict::{Classify, Verdict};
use ::reqwest_middleware::{Error, Middleware, Next, Result};
use core::fmt;
use http::Extensions;
use reqwest::{Request, Response};
pub use responses::ByClient;

/// A breaker in the requests of a client: see the [module](self).
#[derive(Clone, Copy)]
pub struct CircuitBreakerMiddleware<B, K = Http<ByClient>, M = AtHead> {
    breaker: B,
    classify: K,
    ending: M,
}

impl<G: Owner> CircuitBreakerMiddleware<G> {
    /// One breaker for all requests: `&'static Breaker`, `Arc<Breaker>`, or a
    /// [`KeyedBreaker`](crate::KeyedBreaker).
    #[must_use]
    pub const fn new(breaker: G) -> Self {
        Self::by(breaker)
    }
}

impl<B: KeyedGuard<Key = String> + Clone> CircuitBreakerMiddleware<ByHost<B>> {
    /// One breaker for each host: `host`, or `host:port` where the port is not the
    /// scheme's own, as for [`tower`](crate::tower::host). What `reqwest` is redirected to counts
    /// for the host that was asked.
    #[must_use]
    pub fn by_host(breakers: B) -> Self {
        Self::by(ByHost::new(breakers))
    }
}

impl<B: KeyedGuard + Clone, F: Clone, Q: ?Sized> CircuitBreakerMiddleware<ByKey<B, F, Q>> {
    /// One breaker for each key, which the request lends.
    ///
    /// ```
    /// use breakerbox::reqwest_middleware::CircuitBreakerMiddleware;
    /// use breakerbox::{Config, KeyedBreakers};
    ///
    /// static PATHS: KeyedBreakers<String> = KeyedBreakers::new("paths", Config::DEFAULT);
    ///
    /// let breaker = CircuitBreakerMiddleware::by_key(&PATHS, |request| request.url().path());
    /// # drop(breaker);
    /// ```
    #[must_use]
    pub fn by_key(breakers: B, key: F) -> Self
    where
        F: Fn(&Request) -> &Q,
        Q: Key<Owned = B::Key>,
    {
        Self::by(ByKey::new(breakers, key))
    }
}

impl<B: KeyedGuard + Clone, F: Clone> CircuitBreakerMiddleware<ByOwnedKey<B, F>> {
    /// [`by_key`](CircuitBreakerMiddleware::by_key) where the key is made of the request.
    #[must_use]
    pub fn by_owned_key<Q>(breakers: B, key: F) -> Self
    where
        F: Fn(&Request) -> Q,
        Q: Key<Owned = B::Key>,
    {
        Self::by(ByOwnedKey::new(breakers, key))
    }
}

impl<B> CircuitBreakerMiddleware<B> {
    const fn by(breaker: B) -> Self {
        Self {
            breaker,
            classify: Http(ByClient),
            ending: AtHead,
        }
    }
}

impl<B, K, M> CircuitBreakerMiddleware<B, K, M> {
    /// Which errors count: `true` or [`Outcome::Failure`](crate::Outcome::Failure)
    /// does. Responses count by status and `Retry-After`, as without it.
    #[must_use]
    pub fn classify<V, F>(self, classify: F) -> CircuitBreakerMiddleware<B, Http<ByError<F>>, M>
    where
        F: Fn(&Error) -> V + Clone,
        V: Verdict,
    {
        self.judged_by(Http(ByError(classify)))
    }

    /// What a whole `Result` counts as, responses and errors.
    ///
    /// ```
    /// use breakerbox::reqwest_middleware::CircuitBreakerMiddleware;
    /// use breakerbox::{Breaker, Config, Outcome, classify};
    /// use std::time::Duration;
    ///
    /// static PMS: Breaker = Breaker::new("pms", Config::DEFAULT);
    ///
    /// // A `Retry-After` of more than five minutes is taken for five.
    /// const LONGEST: Duration = Duration::from_secs(300);
    /// let breaker = CircuitBreakerMiddleware::new(&PMS).classify_output(classify::at_most(
    ///     LONGEST,
    ///     classify::result(classify::response, classify::reqwest),
    /// ));
    /// # drop(breaker);
    /// ```
    #[must_use]
    pub fn classify_output<V, F>(self, classify: F) -> CircuitBreakerMiddleware<B, ByOutput<F>, M>
    where
        F: Fn(&Result<Response>) -> V + Clone,
        V: Verdict,
    {
        self.judged_by(ByOutput(classify))
    }

    fn judged_by<N>(self, classify: N) -> CircuitBreakerMiddleware<B, N, M> {
        CircuitBreakerMiddleware {
            breaker: self.breaker,
            classify,
            ending: self.ending,
        }
    }

    /// The outcome is settled at the end of the response's body: see
    /// [`CircuitBreakerLayer::at_end_of_body`](crate::tower::CircuitBreakerLayer::at_end_of_body).
    #[must_use]
    pub fn at_end_of_body(self) -> CircuitBreakerMiddleware<B, K, AtEndOfBody> {
        self.settled(AtEndOfBody::new(EveryBodyError))
    }

    fn settled<N>(self, ending: N) -> CircuitBreakerMiddleware<B, K, N> {
        CircuitBreakerMiddleware {
            breaker: self.breaker,
            classify: self.classify,
            ending,
        }
    }
}

impl<B, K, X> CircuitBreakerMiddleware<B, K, AtEndOfBody<X>> {
    /// Which errors of a body count. Without, each of them.
    #[must_use]
    pub fn classify_body<V, F>(
        self,
        classify: F,
    ) -> CircuitBreakerMiddleware<B, K, AtEndOfBody<ByBodyError<F>>>
    where
        F: Fn(&reqwest::Error) -> V + Clone,
        V: Verdict,
    {
        self.settled(AtEndOfBody::new(ByBodyError(classify)))
    }
}

#[async_trait::async_trait]
impl<B, K, M> Middleware for CircuitBreakerMiddleware<B, K, M>
where
    B: Finds<Request> + Send + Sync + 'static,
    K: Classify<Result<Response>> + Clone + Send + Sync + 'static,
    M: Settles<Response, Error, B::Owner, K, Response = Response> + Clone + Send + Sync + 'static,
{
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response> {
        let mut claim = Claim::new(self.breaker.find(&request));
        claim.admit(crate::bound::Given::NONE).map_err(|refused| {
            let name = claim.owner().subject().name();
            Error::from(CircuitOpenError::new(name, refused))
        })?;
        claim.step(|ticket| ticket.made_now());
        let call = claim.watch(|| next.run(request, extensions));
        let rest = Rest {
            classify: self.classify.clone(),
            refuse: WhenOpen(refuse),
            ending: self.ending.clone(),
        };
        ResponseFuture::new(call, claim, rest).await
    }
}

/// Never asked: the request was admitted before it was made.
fn refuse(open: CircuitOpenError) -> Result<Response> {
    Err(open.into())
}

impl<B: Which + fmt::Debug, K, M> fmt::Debug for CircuitBreakerMiddleware<B, K, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CircuitBreakerMiddleware")
            .field("breaker", &self.breaker)
            .finish_non_exhaustive()
    }
}
