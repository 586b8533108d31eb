//! What each option of the attribute does.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use breakerbox::test::{TestScope, scope};
use breakerbox::{
    Breaker, CallError, Cause, CircuitOpenError, Outcome, Settings, State, TimeoutError, breaker,
    circuit_breaker, find,
};

#[derive(Clone, Debug, PartialEq)]
enum PmsError {
    Down,
    NotFound,
    Busy,
    Refused,
    Late,
}

impl From<CircuitOpenError> for PmsError {
    fn from(_: CircuitOpenError) -> Self {
        PmsError::Refused
    }
}

impl From<TimeoutError> for PmsError {
    fn from(_: TimeoutError) -> Self {
        PmsError::Late
    }
}

type Answer<T = u8> = Result<T, PmsError>;

const DOWN: Answer = Err(PmsError::Down);
const NOT_FOUND: Answer = Err(PmsError::NotFound);
const REFUSED: Answer = Err(PmsError::Refused);
const LATE: Answer = Err(PmsError::Late);

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Awaits `future` while time goes on.
async fn after<F: Future>(scope: &TestScope, time: Duration, future: F) -> F::Output {
    let (output, ()) = tokio::join!(future, async { scope.advance(time) });
    output
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(future)
}

#[test]
fn defaults() {
    #[circuit_breaker]
    fn pms(answer: Answer) -> Answer {
        answer
    }

    let scope = scope();
    for _ in 0..5 {
        assert_eq!(pms(DOWN), DOWN);
    }
    assert_eq!(pms(Ok(1)), REFUSED);
    scope.advance(secs(29));
    assert_eq!(pms(Ok(1)), REFUSED);
    scope.advance(secs(1));
    assert_eq!(pms(Ok(1)), Ok(1));
    assert_eq!(pms(Ok(2)), Ok(2));
}

#[test]
fn settings_reach_the_breaker() {
    #[circuit_breaker(
        name = "settings reach the breaker",
        threshold = 2,
        reset = "10s",
        backoff = 2,
        max_reset = "30s",
        probes = 2,
        close_after = 3
    )]
    fn pms(answer: Answer) -> Answer {
        answer
    }

    let scope = scope();
    assert_eq!(pms(DOWN), DOWN);
    assert_eq!(pms(DOWN), DOWN);
    for wait in [10, 20, 30, 30] {
        scope.advance(secs(wait) - Duration::from_nanos(1));
        assert_eq!(pms(Ok(1)), REFUSED);
        scope.advance(Duration::from_nanos(1));
        assert_eq!(pms(DOWN), DOWN);
    }
    scope.advance(secs(30));
    for _ in 0..3 {
        assert_eq!(
            find("settings reach the breaker").unwrap().state(),
            if scope.elapsed() == secs(120) {
                State::Open
            } else {
                State::HalfOpen
            }
        );
        scope.advance(secs(1));
        assert_eq!(pms(Ok(1)), Ok(1));
    }
    assert_eq!(
        find("settings reach the breaker").unwrap().state(),
        State::Closed
    );
}

#[test]
fn close_rate_counts_a_trial() {
    #[circuit_breaker(threshold = 1, probes = 4, close_rate = 0.5)]
    fn pms(answer: Answer) -> Answer {
        answer
    }

    let scope = scope();
    assert_eq!(pms(DOWN), DOWN);
    scope.advance(secs(30));
    for answer in [DOWN, Ok(1), Ok(1), Ok(1)] {
        assert_eq!(pms(answer.clone()), answer);
    }
    assert_eq!(pms(DOWN), DOWN);
    scope.advance(secs(30));
    for answer in [DOWN, Ok(1), DOWN, Ok(1)] {
        assert_eq!(pms(answer.clone()), answer);
    }
    assert_eq!(pms(Ok(1)), REFUSED);
}

