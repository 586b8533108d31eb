//! `last_good` in the attribute: what is kept, and when it is served.

use super::{load, store};
use breakerbox::observe::{self, FallbackServed, Observer};
use breakerbox::{
    CallError, CircuitOpenError, InPlaceOf, KeyedBreakers, LastGood, Outcome, Served, Settings,
    State, TimeoutError, breaker, circuit_breaker, test,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Error = CallError<&'static str>;
type Rates = Result<Served<u32>, Error>;

const HOUR: Duration = Duration::from_secs(3_600);
const SECOND: Duration = Duration::from_secs(1);

fn ask(up: bool, value: u32) -> Rates {
    if up {
        Ok(Served::fresh(value))
    } else {
        Err(CallError::Call("no answer"))
    }
}

static RATES: LastGood<String, u32> = LastGood::new(HOUR);

#[circuit_breaker(threshold = 2, reset = "30s", last_good = RATES, last_good_key = hotel)]
async fn rates(hotel: &str, up: bool, value: u32) -> Rates {
    ask(up, value)
}

#[tokio::test]
async fn a_success_is_kept_and_served_in_the_outage() {
    let scope = test::scope();
    assert_eq!(rates("h1", true, 120).await, Ok(Served::fresh(120)));
    scope.advance(5 * SECOND);
    let stale = Ok(Served::stale(120, 5 * SECOND));
    assert_eq!(rates("h1", false, 0).await, stale, "a counted failure");
    assert_eq!(rates("h1", false, 0).await, stale, "that opens the circuit");
    scope.advance(SECOND);
    let stale = Ok(Served::stale(120, 6 * SECOND));
    assert_eq!(rates("h1", true, 130).await, stale, "a refused call");
    assert!(
        matches!(rates("h2", true, 130).await, Err(CallError::Open(_))),
        "of another question nothing is known"
    );
    scope.advance(30 * SECOND);
    assert_eq!(rates("h1", true, 130).await, Ok(Served::fresh(130)));
}

#[circuit_breaker(threshold = 2, reset = "30s", last_good = RATES, last_good_key = hotel)]
fn rates_now(hotel: &str, up: bool, value: u32) -> Rates {
    ask(up, value)
}

#[test]
fn a_plain_function_does_the_same() {
    let scope = test::scope();
    assert_eq!(rates_now("h1", true, 120), Ok(Served::fresh(120)));
    scope.advance(5 * SECOND);
    let stale = Ok(Served::stale(120, 5 * SECOND));
    assert_eq!(rates_now("h1", false, 0), stale);
    assert_eq!(rates_now("h1", false, 0), stale);
    assert_eq!(rates_now("h1", true, 130), stale);
    assert!(matches!(
        rates_now("h2", true, 130),
        Err(CallError::Open(_))
    ));
}

#[tokio::test]
async fn a_cold_cache_gives_the_callers_own_error() {
    let scope = test::scope();
    let failed = rates("h1", false, 0).await;
    assert_eq!(failed, Err(CallError::Call("no answer")));
    assert_eq!(rates("h1", false, 0).await, failed);
    let refused = rates("h1", true, 1).await;
    assert!(matches!(refused, Err(CallError::Open(_))));
    assert_eq!(load(&RATES, "h1"), None, "an error is no answer");
    scope.advance(30 * SECOND);
    assert_eq!(rates("h1", true, 1).await, Ok(Served::fresh(1)));
}

#[tokio::test]
async fn an_answer_that_is_too_old_is_none() {
    let scope = test::scope();
    rates("h1", true, 120).await.unwrap();
    scope.advance(HOUR);
    assert_eq!(
        rates("h1", false, 0).await,
        Ok(Served::stale(120, HOUR)),
        "exactly as old as it may be"
    );
    scope.advance(Duration::from_millis(1));
    let failed = rates("h1", false, 0).await;
    assert_eq!(failed, Err(CallError::Call("no answer")));
    let refused = rates("h1", true, 1).await;
    assert!(matches!(refused, Err(CallError::Open(_))));
}

#[tokio::test]
async fn a_primed_answer_is_served_in_the_first_outage() {
    let _scope = test::scope();
    let Ok(()) = RATES.prime_now("h1", &110, 60 * SECOND);
    let served = rates("h1", false, 0).await;
    assert_eq!(served, Ok(Served::stale(110, 60 * SECOND)));
}

/// Gives what it is told to.
#[circuit_breaker(threshold = 1, last_good = RATES, last_good_key = hotel)]
async fn told(hotel: &str, answer: Rates) -> Rates {
    answer
}

#[circuit_breaker(threshold = 1, last_good = RATES, last_good_key = hotel)]
fn told_now(hotel: &str, answer: Rates) -> Rates {
    answer
}

#[tokio::test]
async fn an_answer_that_came_with_an_age_keeps_it() {
    let scope = test::scope();
    let some_age = Served {
        value: 7,
        age: 90 * SECOND,
        stale: false,
    };
    assert_eq!(told("h1", Ok(some_age)).await, Ok(some_age));
    assert_eq!(told_now("h2", Ok(some_age)), Ok(some_age));
    scope.advance(SECOND);
    let failed = Err(CallError::Call("no answer"));
    let stale = Ok(Served::stale(7, 91 * SECOND));
    assert_eq!(told("h1", failed.clone()).await, stale);
    assert_eq!(told_now("h2", failed), stale);
}

#[tokio::test]
async fn a_stale_answer_is_not_kept() {
    let _scope = test::scope();
    let stale = Ok(Served::stale(7, SECOND));
    assert_eq!(told("h1", stale.clone()).await, stale);
    assert_eq!(told_now("h1", stale.clone()), stale);
    assert_eq!(load(&RATES, "h1"), None);
    let old = Served {
        value: 8,
        age: 2 * HOUR,
        stale: false,
    };
    assert_eq!(told("h1", Ok(old)).await, Ok(old));
    assert_eq!(told_now("h1", Ok(old)), Ok(old));
    assert_eq!(load(&RATES, "h1"), None, "too old to be served");
    store(&RATES, "h1", 9);
    assert_eq!(told("h1", stale.clone()).await, stale);
    assert_eq!(load(&RATES, "h1").unwrap().value, 9);
}

fn is_outage(error: &Error) -> bool {
    *error != CallError::Call("no such hotel")
}

#[circuit_breaker(
    threshold = 1,
    classify = is_outage,
    last_good = RATES,
    last_good_key = hotel
)]
async fn classified(hotel: &str, answer: Rates) -> Rates {
    answer
}

