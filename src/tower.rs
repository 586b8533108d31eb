//! A layer for [tower](https://docs.rs/tower)'s services: clients (hyper, tonic, anything behind
//! `ServiceBuilder`) and servers (axum, tonic).
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! use breakerbox::tower::CircuitBreakerLayer;
//! use breakerbox::{CallError, breaker};
//! use http::{Request, Response};
//! use std::convert::Infallible;
//! use std::future::{Ready, ready};
//! use std::task::{Context, Poll};
//! use std::time::Duration;
//! use tower_service::Service;
//!
//! /// A client, which may be hyper's: here, one whose answers are all the same.
//! #[derive(Clone)]
//! struct Client(u16);
//!
//! impl Service<Request<()>> for Client {
//!     type Response = Response<String>;
//!     type Error = Infallible;
//!     type Future = Ready<Result<Response<String>, Infallible>>;
//!
//!     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
//!         Poll::Ready(Ok(()))
//!     }
//!
//!     fn call(&mut self, _: Request<()>) -> Self::Future {
//!         let answer = Response::builder().status(self.0).body(String::new());
//!         ready(Ok(answer.unwrap()))
//!     }
//! }
//!
//! breaker! {
//!     static PMS = { threshold: 2, reset: "30s" }
//! }
//!
//! let scope = breakerbox::test::scope();
//! let mut pms = CircuitBreakerLayer::new(&PMS).http().layer(Client(502));
//! for _ in 0..2 {
//!     std::future::poll_fn(|context| pms.poll_ready(context)).await?;
//!     assert_eq!(pms.call(Request::new(())).await?.status(), 502); // it passes through, and counts
//! }
//! std::future::poll_fn(|context| pms.poll_ready(context)).await?; // ready, to refuse
//! let Err(CallError::Open(refused)) = pms.call(Request::new(())).await else { panic!() };
//! assert_eq!(refused.retry_after(), Some(Duration::from_secs(30)));
//! # Ok::<(), CallError<Infallible>>(())
//! # }).unwrap();
//! ```
//!
//! # What to write
//! | | |
//! | --- | --- |
//! | **which breaker** | |
//! | [`new(&PMS)`](CircuitBreakerLayer::new), [`new(shared)`](CircuitBreakerLayer::new) | one for all requests |
//! | [`by_host(&HOSTS)`](CircuitBreakerLayer::by_host) | one for each host of a `http::Request` |
//! | [`by_key(&ACCOUNTS, f)`](CircuitBreakerLayer::by_key), [`by_owned_key`](CircuitBreakerLayer::by_owned_key) | one for each key of a request |
//! | **what counts** | |
//! | (nothing) | every `Err` of the service; no response |
//! | [`http()`](CircuitBreakerLayer::http) | responses by status and `Retry-After` |
//! | [`grpc()`](CircuitBreakerLayer::grpc) | responses by `grpc-status`; `tonic()` (feature `tonic`), for a client of tonic's |
//! | [`classify(f)`](CircuitBreakerLayer::classify) | errors; beside `http()` or `grpc()`, before or after it |
//! | [`classify_output(f)`](CircuitBreakerLayer::classify_output) | the whole `Result` |
//! | **what a refused call gives** | |
//! | (nothing) | [`CallError::Open`](crate::CallError::Open); errors of the service become [`CallError::Call`](crate::CallError::Call) |
//! | [`when_open(unavailable)`](CircuitBreakerLayer::when_open) | a server's `503` with `Retry-After`: see [`unavailable`] |
//! | [`when_open(f)`](CircuitBreakerLayer::when_open) | any response, or an error of the service's own type |
//! | **when it is settled** | |
//! | (nothing) | when the response is there |
//! | [`at_end_of_body()`](CircuitBreakerLayer::at_end_of_body) | when its body has been read |
//!
//! There is no `timeout` here: tower has one. Inside of this layer what it ends counts; outside
//! it drops the call, which counts as `on_cancel` says. The order of layers:
//! [Composing](crate::guide::composing#tower-and-reqwest-middleware).
//!
//! Nothing is boxed, and nothing is allocated, but for a key that is new, a host that is written in
//! capitals, and the details of a gRPC error. A clone goes by the same breaker.
//!
//! `reqwest::Client` is a service too. With the feature `reqwest` the layer knows its requests and
//! responses: `CircuitBreakerLayer::by_host(&HOSTS).classify(classify::reqwest).http()`. For one with
//! middlewares there is `breakerbox::reqwest_middleware`.
//!
//! # Readiness
//! In tower, a service is asked for readiness before each call, may keep what it reserved
//! for any time, and is dead once readiness was an error. So:
//!
//! - `poll_ready` asks the breaker first. Where that refuses, the service is **ready at once, to
//!   refuse**: the call that follows gives the refusal. An open circuit is no error of
//!   readiness, and nobody waits behind an inner service that is down.
//! - Where it admits, the place is kept while the inner service gets ready, and until the call.
//!   So of those who wait for a half-open circuit one goes on, and it is the probe.
//! - A place is **given back** when the service is dropped: no call was made, so it counts as
//!   nothing, also with `on_cancel = failure`. A clone has no place, and asks for its own.
//! - A place that was kept while the circuit went on (in a cache of ready services, say)
//!   lets nobody in: the call asks anew. A call is as slow as from its start, not from when it
//!   was reserved.
//! - An error of the inner service's readiness counts like one of a call, and is returned.
//! - A call without a question before it asks for itself.
//!
//! Three limits. Who waits for the inner service to get ready is not woken when the circuit opens
//! meanwhile: it is refused when it next asks. And by key (`by_host`, `by_key`) the breaker is
//! known only when there is a request: then readiness is the inner service's alone, and the call
//! asks. And what an inner service has reserved for a call that is then refused (a permit of a
//! `ConcurrencyLimit` inside, say) stays with this clone until its next call or its end, as
//! always in tower; a probe of another clone may wait for it until `probe_timeout`. Put such limits
//! outside, or call clones that are dropped.
//!
//! # What becomes of a call
//! | | outcome |
//! | --- | --- |
//! | a response, an error | as classified |
//! | its future is dropped, also before the first poll | dropped: counts as `on_cancel` says |
//! | a panic of the service, wherever it comes | panicked: a failure |
//!
//! The inner call is dropped before its place is given back.

pub(crate) mod body;
pub(crate) mod ending;
pub(crate) mod future;
mod host;
pub(crate) mod judge;
mod layer;
pub(crate) mod refuse;
mod reserved;
mod service;
pub(crate) mod which;

pub use crate::verdict::{ByError, ByOutput, EveryErr};
pub use body::GuardedBody;
pub use ending::{
    AsksForBody, AtEndOfBody, AtHead, Awaits, BodyErrors, ByBodyError, EveryBodyError, Settles,
};
pub use future::ResponseFuture;
pub use host::of_request as host;
pub use judge::{Errors, Grpc, Http};
pub use layer::CircuitBreakerLayer;
#[cfg(feature = "tonic")]
pub use refuse::AsStatus;
pub use refuse::{AsCallError, Refuses, WhenOpen, unavailable};
pub use service::CircuitBreaker;
pub use which::{ByHost, ByKey, ByOwnedKey, Finds, Which};
