//! The layer: which breaker, what counts, what a refused call gives, when it is settled.

use super::CircuitBreaker;
use super::ending::{AtEndOfBody, AtHead, ByBodyError, EveryBodyError};
use super::judge::{Errors, Grpc, Http};
use super::refuse::{AsCallError, WhenOpen};
use super::which::{ByHost, ByKey, ByOwnedKey, Which};
use crate::guard::KeyedGuard;
use crate::keyed::Key;
use crate::owner::Owner;
use crate::verdict::{ByError, ByOutput, EveryErr, Verdict};
use tower_layer::Layer;

/// Guards the services that it is put around by a breaker: see the
/// [module](super).
///
/// ```
/// use breakerbox::breaker;
/// use breakerbox::tower::CircuitBreakerLayer;
///
/// breaker! {
///     static PMS = { threshold: 5, reset: "30s" }
/// }
///
/// let layer = CircuitBreakerLayer::new(&PMS).http();
/// let guarded = layer.layer("a service");
/// ```
///
/// Each clone of it, and each service that it makes, goes by the same breaker.
#[derive(Clone, Copy, Debug)]
pub struct CircuitBreakerLayer<B, K = EveryErr, R = AsCallError, M = AtHead> {
    pub(super) breaker: B,
    pub(super) classify: K,
    pub(super) refuse: R,
    pub(super) ending: M,
}

impl<G: Owner> CircuitBreakerLayer<G> {
    /// One breaker for all requests: `&'static Breaker`, `Arc<Breaker>`, or a
    /// [`KeyedBreaker`](crate::KeyedBreaker).
    #[must_use]
    pub const fn new(breaker: G) -> Self {
        Self::by(breaker)
    }
}

impl<B: KeyedGuard + Clone> CircuitBreakerLayer<ByHost<B>> {
    /// One breaker for each host, by [`host`](super::host): for a client of
    /// `http::Request`s to several hosts; with the feature `reqwest` also of
    /// `reqwest::Request`s.
    ///
    /// ```
    /// use breakerbox::tower::CircuitBreakerLayer;
    /// use breakerbox::{Config, KeyedBreakers};
    ///
    /// static HOSTS: KeyedBreakers<String> = KeyedBreakers::new("hosts", Config::DEFAULT);
    ///
    /// let layer = CircuitBreakerLayer::by_host(&HOSTS).http();
    /// # drop(layer);
    /// ```
    #[must_use]
    pub fn by_host(breakers: B) -> Self
    where
        B: KeyedGuard<Key = String>,
    {
        Self::by(ByHost::new(breakers))
    }
}

impl<B: KeyedGuard + Clone, F: Clone, Q: ?Sized> CircuitBreakerLayer<ByKey<B, F, Q>> {
    /// One breaker for each key, which the request lends. A key that is known already
    /// is found without allocating.
    ///
    /// ```
    /// use breakerbox::tower::CircuitBreakerLayer;
    /// use breakerbox::{Config, KeyedBreakers};
    ///
    /// static ACCOUNTS: KeyedBreakers<String> = KeyedBreakers::new("accounts", Config::DEFAULT);
    ///
    /// struct Query {
    ///     account: String,
    /// }
    ///
    /// let layer = CircuitBreakerLayer::by_key(&ACCOUNTS, |query: &Query| query.account.as_str());
    /// # drop(layer);
    /// ```
    #[must_use]
    pub fn by_key<Req>(breakers: B, key: F) -> Self
    where
        F: Fn(&Req) -> &Q,
        Q: Key<Owned = B::Key>,
    {
        Self::by(ByKey::new(breakers, key))
    }
}

impl<B: KeyedGuard + Clone, F: Clone> CircuitBreakerLayer<ByOwnedKey<B, F>> {
    /// [`by_key`](CircuitBreakerLayer::by_key) where the key is made of the request: a
    /// number, or several parts.
    ///
    /// ```
    /// use breakerbox::tower::CircuitBreakerLayer;
    /// use breakerbox::{Config, KeyedBreakers};
    ///
    /// static SHARDS: KeyedBreakers<(u32, u8)> = KeyedBreakers::new("shards", Config::DEFAULT);
    ///
    /// struct Query {
    ///     account: u32,
    /// }
    ///
    /// let layer = CircuitBreakerLayer::by_owned_key(&SHARDS, |query: &Query| {
    ///     (query.account, (query.account % 4) as u8)
    /// });
    /// # drop(layer);
    /// ```
    #[must_use]
    pub fn by_owned_key<Req, Q>(breakers: B, key: F) -> Self
    where
        F: Fn(&Req) -> Q,
        Q: Key<Owned = B::Key>,
    {
        Self::by(ByOwnedKey::new(breakers, key))
    }
}