#[tokio::test]
async fn an_ignored_error_is_given_back_as_it_is() {
    let _scope = test::scope();
    assert!(classified("h1", Ok(Served::fresh(7))).await.is_ok());
    let unknown = Err(CallError::Call("no such hotel"));
    assert_eq!(classified("h1", unknown.clone()).await, unknown);
    let outage = Err(CallError::Call("no answer"));
    let served = classified("h1", outage).await;
    assert_eq!(served, Ok(Served::stale(7, Duration::ZERO)));
}

fn by_value(output: &Rates) -> Outcome {
    match output {
        Ok(Served { value: 0, .. }) => Outcome::Failure,
        Ok(Served { value: 1, .. }) => Outcome::Ignored,
        Ok(Served { value: 2, .. }) => Outcome::Dropped,
        Ok(Served { value: 3, .. }) => Outcome::Overloaded(SECOND),
        Ok(_) => Outcome::Success,
        Err(CallError::Call("fine")) => Outcome::Success,
        Err(_) => Outcome::Failure,
    }
}

#[circuit_breaker(
    threshold = 100,
    classify_output = by_value,
    last_good = RATES,
    last_good_key = hotel
)]
async fn by_output(hotel: &str, answer: Rates) -> Rates {
    answer
}

#[circuit_breaker(
    threshold = 100,
    classify_output = move |output| by_value(&output.clone()),
    last_good = RATES,
    last_good_key = hotel
)]
fn by_output_now(hotel: &str, answer: Rates) -> Rates {
    answer
}