#[test]
fn trips_by_failure_rate_over_calls() {
    #[circuit_breaker(failure_rate = 0.5, window = 4, min_calls = 3)]
    fn pms(answer: Answer) -> Answer {
        answer
    }

    let scope = scope();
    // Two of three; then one of three, and of four; then the first failure falls out.
    for answer in [Ok(1), DOWN, Ok(1), Ok(1), Ok(1), DOWN] {
        assert_eq!(pms(answer.clone()), answer);
    }
    assert_eq!(pms(DOWN), DOWN);
    assert_eq!(pms(Ok(1)), REFUSED);
    scope.advance(secs(30));
    // Closed by the probe, and with an empty window.
    for answer in [Ok(1), DOWN, DOWN] {
        assert_eq!(pms(answer.clone()), answer);
    }
    assert_eq!(pms(Ok(1)), Ok(1));
    assert_eq!(pms(Ok(1)), REFUSED);
}

#[test]
fn a_rate_is_of_the_last_100_calls_and_at_least_20() {
    #[circuit_breaker(failure_rate = 0.5)]
    fn from_the_start(answer: Answer) -> Answer {
        answer
    }
    #[circuit_breaker(failure_rate = 0.5)]
    fn after_successes(answer: Answer) -> Answer {
        answer
    }

    let _scope = scope();
    for _ in 0..20 {
        assert_eq!(from_the_start(DOWN), DOWN);
    }
    assert_eq!(from_the_start(DOWN), REFUSED);
    for _ in 0..200 {
        assert_eq!(after_successes(Ok(1)), Ok(1));
    }
    for _ in 0..50 {
        assert_eq!(after_successes(DOWN), DOWN);
    }
    assert_eq!(after_successes(DOWN), REFUSED);
}

#[test]
fn trips_by_failure_rate_over_time() {
    #[circuit_breaker(failure_rate = 0.5, window = "10s", min_calls = 2)]
    async fn pms(answer: Answer) -> Answer {
        answer
    }

    let scope = scope();
    block_on(async {
        assert_eq!(pms(DOWN).await, DOWN);
        scope.advance(secs(20));
        // The first failure is too old to make two calls.
        assert_eq!(pms(DOWN).await, DOWN);
        scope.advance(secs(5));
        assert_eq!(pms(Ok(1)).await, Ok(1));
        assert_eq!(pms(Ok(1)).await, REFUSED);
    });
}

#[test]
fn trips_by_slow_calls() {
    const LIMIT: Duration = Duration::from_millis(500);

    #[circuit_breaker(failure_rate = 1, slow = LIMIT, slow_rate = 0.5, window = 4, min_calls = 4)]
    fn pms(scope: &TestScope, took: Duration) -> Answer {
        scope.advance(took);
        Ok(1)
    }

    let scope = scope();
    let longer = LIMIT + Duration::from_nanos(1);
    for took in [LIMIT, LIMIT, longer, LIMIT, longer] {
        assert_eq!(pms(&scope, took), Ok(1));
    }
    assert_eq!(pms(&scope, LIMIT), REFUSED);
}

#[test]
fn a_rate_with_everything() {
    const SIZE: u32 = 2;
    const TIME: Duration = Duration::from_secs(10);
    const SHARE: f64 = 1.0;

    struct Client;
    impl Client {
        #[circuit_breaker(
            shared,
            failure_rate = SHARE,
            window = SIZE,
            min_calls = SIZE,
            probes = 2,
            close_rate = SHARE / 2.0,
            fallback = |_| Ok(100)
        )]
        async fn by_calls(&self, answer: Answer) -> Answer {
            answer
        }

        #[circuit_breaker(breaker = RATES, timeout = "1s")]
        async fn by_time(&self, answer: Option<Answer>) -> Answer {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        }
    }
    breaker! { static RATES = { failure_rate: SHARE, window: TIME, min_calls: SIZE } }

    let scope = scope();
    block_on(async {
        let pms = Client;
        for (answer, given) in [(DOWN, 100), (Ok(1), 1), (DOWN, 100), (DOWN, 100)] {
            assert_eq!(pms.by_calls(answer).await, Ok(given));
        }
        assert_eq!(pms.by_calls(Ok(1)).await, Ok(100));
        scope.advance(secs(30));
        // Half of the trial failed: it opens anew. None of the next: it closes.
        assert_eq!(pms.by_calls(Ok(1)).await, Ok(1));
        assert_eq!(pms.by_calls(DOWN).await, Ok(100));
        assert_eq!(pms.by_calls(Ok(1)).await, Ok(100));
        scope.advance(secs(30));
        for _ in 0..3 {
            assert_eq!(pms.by_calls(Ok(1)).await, Ok(1));
        }

        assert_eq!(pms.by_time(Some(DOWN)).await, DOWN);
        assert_eq!(after(&scope, secs(1), pms.by_time(None)).await, LATE);
        assert_eq!(pms.by_time(Some(Ok(1))).await, REFUSED);
    });
    assert_eq!(RATES.state(), State::Open);
    assert!(
        find(concat!(
            module_path!(),
            "::a_rate_with_everything::Client::by_calls"
        ))
        .is_some()
    );
}

