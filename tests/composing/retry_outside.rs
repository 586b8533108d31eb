//! A retry around the guarded function: each try is a call of its own.

use super::{Answer, CallError, Pms, PmsError, RESET, Refusals, THREE_TRIES, is_refused};
use backon::{ConstantBuilder, ExponentialBuilder, Retryable};
use breakerbox::{Breaker, Clock, Reason, Settings, State, circuit_breaker, observe, test};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

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

/// tokio's clock, which is paused: the breaker's waits pass with the retries' pauses.
struct TokioClock(Instant);

impl Clock for TokioClock {
    fn now(&self) -> u64 {
        self.0.elapsed().as_nanos().try_into().unwrap()
    }

    fn entropy(&self) -> Option<u64> {
        None
    }
}

/// A dependency that is down for a time, and takes 100 ms for each answer.
struct Outage {
    ends: Instant,
    failed: AtomicU32,
    succeeded: AtomicU32,
    under_way: AtomicU32,
    most_under_way_while_down: AtomicU32,
}

impl Outage {
    fn of(lasts: Duration) -> Self {
        Self {
            ends: Instant::now() + lasts,
            failed: AtomicU32::new(0),
            succeeded: AtomicU32::new(0),
            under_way: AtomicU32::new(0),
            most_under_way_while_down: AtomicU32::new(0),
        }
    }

    async fn request(&self) -> Result<u32, PmsError> {
        let down = Instant::now() < self.ends;
        let under_way = self.under_way.fetch_add(1, Ordering::Relaxed) + 1;
        if down {
            let most = &self.most_under_way_while_down;
            most.fetch_max(under_way, Ordering::Relaxed);
        }
        sleep(Duration::from_millis(100)).await;
        self.under_way.fetch_sub(1, Ordering::Relaxed);
        let (ended, answer) = match down {
            true => (&self.failed, Err(PmsError::Down)),
            false => (&self.succeeded, Ok(7)),
        };
        ended.fetch_add(1, Ordering::Relaxed);
        answer
    }
}

/// How long until the next try: as the refusal says, and the retry's own pause more, so that
/// callers that were refused together need not come back together. Beside a probe nobody knows,
/// and of an operator's circuit neither: no more tries.
fn as_refused(error: &CallError<PmsError>, pause: Option<Duration>) -> Option<Duration> {
    let CallError::Open(refused) = error else {
        return pause;
    };
    match refused.reason() {
        Reason::HalfOpenFull => pause,
        _ => Some(refused.retry_after()? + pause?),
    }
}

/// What became of a thousand callers that each retried until they had an answer.
struct Storm {
    outage: Arc<Outage>,
    /// How often all of them together asked the breaker.
    asked: u32,
}

/// A thousand callers meet a circuit that is open, 90 s before the outage ends.
async fn storm(adjust: fn(&CallError<PmsError>, Option<Duration>) -> Option<Duration>) -> Storm {
    const EACH_SECOND: ConstantBuilder = ConstantBuilder::new()
        .with_delay(Duration::from_secs(1))
        .with_max_times(1_000);

    #[circuit_breaker(breaker = breaker)]
    async fn rooms(breaker: &Breaker<TokioClock>, outage: &Outage) -> Answer {
        outage.request().await.map_err(CallError::Call)
    }

    let settings = Settings::new().threshold(1).reset(RESET).jitter(0.0);
    let clock = TokioClock(Instant::now());
    let breaker = Arc::new(Breaker::with_clock("pms", settings.must(), clock));
    let outage = Arc::new(Outage::of(Duration::from_secs(90)));
    assert!(rooms(&breaker, &outage).await.is_err());
    assert_eq!(breaker.state(), State::Open);
    outage.failed.store(0, Ordering::Relaxed);

    let asked = Arc::new(AtomicU32::new(0));
    let mut callers = JoinSet::new();
    for _ in 0..1_000 {
        let (breaker, outage, asked) = (breaker.clone(), outage.clone(), asked.clone());
        callers.spawn(async move {
            let tries = || {
                asked.fetch_add(1, Ordering::Relaxed);
                rooms(&breaker, &outage)
            };
            tries.retry(EACH_SECOND).adjust(adjust).await
        });
    }
    for answer in callers.join_all().await {
        assert_eq!(answer, Ok(7));
    }
    assert_eq!(breaker.state(), State::Closed);
    let asked = asked.load(Ordering::Relaxed);
    Storm { outage, asked }
}