impl<B> CircuitBreakerLayer<B> {
    const fn by(breaker: B) -> Self {
        Self {
            breaker,
            classify: EveryErr,
            refuse: AsCallError,
            ending: AtHead,
        }
    }
}

/// What counts.
impl<B, K, R, M> CircuitBreakerLayer<B, K, R, M> {
    /// Which errors of the service count: `true` or
    /// [`Outcome::Failure`](crate::Outcome::Failure) does. Without, every `Err` counts.
    /// Errors of readiness are asked about too. Responses count as before: by
    /// [`http`](Self::http) or [`grpc`](Self::grpc), whichever of the two is written first.
    #[must_use]
    pub fn classify<E, V, F>(self, classify: F) -> CircuitBreakerLayer<B, K::By<ByError<F>>, R, M>
    where
        K: Errors,
        F: Fn(&E) -> V + Clone,
        V: Verdict,
    {
        self.judged_by(|judge| judge.by(ByError(classify)))
    }

    /// What a whole `Result` of the service counts as, responses and errors:
    /// `|result: &Result<Response, Error>| ..`, which gives a `bool` (`true`: a
    /// failure) or an [`Outcome`](crate::Outcome).
    #[must_use]
    pub fn classify_output<T, E, V, F>(
        self,
        classify: F,
    ) -> CircuitBreakerLayer<B, ByOutput<F>, R, M>
    where
        F: Fn(&Result<T, E>) -> V + Clone,
        V: Verdict,
    {
        self.judged_by(|_| ByOutput(classify))
    }

    /// A `http::Response` (with the feature `reqwest` also a `reqwest::Response`) counts
    /// by its status and its `Retry-After`, as
    /// [`classify::response`](crate::classify::response()) says; errors as before: each
    /// of them, or by [`classify`](Self::classify).
    #[must_use]
    pub fn http(self) -> CircuitBreakerLayer<B, Http<K>, R, M> {
        self.judged_by(Http)
    }

    /// The response of a gRPC call counts by its `grpc-status`, as the table of
    /// `classify::tonic` says: by that of its headers, which has most failures, and with
    /// [`at_end_of_body`](Self::at_end_of_body) also by that of its trailers. Where
    /// there is none (an answer of a proxy), as with [`http`](Self::http). Errors as
    /// before.
    #[must_use]
    pub fn grpc(self) -> CircuitBreakerLayer<B, Grpc<K>, R, M> {
        self.judged_by(Grpc)
    }

    fn judged_by<N>(self, by: impl FnOnce(K) -> N) -> CircuitBreakerLayer<B, N, R, M> {
        CircuitBreakerLayer {
            breaker: self.breaker,
            classify: by(self.classify),
            refuse: self.refuse,
            ending: self.ending,
        }
    }
}

/// What a refused call gives.
impl<B, K, R, M> CircuitBreakerLayer<B, K, R, M> {
    /// What a refused call gives: a response, or an error of the service's own type,
    /// whose errors then stay as they are. Without, a refused call gives
    /// [`CallError::Open`](crate::CallError::Open), and the service's error becomes
    /// [`CallError::Call`](crate::CallError::Call).
    ///
    /// - A server, whose errors are [`Infallible`](std::convert::Infallible):
    ///   `.when_open(`[`unavailable`](super::unavailable)`)`. So it fits axum's
    ///   `Router::layer`; without, put axum's `HandleErrorLayer` around it.
    /// - A service of boxed errors (inside is a `Timeout` of tower's, say):
    ///   `.when_open(|open| Err(open.into()))`, after which they are boxed as before, and a refusal
    ///   is found by `error.downcast_ref::<CircuitOpenError>()`. Needed where what is outside boxes
    ///   errors too, like `Buffer`: a `CallError` of a boxed error is no
    ///   [`Error`](std::error::Error) itself, and can't be boxed again.
    ///
    /// Observers hear of the refusal, and not of the answer in its place: whether that
    /// is a stale one only you know.
    #[must_use]
    pub fn when_open<T, E, F>(self, answer: F) -> CircuitBreakerLayer<B, K, WhenOpen<F>, M>
    where
        F: Fn(crate::CircuitOpenError) -> Result<T, E> + Clone,
    {
        self.refusing_by(WhenOpen(answer))
    }