#[test]
fn on_cancel() {
    #[circuit_breaker(threshold = 1)]
    async fn ignored() -> Answer {
        std::future::pending().await
    }
    #[circuit_breaker(threshold = 1, on_cancel = failure)]
    async fn counted() -> Answer {
        std::future::pending().await
    }
    fn cancel(future: impl Future<Output = Answer>) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(future).poll(&mut context).is_pending()
    }

    let _scope = scope();
    assert!(cancel(ignored()));
    assert!(cancel(ignored()));
    assert!(cancel(counted()));
    assert!(!cancel(counted()));
}

#[test]
fn names() {
    mod rooms {
        use super::*;

        #[circuit_breaker]
        pub(super) fn by_path() -> Answer {
            Ok(1)
        }

        pub(super) struct Client;

        impl Client {
            #[circuit_breaker(shared)]
            pub(super) fn of_the_type(&self) -> Answer {
                Ok(1)
            }
        }
    }
    #[circuit_breaker(name = "by name", threshold = 1)]
    fn named(answer: Answer) -> Result<u8, CallError<PmsError>> {
        answer.map_err(CallError::Call)
    }

    let _scope = scope();
    let (path, method) = (
        concat!(module_path!(), "::rooms::by_path"),
        concat!(module_path!(), "::names::rooms::Client::of_the_type"),
    );
    assert!(find("by name").is_none());
    named(DOWN).unwrap_err();
    rooms::by_path().unwrap();
    rooms::Client.of_the_type().unwrap();
    for name in ["by name", path, method] {
        assert!(find(name).is_some(), "{name}");
    }
    match named(Ok(1)) {
        Err(CallError::Open(refused)) => assert_eq!(refused.name(), "by name"),
        other => panic!("{other:?}"),
    }
}

breaker! { static PMS = { threshold: 1 } }

#[test]
fn one_breaker_for_two_functions() {
    #[circuit_breaker(breaker = PMS)]
    fn rooms(answer: Answer) -> Answer {
        answer
    }
    #[circuit_breaker(breaker = &PMS)]
    async fn rates() -> Answer {
        Ok(1)
    }

    let _scope = scope();
    assert_eq!(rooms(DOWN), DOWN);
    assert_eq!(block_on(rates()), REFUSED);
    assert_eq!(PMS.state(), State::Open);
}

#[test]
fn one_breaker_for_each_client() {
    struct Client {
        breaker: Arc<Breaker>,
    }
    impl Client {
        fn new(name: &str) -> Self {
            Client {
                breaker: Breaker::shared(name, Settings::new().threshold(1).must()),
            }
        }

        #[circuit_breaker(breaker = self.breaker)]
        async fn own(&self, answer: Answer) -> Answer {
            answer
        }

        #[circuit_breaker(shared, threshold = 1)]
        async fn shared(&self, answer: Answer) -> Answer {
            answer
        }
    }

    let _scope = scope();
    let (one, two) = (Client::new("one"), Client::new("two"));
    block_on(async {
        assert_eq!(one.own(DOWN).await, DOWN);
        assert_eq!(one.own(Ok(1)).await, REFUSED);
        assert_eq!(two.own(Ok(1)).await, Ok(1));
        assert_eq!(one.shared(DOWN).await, DOWN);
        assert_eq!(two.shared(Ok(1)).await, REFUSED);
    });
}