/// Each caller asks once when it comes, and twice in each trial: while the probe is under way, and
/// after it.
#[tokio::test(start_paused = true)]
async fn callers_that_wait_as_long_as_they_are_told_do_not_storm() {
    let Storm { outage, asked } = storm(as_refused).await;
    assert_eq!(outage.failed.load(Ordering::Relaxed), 2, "one each trial");
    assert_eq!(outage.most_under_way_while_down.load(Ordering::Relaxed), 1);
    assert_eq!(outage.succeeded.load(Ordering::Relaxed), 1_000);
    // Of the last trial, the probe has its answer at once.
    assert_eq!(asked, 1_000 * (1 + 2 * 3) - 1);
}

/// The breaker protects the dependency from those that don't, too; only they ask for nothing.
#[tokio::test(start_paused = true)]
async fn callers_that_do_not_ask_for_nothing_but_reach_the_dependency_no_more_often() {
    let Storm { outage, asked } = storm(|_, pause| pause).await;
    assert_eq!(outage.failed.load(Ordering::Relaxed), 2);
    assert_eq!(outage.most_under_way_while_down.load(Ordering::Relaxed), 1);
    assert_eq!(outage.succeeded.load(Ordering::Relaxed), 1_000);
    assert!(asked > 1_000 * 90, "{asked}: once a second");
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_an_operator_holds_open_is_not_waited_for() {
    #[circuit_breaker(breaker = breaker)]
    async fn rooms(breaker: &Breaker, pms: &Pms) -> Answer {
        pms.request(true).await.map_err(CallError::Call)
    }

    let _scope = test::scope();
    let refusals = Refusals::default();
    let _installed = observe::install(refusals.clone());
    let breaker = Breaker::new("pms", Settings::new().must());
    breaker.force_open();
    let pms = Pms::default();
    let started = Instant::now();
    let tries = || rooms(&breaker, &pms);
    assert!(is_refused(
        &tries.retry(THREE_TRIES).adjust(as_refused).await
    ));
    assert_eq!(refusals.0.load(Ordering::Relaxed), 1);
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert_eq!(pms.requests(), 0);
}

/// Plain calls: each sleep is as long as the refusal says, and no call is refused twice.
#[test]
fn a_plain_caller_that_sleeps_as_long_as_it_is_told_is_the_next_probe() {
    #[circuit_breaker(threshold = 1, backoff = 2.0)]
    fn rooms(pms: &Pms, up: bool) -> Answer {
        pms.request_plainly(up).map_err(CallError::Call)
    }

    fn by_hand(breaker: &Breaker, pms: &Pms, up: bool) -> Answer {
        breaker.call_sync(|| pms.request_plainly(up))
    }

    fn sleeps(mut rooms: impl FnMut(bool) -> Answer) -> Vec<Duration> {
        let scope = test::scope();
        let mut sleeps = Vec::new();
        loop {
            match rooms(sleeps.len() == 3) {
                Ok(_) => return sleeps,
                Err(CallError::Open(refused)) => {
                    let wait = refused.retry_after().unwrap();
                    scope.advance(wait);
                    sleeps.push(wait);
                    assert!(sleeps.len() <= 3, "{sleeps:?}");
                }
                Err(_) => assert!(sleeps.len() < 3, "it is up by then"),
            }
        }
    }

    let pms = Pms::default();
    let waits = [30, 60, 120].map(Duration::from_secs);
    assert_eq!(sleeps(|up| rooms(&pms, up)), waits);
    assert_eq!(pms.requests(), 4);
    let settings = Settings::new().threshold(1).backoff(2.0);
    let breaker = Breaker::new("pms", settings.must());
    assert_eq!(sleeps(|up| by_hand(&breaker, &pms, up)), waits);
    assert_eq!(pms.requests(), 4);
}