#[tokio::test]
async fn only_what_counts_as_a_success_is_kept() {
    for value in 0..3 {
        let _scope = test::scope();
        let given = by_output("h1", Ok(Served::fresh(value))).await;
        assert_eq!(given, Ok(Served::fresh(value)), "nothing better is known");
        assert_eq!(by_output_now("h1", given.clone()), given);
        assert_eq!(load(&RATES, "h1"), None, "{value}");
    }
    let _scope = test::scope();
    assert!(by_output("h1", Ok(Served::fresh(9))).await.is_ok());
    let kept = Some(Served::stale(9, Duration::ZERO));
    assert_eq!(load(&RATES, "h1"), kept);
    let served = by_output("h1", Ok(Served::fresh(0))).await;
    assert_eq!(served.ok(), kept, "an answer that counts as a failure");
    let ignored = Ok(Served::fresh(1));
    assert_eq!(by_output("h1", ignored.clone()).await, ignored);
    assert_eq!(by_output_now("h1", ignored.clone()), ignored);
    let fine = Err(CallError::Call("fine"));
    assert_eq!(by_output("h1", fine.clone()).await, fine);
    assert_eq!(load(&RATES, "h1"), kept);
    assert!(by_output_now("h1", Ok(Served::fresh(10))).is_ok());
    assert_eq!(load(&RATES, "h1").unwrap().value, 10);
    let served = by_output("h1", Ok(Served::fresh(3))).await;
    assert_eq!(served.unwrap().value, 10, "an overloaded one");
}

#[circuit_breaker(
    threshold = 1,
    timeout = "2s",
    last_good = RATES,
    last_good_key = hotel
)]
async fn slow(hotel: &str, up: bool) -> Rates {
    if !up {
        std::future::pending::<()>().await;
    }
    Ok(Served::fresh(7))
}

/// Runs a call until the scope's clock has been moved on beside it.
async fn timed_out<T>(scope: &test::TestScope, call: impl Future<Output = T>) -> T {
    let (answer, ()) = tokio::join!(call, async {
        tokio::task::yield_now().await;
        scope.advance(2 * SECOND);
    });
    answer
}

#[tokio::test]
async fn a_call_that_takes_too_long_gets_the_last_good_answer() {
    let scope = test::scope();
    assert!(slow("h1", true).await.is_ok());
    let served = timed_out(&scope, slow("h1", false)).await;
    assert_eq!(served, Ok(Served::stale(7, 2 * SECOND)));
    let served = slow("h1", true).await;
    assert_eq!(served, Ok(Served::stale(7, 2 * SECOND)), "it is open now");
}

#[tokio::test]
async fn or_the_callers_own_error() {
    let scope = test::scope();
    let late = timed_out(&scope, slow("h1", false)).await;
    assert!(matches!(late, Err(CallError::TimedOut(_))));
    assert!(matches!(slow("h1", true).await, Err(CallError::Open(_))));
}

#[circuit_breaker(
    threshold = 1,
    timeout = "2s",
    fallback_on = open,
    last_good = RATES,
    last_good_key = hotel
)]
async fn refused_only(hotel: &str, answer: Option<Rates>) -> Rates {
    match answer {
        Some(answer) => answer,
        None => std::future::pending().await,
    }
}

#[circuit_breaker(threshold = 1, fallback_on = open, last_good = RATES, last_good_key = hotel)]
fn refused_only_now(hotel: &str, answer: Rates) -> Rates {
    answer
}