#[test]
fn classify_by_error() {
    fn outcome(error: &PmsError) -> Outcome {
        match error {
            PmsError::Busy => Outcome::Overloaded(secs(90)),
            PmsError::NotFound => Outcome::Ignored,
            _ => Outcome::Failure,
        }
    }
    #[circuit_breaker(threshold = 1, classify = |error| *error == PmsError::Down)]
    fn by_bool(answer: Answer) -> Answer {
        answer
    }
    #[circuit_breaker(classify = outcome)]
    async fn by_outcome(answer: Answer) -> Answer {
        answer
    }

    let scope = scope();
    assert_eq!(by_bool(NOT_FOUND), NOT_FOUND);
    assert_eq!(by_bool(NOT_FOUND), NOT_FOUND);
    assert_eq!(by_bool(DOWN), DOWN);
    assert_eq!(by_bool(Ok(1)), REFUSED);
    block_on(async {
        assert_eq!(by_outcome(NOT_FOUND).await, NOT_FOUND);
        let busy = Err(PmsError::Busy);
        assert_eq!(by_outcome(busy.clone()).await, busy);
        scope.advance(secs(89));
        assert_eq!(by_outcome(Ok(1)).await, REFUSED);
        scope.advance(secs(1));
        assert_eq!(by_outcome(Ok(1)).await, Ok(1));
    });
}

/// An ignored error gives a probe's slot back and decides nothing; a success decides.
#[test]
fn classify_output_tells_success_from_ignored() {
    #[circuit_breaker(
        threshold = 1,
        classify_output = |status| match status {
            500.. => Outcome::Failure,
            400.. => Outcome::Ignored,
            _ => Outcome::Success,
        },
        open_error = |_| 503
    )]
    fn status(answer: u16) -> u16 {
        answer
    }
    #[circuit_breaker(threshold = 2, classify_output = |answer| *answer != Ok(1))]
    async fn by_bool(answer: Answer) -> Answer {
        answer
    }

    let scope = scope();
    assert_eq!(status(500), 500);
    assert_eq!(status(200), 503);
    scope.advance(secs(30));
    assert_eq!(status(404), 404);
    assert_eq!(status(500), 500);
    assert_eq!(status(200), 503);
    block_on(async {
        for answer in [Ok(2), Ok(1), Ok(2), DOWN] {
            assert_eq!(by_bool(answer.clone()).await, answer);
        }
        assert_eq!(by_bool(Ok(1)).await, REFUSED);
    });
}

#[test]
fn timeout_drops_the_call_and_counts() {
    struct Dropped<'a>(&'a Cell<bool>);
    impl Drop for Dropped<'_> {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    const LIMIT: Duration = Duration::from_secs(2);

    #[circuit_breaker(threshold = 1, timeout = LIMIT)]
    async fn slow(ends: bool, dropped: &Cell<bool>) -> Answer {
        let _dropped = Dropped(dropped);
        tokio::task::yield_now().await;
        if !ends {
            std::future::pending().await
        }
        Ok(1)
    }

    let scope = scope();
    let just = LIMIT - Duration::from_nanos(1);
    block_on(async {
        let dropped = Cell::new(false);
        assert_eq!(after(&scope, just, slow(true, &dropped)).await, Ok(1));
        dropped.set(false);
        assert_eq!(after(&scope, LIMIT, slow(false, &dropped)).await, LATE);
        assert!(dropped.get());
        assert_eq!(slow(true, &dropped).await, REFUSED);
    });
}

