//! Breakers beside retries (`backon`), rate limits (`governor`), bulkheads (tokio's semaphore), races
//! and other breakers: how many calls reach the dependency, and what they count as. What the guide
//! says of it is in `src/guide/composing.md`.
//!
//! tokio's clock is paused, so pauses between tries take no time.

mod bulkhead;
mod caller_timeout;
mod nested;
mod probing;
mod racing;
mod rate_limit;
mod retry_inside;
mod retry_outside;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use backon::ExponentialBuilder;
use breakerbox::observe::{Observer, Rejection};
use breakerbox::{CallError, Reason, State, find};

/// A dependency, and how many requests have reached it.
#[derive(Default)]
struct Pms {
    requests: AtomicU32,
}

impl Pms {
    /// Waits once, and answers.
    async fn request(&self, up: bool) -> Result<u32, PmsError> {
        let answer = self.request_plainly(up);
        tokio::task::yield_now().await;
        answer
    }

    fn request_plainly(&self, up: bool) -> Result<u32, PmsError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        if up { Ok(7) } else { Err(PmsError::Down) }
    }

    /// Never answers.
    async fn hang(&self) -> Result<u32, PmsError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }

    /// The requests since it was last asked.
    fn requests(&self) -> u32 {
        self.requests.swap(0, Ordering::Relaxed)
    }
}

#[derive(Clone, Debug, PartialEq)]
enum PmsError {
    Down,
    /// A limit of ours.
    Limited,
}

type Answer = Result<u32, CallError<PmsError>>;

const DOWN: Answer = Err(CallError::Call(PmsError::Down));
const LIMITED: Answer = Err(CallError::Call(PmsError::Limited));

fn is_refused(answer: &Answer) -> bool {
    matches!(answer, Err(CallError::Open(_)))
}

fn is_refused_beside_a_probe(answer: &Answer) -> bool {
    matches!(answer, Err(CallError::Open(refused)) if refused.reason() == Reason::HalfOpenFull)
}

/// The state of the breaker of this name, and how many failures in a row it has counted.
fn stands(breaker: &str) -> (State, u32) {
    let found = find(breaker).expect("it was called");
    (found.state(), found.snapshot().consecutive)
}

/// The breakers' default.
const RESET: Duration = Duration::from_secs(30);

fn of_the_dependency(error: &CallError<PmsError>) -> bool {
    *error != CallError::Call(PmsError::Limited)
}

/// How many calls were refused.
#[derive(Clone, Default)]
struct Refusals(Arc<AtomicU32>);

impl Observer for Refusals {
    fn rejected(&self, _: &Rejection<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// With pauses of 100 and 200 ms.
const THREE_TRIES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(100))
    .with_max_times(2);