#[tokio::test]
async fn with_fallback_on_open_only_refused_calls_get_it() {
    let failed = Err(CallError::Call("no answer"));
    let stale = |age| Ok(Served::stale(7, age));
    {
        let scope = test::scope();
        assert!(refused_only("h1", Some(Ok(Served::fresh(7)))).await.is_ok());
        scope.advance(SECOND);
        assert_eq!(refused_only("h1", Some(failed.clone())).await, failed);
        let answer = refused_only("h1", Some(Ok(Served::fresh(8)))).await;
        assert_eq!(answer, stale(SECOND));
    }
    {
        let scope = test::scope();
        assert!(refused_only("h1", Some(Ok(Served::fresh(7)))).await.is_ok());
        let late = timed_out(&scope, refused_only("h1", None)).await;
        assert!(matches!(late, Err(CallError::TimedOut(_))));
        let answer = refused_only("h1", Some(Ok(Served::fresh(8)))).await;
        assert_eq!(answer, stale(2 * SECOND));
    }
    let _scope = test::scope();
    assert!(refused_only_now("h1", Ok(Served::fresh(7))).is_ok());
    assert_eq!(refused_only_now("h1", failed.clone()), failed);
    assert_eq!(
        refused_only_now("h1", Ok(Served::fresh(8))),
        stale(Duration::ZERO)
    );
}

/// An error of the user's own.
#[derive(Debug, PartialEq, Eq)]
enum Own {
    NoAnswer,
    Refused(String),
    Late,
}

#[circuit_breaker(
    threshold = 1,
    timeout = "2s",
    last_good = RATES,
    last_good_key = hotel,
    open_error = |open: CircuitOpenError| Own::Refused(format!("{hotel}: {}", open.name())),
    timeout_error = |_: TimeoutError| Own::Late
)]
async fn own_error(hotel: String, up: Option<bool>) -> Result<Served<u32>, Own> {
    match up {
        Some(true) => Ok(Served::fresh(7)),
        Some(false) => Err(Own::NoAnswer),
        None => std::future::pending().await,
    }
}

#[tokio::test]
async fn errors_are_made_where_nothing_is_known() {
    let scope = test::scope();
    let h1 = || "h1".to_owned();
    let late = timed_out(&scope, own_error(h1(), None)).await;
    assert_eq!(late, Err(Own::Late));
    let Err(Own::Refused(why)) = own_error(h1(), Some(true)).await else {
        panic!("it is open");
    };
    assert!(
        why.starts_with("h1: ") && why.ends_with("own_error"),
        "{why}"
    );
    scope.advance(40 * SECOND);
    assert_eq!(own_error(h1(), Some(false)).await, Err(Own::NoAnswer));
    store(&RATES, "h1", 5);
    let served = own_error(h1(), Some(true)).await;
    assert_eq!(served, Ok(Served::stale(5, Duration::ZERO)));
}

#[tokio::test]
async fn a_call_that_is_dropped_keeps_nothing() {
    let _scope = test::scope();
    {
        let mut call = std::pin::pin!(slow("h1", false));
        assert!(futures_poll(call.as_mut()).is_pending());
    }
    drop(slow("h1", true));
    assert_eq!(load(&RATES, "h1"), None);
    assert!(slow("h1", true).await.is_ok(), "nor does it count");
}

fn futures_poll<F: Future>(future: std::pin::Pin<&mut F>) -> std::task::Poll<F::Output> {
    future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
}

static HOSTS: KeyedBreakers<String> =
    KeyedBreakers::new("hosts", Settings::new().threshold(1).must());

#[circuit_breaker(threshold = 1, key = hotel, last_good = RATES)]
async fn by_key(hotel: &str, up: bool, value: u32) -> Rates {
    ask(up, value)
}

#[circuit_breaker(breaker = HOSTS, key = hotel, last_good = RATES)]
fn by_key_of_theirs(hotel: &str, up: bool, value: u32) -> Rates {
    ask(up, value)
}