#[test]
fn own_errors() {
    #[circuit_breaker(
        threshold = 1,
        timeout = "1s",
        open_error = |refused| format!("{:?}", refused.retry_after()),
        timeout_error = |late| format!("{:?}", late.after())
    )]
    async fn slow() -> Result<u8, String> {
        std::future::pending().await
    }

    let scope = scope();
    block_on(async {
        assert_eq!(after(&scope, secs(1), slow()).await, Err("1s".to_owned()));
        assert_eq!(slow().await, Err("Some(30s)".to_owned()));
    });
}

#[test]
fn a_fallback_is_for_counted_failures_rejections_and_timeouts() {
    #[circuit_breaker(
        threshold = 2,
        timeout = "1s",
        classify = |error| *error != PmsError::NotFound,
        fallback = |cause| match cause {
            Cause::Failed(answer) => { assert_eq!(*answer, DOWN); Ok(101) }
            Cause::TimedOut(late) => { assert_eq!(late.after(), secs(1)); Ok(102) }
            Cause::Open(refused) => { assert!(refused.retry_after().is_some()); Ok(103) }
        }
    )]
    async fn pms(answer: Option<Answer>) -> Answer {
        match answer {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    let scope = scope();
    block_on(async {
        assert_eq!(pms(Some(Ok(1))).await, Ok(1));
        assert_eq!(pms(Some(NOT_FOUND)).await, NOT_FOUND);
        assert_eq!(pms(Some(DOWN)).await, Ok(101));
        assert_eq!(after(&scope, secs(1), pms(None)).await, Ok(102));
        assert_eq!(pms(Some(Ok(1))).await, Ok(103));
    });
}

#[test]
fn fallback_on_open_is_for_rejections() {
    #[circuit_breaker(threshold = 2, timeout = "1s", fallback = |_| Ok(100), fallback_on = open)]
    async fn pms(answer: Option<Answer>) -> Answer {
        match answer {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }

    let scope = scope();
    block_on(async {
        assert_eq!(pms(Some(DOWN)).await, DOWN);
        assert_eq!(after(&scope, secs(1), pms(None)).await, LATE);
        assert_eq!(pms(Some(Ok(1))).await, Ok(100));
    });
}

#[test]
fn a_fallback_without_an_answer_leaves_the_original() {
    #[circuit_breaker(threshold = 1, fallback = from_cache)]
    fn plain(answer: &Answer, _cached: Option<u8>) -> Answer {
        answer.clone()
    }
    #[circuit_breaker(threshold = 2, timeout = "1s", fallback = fetch_cached)]
    async fn waiting(answer: Option<&Answer>, _cached: Option<u8>) -> Answer {
        match answer {
            Some(answer) => answer.clone(),
            None => std::future::pending().await,
        }
    }
    fn from_cache(_: &Answer, cached: Option<u8>) -> Option<Answer> {
        cached.map(Ok)
    }
    async fn fetch_cached(_: Option<&Answer>, cached: Option<u8>) -> Option<Answer> {
        tokio::task::yield_now().await;
        cached.map(Ok)
    }

    let scope = scope();
    assert_eq!(plain(&DOWN, None), DOWN);
    assert_eq!(plain(&Ok(1), None), REFUSED);
    assert_eq!(plain(&Ok(1), Some(9)), Ok(9));
    block_on(async {
        assert_eq!(waiting(Some(&DOWN), None).await, DOWN);
        assert_eq!(after(&scope, secs(1), waiting(None, None)).await, LATE);
        assert_eq!(waiting(Some(&Ok(1)), None).await, REFUSED);
        assert_eq!(waiting(Some(&Ok(1)), Some(9)).await, Ok(9));
    });
}

/// Where it always answers, nothing has to be made of a refusal: neither from an error nor
/// from what is none.
#[test]
fn a_fallback_that_always_answers_needs_no_other_way() {
    #[derive(Debug, PartialEq)]
    struct NoFrom;

    #[circuit_breaker(threshold = 1, fallback = |_| Ok(9))]
    fn plain() -> Result<u8, NoFrom> {
        Err(NoFrom)
    }
    #[circuit_breaker(threshold = 2, timeout = "1s", fallback = cached)]
    async fn late(answer: Option<u8>) -> Result<u8, NoFrom> {
        match answer {
            Some(answer) => Ok(answer),
            None => std::future::pending().await,
        }
    }
    async fn cached(_: Option<u8>) -> Result<u8, NoFrom> {
        tokio::task::yield_now().await;
        Ok(9)
    }
    #[circuit_breaker(threshold = 1, fallback = |_| Ok(9), fallback_on = open)]
    async fn on_open() -> Result<u8, NoFrom> {
        Err(NoFrom)
    }
    #[circuit_breaker(
        threshold = 1,
        timeout = "1s",
        timeout_error = |_| NoFrom,
        fallback = |_| Ok(9),
        fallback_on = open
    )]
    async fn on_open_and_late() -> Result<u8, NoFrom> {
        std::future::pending().await
    }
    #[circuit_breaker(threshold = 1, classify_output = Option::is_none, fallback = |_| Some(9))]
    fn no_result(answer: Option<u8>) -> Option<u8> {
        answer
    }
    #[circuit_breaker(threshold = 1, timeout = "1s", classify_output = |n| *n == 0, fallback = 9)]
    async fn a_number(answer: u8) -> u8 {
        answer
    }

    let scope = scope();
    assert_eq!(plain(), Ok(9));
    assert_eq!(plain(), Ok(9));
    assert_eq!(no_result(None), Some(9));
    assert_eq!(no_result(Some(1)), Some(9));
    block_on(async {
        assert_eq!(late(Some(1)).await, Ok(1));
        assert_eq!(after(&scope, secs(1), late(None)).await, Ok(9));
        assert_eq!(after(&scope, secs(1), late(None)).await, Ok(9));
        assert_eq!(late(Some(1)).await, Ok(9));
        assert_eq!(on_open().await, Err(NoFrom));
        assert_eq!(on_open().await, Ok(9));
        assert_eq!(
            after(&scope, secs(1), on_open_and_late()).await,
            Err(NoFrom)
        );
        assert_eq!(on_open_and_late().await, Ok(9));
        assert_eq!(a_number(1).await, 1);
        assert_eq!(a_number(0).await, 9);
        assert_eq!(a_number(1).await, 9);
    });
}

