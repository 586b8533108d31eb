//! Rate limits that refuse: inside the guarded function, and around it.

use super::{Answer, DOWN, LIMITED, Pms, PmsError, is_refused, of_the_dependency, stands};
use breakerbox::{Breaker, CallError, Settings, State, circuit_breaker, test};
use governor::clock::FakeRelativeClock;
use governor::{Quota, RateLimiter};
use std::num::NonZeroU32;
use std::time::Duration;

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

/// Outside it refuses what the breaker then never sees, and takes of the quota for calls that the
/// breaker refuses.
#[tokio::test]
async fn a_rate_limit_outside_is_not_seen_and_pays_for_refused_calls() {
    #[circuit_breaker(name = "limited-outside", threshold = 3)]
    async fn guarded(pms: &Pms, up: bool) -> Answer {
        pms.request(up).await.map_err(CallError::Call)
    }

    async fn rooms(limit: &Limit, pms: &Pms, up: bool) -> Answer {
        let limited = |_| CallError::Call(PmsError::Limited);
        limit.check().map_err(limited)?;
        guarded(pms, up).await
    }

    let scope = test::scope();
    let (limit, clock) = limit(10);
    let pms = Pms::default();
    for _ in 0..2 {
        assert_eq!(rooms(&limit, &pms, false).await, DOWN);
    }
    for _ in 0..8 {
        assert_eq!(rooms(&limit, &pms, true).await, Ok(7));
    }
    for _ in 0..100 {
        assert_eq!(rooms(&limit, &pms, true).await, LIMITED);
    }
    assert_eq!(pms.requests(), 10);
    assert_eq!(stands("limited-outside"), (State::Closed, 0));

    clock.advance(Duration::from_secs(1));
    for _ in 0..3 {
        assert_eq!(rooms(&limit, &pms, false).await, DOWN);
    }
    for _ in 0..7 {
        assert!(is_refused(&rooms(&limit, &pms, true).await));
    }
    scope.advance(Duration::from_secs(30));
    assert_eq!(rooms(&limit, &pms, true).await, LIMITED, "nothing is left");
    assert_eq!(stands("limited-outside").0, State::Open, "nobody probed");
    assert_eq!(pms.requests(), 3);
}

/// By hand and plainly: a permit that the limiter refuses counts as nothing where `classify` says
/// so, and as a failure where nobody says anything.
#[tokio::test]
async fn by_hand_a_refused_permit_counts_as_it_is_said_to() {
    async fn limited(limit: &Limit, pms: &Pms) -> Result<u32, PmsError> {
        limit.check().map_err(|_| PmsError::Limited)?;
        pms.request(true).await
    }

    fn limited_plainly(limit: &Limit, pms: &Pms) -> Result<u32, PmsError> {
        limit.check().map_err(|_| PmsError::Limited)?;
        pms.request_plainly(true)
    }

    let _scope = test::scope();
    let down = |error: &PmsError| *error == PmsError::Down;
    let config = Settings::new().threshold(3).must();
    let said = Breaker::new("said", config);
    let unsaid = [(); 2].map(|()| Breaker::new("unsaid", config));
    let (limit, _clock) = limit(1);
    let pms = Pms::default();
    assert_eq!(said.call(limited(&limit, &pms)).await, Ok(7));
    for _ in 0..10 {
        let awaited = said.call(limited(&limit, &pms)).classify(down).await;
        assert_eq!(awaited, LIMITED);
        let plain = said.classify(down);
        let plain = plain.call_sync(|| limited_plainly(&limit, &pms));
        assert_eq!(plain, LIMITED);
    }
    assert_eq!(said.state(), State::Closed);
    assert_eq!(said.snapshot().consecutive, 0);

    for _ in 0..3 {
        let awaited = unsaid[0].call(limited(&limit, &pms)).await;
        assert_eq!(awaited, LIMITED);
        let plain = unsaid[1].call_sync(|| limited_plainly(&limit, &pms));
        assert_eq!(plain, LIMITED);
    }
    assert!(unsaid.iter().all(|one| one.state() == State::Open));
    assert_eq!(pms.requests(), 1);
}