#[tokio::test]
async fn without_a_key_of_its_own_it_is_the_breakers() {
    let _scope = test::scope();
    assert!(by_key("h1", true, 1).await.is_ok());
    assert!(by_key("h2", true, 2).await.is_ok());
    let stale = |value| Ok(Served::stale(value, Duration::ZERO));
    assert_eq!(by_key("h1", false, 0).await, stale(1));
    assert_eq!(by_key("h1", true, 9).await, stale(1), "it is open");
    assert_eq!(by_key("h2", true, 3).await, Ok(Served::fresh(3)));

    assert_eq!(by_key_of_theirs("h2", false, 0), stale(3));
    assert_eq!(by_key_of_theirs("h2", true, 0), stale(3));
    assert!(by_key_of_theirs("h3", true, 4).is_ok());
    assert_eq!(by_key_of_theirs("h3", false, 0), stale(4));
}

type Question = (String, u32);
static NIGHTS: LastGood<Question, u32> = LastGood::new(HOUR);

/// One breaker for the hotel, one answer for each night.
#[circuit_breaker(
    threshold = 2,
    key = hotel,
    last_good = NIGHTS,
    last_good_key = (hotel, night)
)]
async fn night(hotel: &str, night: u32, up: bool) -> Rates {
    ask(up, night * 10)
}

#[tokio::test]
async fn a_key_of_its_own_is_finer_than_the_breakers() {
    let _scope = test::scope();
    assert!(night("h1", 1, true).await.is_ok());
    assert!(night("h1", 2, true).await.is_ok());
    for n in [1, 2, 1, 2] {
        let served = night("h1", n, false).await;
        assert_eq!(served, Ok(Served::stale(n * 10, Duration::ZERO)));
    }
    assert!(matches!(
        night("h1", 3, true).await,
        Err(CallError::Open(_))
    ));
    assert_eq!(night("h2", 3, true).await, Ok(Served::fresh(30)));
}

static STATUS: LastGood<(), u32> = LastGood::new(HOUR).max_answers(1);

#[circuit_breaker(threshold = 1, reset = "30s", last_good = STATUS)]
async fn status() -> Rates {
    ask(UP.with(std::cell::Cell::get), 7)
}

thread_local! {
    static UP: std::cell::Cell<bool> = const { std::cell::Cell::new(true) };
}