    /// [`grpc`](Self::grpc), for tonic: errors are `tonic::Status`, what a refused call
    /// gives too: `Unavailable`, with the [`CircuitOpenError`](crate::CircuitOpenError)
    /// as its source, by which [`classify::tonic`](crate::classify::tonic()) of a
    /// circuit further out knows it. In a server tonic answers with it.
    ///
    /// ```
    /// use breakerbox::tower::CircuitBreakerLayer;
    /// use breakerbox::{Breaker, Config};
    ///
    /// static PMS: Breaker = Breaker::new("pms", Config::DEFAULT);
    ///
    /// let layer = CircuitBreakerLayer::new(&PMS).tonic();
    /// // let client = PmsClient::new(layer.layer(channel));
    /// # drop(layer);
    /// ```
    #[cfg(feature = "tonic")]
    #[must_use]
    pub fn tonic(self) -> CircuitBreakerLayer<B, Grpc<K>, super::AsStatus, M> {
        self.grpc().refusing_by(super::AsStatus)
    }

    fn refusing_by<N>(self, refuse: N) -> CircuitBreakerLayer<B, K, N, M> {
        CircuitBreakerLayer {
            breaker: self.breaker,
            classify: self.classify,
            refuse,
            ending: self.ending,
        }
    }
}

/// When the outcome is settled.
impl<B, K, R, M> CircuitBreakerLayer<B, K, R, M> {
    /// The outcome is settled at the end of the response's body, and not at its head:
    /// for a `http::Response`, whose body is wrapped in a
    /// [`GuardedBody`](super::GuardedBody).
    ///
    /// | what happens | outcome |
    /// | --- | --- |
    /// | the head counts as a failure or an overload | at the head, as without this |
    /// | the body is read to its end, or to the length that it has by `content-length` or by itself | that of the head; of gRPC's trailers, with [`grpc`](Self::grpc) |
    /// | there is none to read: a 204, a 304, an answer to `HEAD` or `CONNECT` ([`AsksForBody`](super::AsksForBody)) | at the head, as without this |
    /// | the body fails | failure, or as [`classify_body`](CircuitBreakerLayer::classify_body) says |
    /// | the body is dropped before its end | dropped: counts as `on_cancel` says |
    ///
    /// The call lasts as long as its body is read: so it does for `slow`, and as a
    /// probe. A stream that is meant to stay open for hours is better settled at its
    /// head. A probe whose body nobody reads or drops holds its place until
    /// `probe_timeout`.
    #[must_use]
    pub fn at_end_of_body(self) -> CircuitBreakerLayer<B, K, R, AtEndOfBody> {
        self.settled(AtEndOfBody::new(EveryBodyError))
    }

    fn settled<N>(self, ending: N) -> CircuitBreakerLayer<B, K, R, N> {
        CircuitBreakerLayer {
            breaker: self.breaker,
            classify: self.classify,
            refuse: self.refuse,
            ending,
        }
    }

    /// Puts the layer around a service.
    pub fn layer<S>(&self, inner: S) -> CircuitBreaker<S, B, K, R, M>
    where
        B: Which,
        K: Clone,
        R: Clone,
        M: Clone,
    {
        CircuitBreaker::new(inner, self.clone())
    }
}

impl<B, K, R, X> CircuitBreakerLayer<B, K, R, AtEndOfBody<X>> {
    /// Which errors of a body count: `true` or
    /// [`Outcome::Failure`](crate::Outcome::Failure) does. Without, each of them.
    #[must_use]
    pub fn classify_body<E, V, F>(
        self,
        classify: F,
    ) -> CircuitBreakerLayer<B, K, R, AtEndOfBody<ByBodyError<F>>>
    where
        F: Fn(&E) -> V + Clone,
        V: Verdict,
    {
        self.settled(AtEndOfBody::new(ByBodyError(classify)))
    }
}

impl<S, B, K, R, M> Layer<S> for CircuitBreakerLayer<B, K, R, M>
where
    B: Which,
    K: Clone,
    R: Clone,
    M: Clone,
{
    type Service = CircuitBreaker<S, B, K, R, M>;

    fn layer(&self, inner: S) -> Self::Service {
        Self::layer(self, inner)
    }
}