#[test]
fn a_fallback_runs_only_when_it_is_wanted() {
    static RUNS: AtomicU32 = AtomicU32::new(0);

    #[circuit_breaker(threshold = 1, fallback = count(hotel))]
    fn pms(hotel: &str, answer: Answer) -> Answer {
        let _ = hotel;
        answer
    }
    fn count(hotel: &str) -> Answer {
        RUNS.fetch_add(hotel.len() as u32, Ordering::Relaxed);
        Ok(100)
    }

    let _scope = scope();
    assert_eq!(pms("abc", Ok(1)), Ok(1));
    assert_eq!(RUNS.load(Ordering::Relaxed), 0);
    assert_eq!(pms("abc", DOWN), Ok(100));
    assert_eq!(pms("ab", Ok(1)), Ok(100));
    assert_eq!(RUNS.load(Ordering::Relaxed), 5);
}

#[test]
fn a_fallback_sees_what_the_body_changed() {
    #[circuit_breaker(fallback = |_| Ok(tries.len() as u8))]
    async fn pms(mut tries: Vec<u8>) -> Answer {
        tries.push(1);
        tries.push(2);
        DOWN
    }

    let _scope = scope();
    assert_eq!(block_on(pms(vec![0])), Ok(3));
}

#[test]
fn a_panic_of_the_body_counts_and_goes_on() {
    #[circuit_breaker(threshold = 1)]
    fn pms(fail: bool) -> Answer {
        assert!(!fail, "as it does");
        Ok(1)
    }

    let _scope = scope();
    let panicked = std::panic::catch_unwind(|| pms(true)).unwrap_err();
    assert_eq!(panicked.downcast_ref(), Some(&"as it does"));
    assert_eq!(pms(false), REFUSED);
}