#[tokio::test]
async fn a_function_without_parameters_has_one_answer() {
    let scope = test::scope();
    assert_eq!(status().await, Ok(Served::fresh(7)));
    scope.advance(SECOND);
    UP.set(false);
    let stale = Ok(Served::stale(7, SECOND));
    assert_eq!(status().await, stale);
    assert_eq!(status().await, stale);
    let Ok(answer) = STATUS.load_now(&());
    assert_eq!(answer.map(|served| served.value), Some(7));
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Observer for Heard {
    fn fallback_served(&self, event: &FallbackServed<'_>) {
        let why = match event.in_place_of {
            InPlaceOf::Open => "open",
            InPlaceOf::Failed => "failed",
            InPlaceOf::TimedOut => "timed out",
            _ => "?",
        };
        let key = event.key.map_or_else(String::new, |key| format!("[{key}]"));
        self.0.lock().unwrap().push(format!("{why}{key}"));
    }
}

#[tokio::test]
async fn a_served_answer_is_never_silent() {
    let scope = test::scope();
    let heard = Arc::new(Heard::default());
    let _installed = observe::install(Arc::clone(&heard));
    let said = || std::mem::take(&mut *heard.0.lock().unwrap());

    let _ = rates("h1", false, 0).await;
    assert!(said().is_empty(), "nothing was served");
    let _ = rates("h1", true, 0).await;
    assert!(said().is_empty(), "it is fresh");
    let _ = rates("h1", false, 0).await;
    let _ = rates("h1", false, 0).await;
    let _ = rates("h1", false, 0).await;
    assert_eq!(said(), ["failed", "failed", "open"]);
    let _ = slow("h1", true).await;
    let _ = timed_out(&scope, slow("h1", false)).await;
    assert_eq!(said(), ["timed out"]);
    let _ = by_key("h1", false, 0).await;
    assert_eq!(said(), ["failed[h1]"]);
}

breaker! { static PMS = { threshold: 1, reset: "30s" } }

#[circuit_breaker(breaker = PMS, last_good = RATES, last_good_key = hotel)]
async fn guarded_by_pms(hotel: &str, up: bool, value: u32) -> Rates {
    ask(up, value)
}

#[tokio::test]
async fn with_a_breaker_from_elsewhere() {
    let _scope = test::scope();
    assert!(guarded_by_pms("h1", true, 1).await.is_ok());
    let stale = Ok(Served::stale(1, Duration::ZERO));
    assert_eq!(guarded_by_pms("h1", false, 0).await, stale);
    assert_eq!(PMS.state(), State::Open);
    assert_eq!(guarded_by_pms("h1", true, 0).await, stale);
    PMS.disable();
    assert_eq!(
        guarded_by_pms("h1", true, 2).await,
        Ok(Served::fresh(2)),
        "a breaker that records nothing"
    );
    assert_eq!(load(&RATES, "h1").unwrap().value, 2);
    assert_eq!(
        guarded_by_pms("h1", false, 0).await,
        Ok(Served::stale(2, Duration::ZERO))
    );
    PMS.shadow();
    assert!(guarded_by_pms("h1", true, 3).await.is_ok());
    assert_eq!(load(&RATES, "h1").unwrap().value, 3);
    PMS.force_open();
    assert_eq!(
        guarded_by_pms("h1", true, 4).await,
        Ok(Served::stale(3, Duration::ZERO))
    );
}

/// Two calls in flight: the slow one was asked first, and answers last.
#[circuit_breaker(threshold = 9, last_good = RATES, last_good_key = hotel)]
async fn in_flight(hotel: &str, answer: tokio::sync::oneshot::Receiver<u32>) -> Rates {
    let value = answer.await.map_err(|_| CallError::Call("no answer"))?;
    Ok(Served::fresh(value))
}

#[tokio::test]
async fn the_answer_that_was_given_last_is_kept() {
    let scope = test::scope();
    let (give_slow, slow) = tokio::sync::oneshot::channel();
    let (give_fast, fast) = tokio::sync::oneshot::channel();
    let (slow, fast, ()) = tokio::join!(in_flight("h1", slow), in_flight("h1", fast), async {
        give_fast.send(2).unwrap();
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        assert_eq!(load(&RATES, "h1").unwrap().value, 2);
        scope.advance(SECOND);
        give_slow.send(1).unwrap();
    });
    assert_eq!((slow.unwrap().value, fast.unwrap().value), (1, 2));
    assert_eq!(load(&RATES, "h1"), Some(Served::stale(1, Duration::ZERO)));
}

/// A call that comes too late for its breaker still brought an answer.
#[circuit_breaker(breaker = PMS, last_good = RATES, last_good_key = hotel)]
async fn late(hotel: &str, answer: tokio::sync::oneshot::Receiver<u32>) -> Rates {
    let value = answer.await.map_err(|_| CallError::Call("no answer"))?;
    Ok(Served::fresh(value))
}

#[tokio::test]
async fn a_late_answer_is_kept() {
    let _scope = test::scope();
    let (give, answer) = tokio::sync::oneshot::channel();
    let (answer, ()) = tokio::join!(late("h1", answer), async {
        PMS.force_open();
        give.send(5).unwrap();
    });
    assert_eq!(answer, Ok(Served::fresh(5)));
    assert_eq!(load(&RATES, "h1").unwrap().value, 5);
}

#[circuit_breaker(threshold = 1, last_good = RATES, last_good_key = hotel)]
async fn outer(hotel: &str, up: bool) -> Rates {
    rates(hotel, up, 5).await
}

#[tokio::test]
async fn of_one_within_another_only_fresh_answers_are_kept() {
    let scope = test::scope();
    assert_eq!(outer("h1", true).await, Ok(Served::fresh(5)));
    scope.advance(SECOND);
    assert_eq!(outer("h1", false).await, Ok(Served::stale(5, SECOND)));
    assert_eq!(
        load(&RATES, "h1").unwrap().age,
        SECOND,
        "the stale one did not make it younger"
    );
}
