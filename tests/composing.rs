//! Breakers beside retries (`backon`), rate limits (`governor`) and bulkheads (tokio's semaphore):
//! how many calls reach the dependency. What the guide says of it is in `src/guide/composing.md`.
//!
//! tokio's clock is paused, so pauses between tries take no time.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use breakerbox::observe::{self, Observer, Rejection};
use breakerbox::{Breaker, CallError, Settings, State, circuit_breaker, test};
use governor::clock::FakeRelativeClock;
use governor::{Quota, RateLimiter};
use tokio::sync::Semaphore;

/// A dependency, and how many requests have reached it.
#[derive(Default)]
struct Pms {
    requests: AtomicU32,
}

impl Pms {
    async fn request(&self, up: bool) -> Result<u32, PmsError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        if up { Ok(7) } else { Err(PmsError::Down) }
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

const THREE_TRIES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(100))
    .with_max_times(2);

#[tokio::test(start_paused = true)]
async fn a_retry_inside_makes_one_call_of_three_tries() {
    #[circuit_breaker(threshold = 3)]
    async fn rooms(pms: &Pms, up: bool) -> Answer {
        let tries = || pms.request(up);
        tries.retry(THREE_TRIES).await.map_err(CallError::Call)
    }

    let scope = test::scope();
    let refusals = Refusals::default();
    let _installed = observe::install(refusals.clone());
    let pms = Pms::default();
    for _ in 0..3 {
        assert_eq!(rooms(&pms, false).await, DOWN);
    }
    assert_eq!(pms.requests(), 9, "three calls of three tries open it");
    for _ in 0..10 {
        assert!(is_refused(&rooms(&pms, true).await));
    }
    assert_eq!(pms.requests(), 0);
    assert_eq!(refusals.0.load(Ordering::Relaxed), 10, "each asked once");

    scope.advance(Duration::from_secs(30));
    assert_eq!(rooms(&pms, false).await, DOWN);
    assert_eq!(pms.requests(), 3, "so is a probe");
    assert!(is_refused(&rooms(&pms, true).await));
    scope.advance(Duration::from_secs(30));
    assert_eq!(rooms(&pms, true).await, Ok(7));
    assert_eq!(pms.requests(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_retry_inside_mends_is_no_failure() {
    #[circuit_breaker(threshold = 1)]
    async fn rooms(pms: &Pms) -> Answer {
        let tries = || {
            let third = pms.requests.load(Ordering::Relaxed) % 3 == 2;
            pms.request(third)
        };
        tries.retry(THREE_TRIES).await.map_err(CallError::Call)
    }

    let _scope = test::scope();
    let pms = Pms::default();
    for _ in 0..10 {
        assert_eq!(rooms(&pms).await, Ok(7));
    }
    assert_eq!(pms.requests(), 30);
}

/// The breaker's `timeout` bounds all tries together, whatever the retry allows.
#[tokio::test(start_paused = true)]
async fn a_timeout_covers_all_tries() {
    const MANY: ExponentialBuilder = ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(400))
        .with_factor(1.0)
        .with_max_times(1_000);

    #[circuit_breaker(threshold = 2, timeout = "1s")]
    async fn rooms(pms: &Pms) -> Answer {
        let tries = || pms.request(false);
        tries.retry(MANY).await.map_err(CallError::Call)
    }

    let pms = Pms::default();
    for _ in 0..2 {
        let started = tokio::time::Instant::now();
        assert!(matches!(rooms(&pms).await, Err(CallError::TimedOut(_))));
        let took = started.elapsed();
        assert!(
            (1_000..1_100).contains(&took.as_millis()),
            "{took:?} for a timeout of 1s"
        );
        assert_eq!(pms.requests(), 3, "at 0, 400 and 800 ms");
    }
    assert!(is_refused(&rooms(&pms).await));
    assert_eq!(pms.requests(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_retry_outside_counts_each_try_and_hammers_an_open_circuit() {
    const FIVE_TRIES: ExponentialBuilder = THREE_TRIES.with_max_times(4);

    #[circuit_breaker(threshold = 3)]
    async fn rooms(pms: &Pms) -> Answer {
        pms.request(false).await.map_err(CallError::Call)
    }

    let _scope = test::scope();
    let refusals = Refusals::default();
    let _installed = observe::install(refusals.clone());
    let refused = || refusals.0.swap(0, Ordering::Relaxed);
    let pms = Pms::default();

    let one_caller = (|| rooms(&pms)).retry(FIVE_TRIES).await;
    assert!(is_refused(&one_caller));
    assert_eq!((pms.requests(), refused()), (3, 2), "one caller opens it");
    for _ in 0..10 {
        assert!(is_refused(&(|| rooms(&pms)).retry(FIVE_TRIES).await));
    }
    assert_eq!((pms.requests(), refused()), (0, 50));

    let not_refused = |error: &CallError<PmsError>| !matches!(error, CallError::Open(_));
    for _ in 0..10 {
        let tries = || rooms(&pms);
        assert!(is_refused(&tries.retry(FIVE_TRIES).when(not_refused).await));
    }
    assert_eq!((pms.requests(), refused()), (0, 10));
}

type Limit = RateLimiter<
    governor::state::NotKeyed,
    governor::state::InMemoryState,
    FakeRelativeClock,
    governor::middleware::NoOpMiddleware<<FakeRelativeClock as governor::clock::Clock>::Instant>,
>;

/// So many calls a second, on a clock that stands still.
fn limit(a_second: u32) -> (Limit, FakeRelativeClock) {
    let clock = FakeRelativeClock::default();
    let quota = Quota::per_second(NonZeroU32::new(a_second).unwrap());
    (RateLimiter::direct_with_clock(quota, clock.clone()), clock)
}

#[tokio::test]
async fn a_rate_limit_inside_is_neither_a_failure_nor_asked_for_refused_calls() {
    #[circuit_breaker(threshold = 3, classify = of_the_dependency)]
    async fn rooms(limit: &Limit, pms: &Pms, up: bool) -> Answer {
        limit
            .check()
            .map_err(|_| CallError::Call(PmsError::Limited))?;
        pms.request(up).await.map_err(CallError::Call)
    }

    let scope = test::scope();
    let (limit, clock) = limit(10);
    let pms = Pms::default();
    for _ in 0..10 {
        assert_eq!(rooms(&limit, &pms, true).await, Ok(7));
    }
    for _ in 0..100 {
        assert_eq!(rooms(&limit, &pms, true).await, LIMITED);
    }
    assert_eq!(pms.requests(), 10);

    clock.advance(Duration::from_secs(1));
    for _ in 0..3 {
        assert_eq!(rooms(&limit, &pms, false).await, DOWN);
    }
    for _ in 0..100 {
        assert!(is_refused(&rooms(&limit, &pms, true).await));
    }
    assert_eq!(pms.requests(), 3);

    // The seven that are left of the second.
    scope.advance(Duration::from_secs(30));
    for _ in 0..7 {
        assert_eq!(rooms(&limit, &pms, true).await, Ok(7));
    }
    assert_eq!(rooms(&limit, &pms, true).await, LIMITED);
    assert_eq!(pms.requests(), 7);
}

#[tokio::test]
async fn a_limited_probe_decides_nothing_and_gives_its_place_back() {
    #[circuit_breaker(breaker = breaker, classify = of_the_dependency)]
    async fn rooms(limit: &Limit, pms: &Pms, breaker: &Breaker, up: bool) -> Answer {
        limit
            .check()
            .map_err(|_| CallError::Call(PmsError::Limited))?;
        pms.request(up).await.map_err(CallError::Call)
    }

    let scope = test::scope();
    let breaker = Breaker::new("pms", Settings::new().threshold(1).must());
    let (limit, clock) = limit(1);
    let pms = Pms::default();
    assert_eq!(rooms(&limit, &pms, &breaker, false).await, DOWN);
    scope.advance(Duration::from_secs(30));
    for _ in 0..10 {
        assert_eq!(rooms(&limit, &pms, &breaker, true).await, LIMITED);
        assert_eq!(breaker.state(), State::HalfOpen);
    }
    clock.advance(Duration::from_secs(1));
    assert_eq!(rooms(&limit, &pms, &breaker, true).await, Ok(7));
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(pms.requests(), 2);
}

#[tokio::test]
async fn a_rate_limit_that_counts_as_a_failure_opens_the_circuit_of_a_system_that_is_well() {
    #[circuit_breaker(threshold = 3)]
    async fn rooms(limit: &Limit, pms: &Pms) -> Answer {
        limit
            .check()
            .map_err(|_| CallError::Call(PmsError::Limited))?;
        pms.request(true).await.map_err(CallError::Call)
    }

    let _scope = test::scope();
    let (limit, _clock) = limit(10);
    let pms = Pms::default();
    let mut refused = 0;
    for _ in 0..100 {
        refused += u32::from(is_refused(&rooms(&limit, &pms).await));
    }
    assert_eq!((pms.requests(), refused), (10, 87));
}

#[tokio::test(start_paused = true)]
async fn a_bulkhead_bounds_what_hangs_before_the_circuit_opens() {
    static PLACES: Semaphore = Semaphore::const_new(10);
    static PMS: AtomicU32 = AtomicU32::new(0);

    #[circuit_breaker(threshold = 3, timeout = "2s", classify = of_the_dependency)]
    async fn rooms() -> Answer {
        let _place = PLACES
            .try_acquire()
            .map_err(|_| CallError::Call(PmsError::Limited))?;
        PMS.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }

    let calls: Vec<_> = (0..100).map(|_| tokio::spawn(rooms())).collect();
    let (mut late, mut limited) = (0, 0);
    for call in calls {
        match call.await.unwrap() {
            Err(CallError::TimedOut(_)) => late += 1,
            answer => {
                assert_eq!(answer, LIMITED);
                limited += 1;
            }
        }
    }
    assert_eq!((late, limited), (10, 90));
    assert!(is_refused(&rooms().await));
    assert_eq!(PMS.load(Ordering::Relaxed), 10);
    assert_eq!(PLACES.available_permits(), 10);
}

/// A queue inside is a part of the call: its waiting counts towards the `timeout`. Outside it
/// is not.
#[tokio::test(start_paused = true)]
async fn waiting_for_a_place_belongs_outside() {
    static PLACE: Semaphore = Semaphore::const_new(1);

    /// Half a second each, one at a time, and well.
    async fn request() -> Result<u32, PmsError> {
        tokio::time::sleep(Duration::from_millis(500)).await;
        Ok(7)
    }

    #[circuit_breaker(threshold = 3, timeout = "2s")]
    async fn waits_inside() -> Answer {
        let _place = PLACE.acquire().await.unwrap();
        request().await.map_err(CallError::Call)
    }

    #[circuit_breaker(threshold = 3, timeout = "2s")]
    async fn guarded() -> Answer {
        request().await.map_err(CallError::Call)
    }

    async fn waits_outside() -> Answer {
        let _place = PLACE.acquire().await.unwrap();
        guarded().await
    }

    let calls: Vec<_> = (0..10).map(|_| tokio::spawn(waits_inside())).collect();
    let mut late = 0;
    for call in calls {
        late += u32::from(matches!(call.await.unwrap(), Err(CallError::TimedOut(_))));
    }
    assert!(late >= 6, "{late} of ten waited for more than two seconds");
    assert!(
        is_refused(&waits_inside().await),
        "of a system that is well"
    );

    let calls: Vec<_> = (0..10).map(|_| tokio::spawn(waits_outside())).collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok(7));
    }
}
