//! The layer in the stacks that people build.

mod allocation;
mod auto_traits;
#[path = "../../../block_on.rs"]
mod block_on;
mod bodies;
mod boxed;
mod clients;
mod ends;
mod keys;
mod links;
mod places;
mod random_walk;
mod rate_limit;
mod readiness;
mod servers;
mod settling;
mod stacks;
mod unread;

use block_on::block_on;
use breakerbox::tower::CircuitBreakerLayer;
use breakerbox::{Breaker, CallError, OnCancel, Settings};
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::oneshot;
use tower::Service;

const RESET: Duration = Duration::from_secs(30);

/// It gives up after one failure.
fn breaker(settings: Settings) -> Arc<Breaker> {
    let settings = settings.threshold(1).reset(RESET).jitter(0.0);
    Arc::new(Breaker::new("pms", settings.must()))
}

/// One by default, and one to which a dropped call is a failure.
fn breakers() -> [Arc<Breaker>; 2] {
    [
        breaker(Settings::new()),
        breaker(Settings::new().on_cancel(OnCancel::Failure)),
    ]
}

fn layer(pms: &Arc<Breaker>) -> CircuitBreakerLayer<Arc<Breaker>> {
    CircuitBreakerLayer::new(Arc::clone(pms))
}

/// The error of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Failed(&'static str);

const DOWN: Failed = Failed("down");
const DIED: Failed = Failed("died");
const NO_SUCH_ROOM: Failed = Failed("no such room");

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Failed {}

type Answer = Result<u32, Failed>;

/// A request, and how it ends: as its sender says.
type Request = oneshot::Receiver<Answer>;

/// A request that is answered already.
fn answered(answer: Answer) -> Request {
    let (sender, request) = oneshot::channel();
    sender.send(answer).unwrap();
    request
}

/// A service whose readiness and answers are the test's.
#[derive(Clone, Debug, Default)]
struct Pms {
    heard: Arc<Heard>,
}

#[derive(Debug, Default)]
struct Heard {
    /// How often it was asked whether it is ready.
    polled: AtomicU32,
    called: AtomicU32,
    readiness: AtomicU32,
}

const READY: u32 = 0;
const NOT_READY: u32 = 1;
const DEAD: u32 = 2;
const PANICS: u32 = 3;

impl Pms {
    fn becomes(&self, readiness: u32) {
        self.heard.readiness.store(readiness, Ordering::Relaxed);
    }

    fn polled(&self) -> u32 {
        self.heard.polled.swap(0, Ordering::Relaxed)
    }

    fn called(&self) -> u32 {
        self.heard.called.swap(0, Ordering::Relaxed)
    }
}

type Boxed = Pin<Box<dyn Future<Output = Answer> + Send>>;

impl Service<Request> for Pms {
    type Response = u32;
    type Error = Failed;
    type Future = Boxed;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        self.heard.polled.fetch_add(1, Ordering::Relaxed);
        match self.heard.readiness.load(Ordering::Relaxed) {
            READY => Poll::Ready(Ok(())),
            NOT_READY => Poll::Pending,
            DEAD => Poll::Ready(Err(DIED)),
            _ => panic!("not even asked"),
        }
    }

    fn call(&mut self, request: Request) -> Boxed {
        self.heard.called.fetch_add(1, Ordering::Relaxed);
        assert_ne!(
            self.heard.readiness.load(Ordering::Relaxed),
            PANICS,
            "not even called"
        );
        Box::pin(async { request.await.expect("the sender is kept") })
    }
}

fn poll_ready<S, R>(service: &mut S) -> Poll<Result<(), S::Error>>
where
    S: Service<R>,
{
    service.poll_ready(&mut Context::from_waker(Waker::noop()))
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// What a future gives that is ready at once.
fn now<F: Future>(future: F) -> F::Output {
    match poll(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

fn is_open<T: fmt::Debug, E>(result: Result<T, CallError<E>>) -> bool {
    matches!(result, Err(CallError::Open(_)))
}

/// Fails until the circuit is open.
fn open(pms: &Breaker) {
    pms.admit().unwrap().failure();
}
