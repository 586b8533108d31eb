//! Time limits, at their edges and by a timer of one's own.

use breakerbox::{
    Breaker, CallError, KeyedBreakers, Settings, State, Timer, circuit_breaker, find, test,
};
use std::cell::Cell;
use std::future::{Future, Ready, pending, ready};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(2);

fn tripping_at_once() -> Breaker {
    Breaker::new("pms", Settings::new().threshold(1).must())
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn timed_out<T, E>(ended: &Poll<Result<T, CallError<E>>>, after: Duration) -> bool {
    matches!(ended, Poll::Ready(Err(CallError::TimedOut(error))) if error.after() == after)
}

#[test]
fn no_time_at_all_is_enough_for_an_answer_that_is_there() {
    let _scope = test::scope();
    let pms = tripping_at_once();
    let call = pms.call(ready(Ok::<_, &str>(3))).timeout(Duration::ZERO);
    assert_eq!(poll(pin!(call)), Poll::Ready(Ok(3)));
    assert_eq!(pms.state(), State::Closed);
}

#[test]
fn without_any_time_a_call_that_waits_has_timed_out() {
    let _scope = test::scope();
    let pms = tripping_at_once();
    let polled = Cell::new(0);
    let body = std::future::poll_fn(|_| {
        polled.set(polled.get() + 1);
        Poll::<Result<(), &str>>::Pending
    });
    let mut call = pin!(pms.call(body).timeout(Duration::ZERO));
    assert!(timed_out(&poll(call.as_mut()), Duration::ZERO));
    assert_eq!(polled.get(), 1);
    assert_eq!(pms.state(), State::Open);
}

#[tokio::test(start_paused = true)]
async fn without_any_time_on_the_runtimes_timer_too() {
    let pms = tripping_at_once();
    let call = pms.call(pending::<Result<(), &str>>());
    let ended = Poll::Ready(call.timeout(Duration::ZERO).await);
    assert!(timed_out(&ended, Duration::ZERO));
    assert_eq!(pms.state(), State::Open);
}

#[test]
fn the_time_begins_when_the_call_is_first_pending() {
    let scope = test::scope();
    let pms = tripping_at_once();
    let mut call = pin!(pms.call(pending::<Result<(), &str>>()).timeout(LIMIT));
    scope.advance(LIMIT * 10);
    assert!(poll(call.as_mut()).is_pending());
    scope.advance(LIMIT - Duration::from_nanos(1));
    assert!(poll(call.as_mut()).is_pending());
    scope.advance(Duration::from_nanos(1));
    assert!(timed_out(&poll(call.as_mut()), LIMIT));
}

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_call_of_a_scope_times_out_by_it_wherever_it_is_polled() {
    let scope = test::scope();
    let pms = tripping_at_once();
    let mut call = Box::pin(pms.call(pending::<Result<(), &str>>()).timeout(LIMIT));
    let woken = Arc::new(Woken::default());
    // There is neither a scope on that thread nor a runtime.
    let mut poll_elsewhere = || {
        let (call, woken) = (&mut call, Arc::clone(&woken));
        std::thread::scope(|threads| {
            threads
                .spawn(move || {
                    let waker = Waker::from(woken);
                    call.as_mut().poll(&mut Context::from_waker(&waker))
                })
                .join()
                .expect("asked another timer")
        })
    };
    assert!(poll_elsewhere().is_pending());
    scope.advance(LIMIT - Duration::from_nanos(1));
    assert!(poll_elsewhere().is_pending());
    let before = woken.0.load(Ordering::Relaxed);
    scope.advance(Duration::from_nanos(1));
    assert!(woken.0.load(Ordering::Relaxed) > before, "not woken");
    assert!(timed_out(&poll_elsewhere(), LIMIT));
    assert_eq!(pms.state(), State::Open, "in the scope");
}

/// Its time is over at once; says what it was asked for.
#[derive(Default)]
struct Impatient(Cell<Option<Duration>>);

impl Timer for &Impatient {
    type Sleep = Ready<()>;

    fn sleep(&self, after: Duration) -> Ready<()> {
        self.0.set(Some(after));
        ready(())
    }
}

#[test]
fn a_timer_of_ones_own_decides() {
    let settings = Settings::new().probe_timeout(Duration::from_secs(5));
    let pms = Breaker::new("pms", settings.threshold(1).must());
    for (asked, given) in [(LIMIT, LIMIT), (LIMIT * 10, Duration::from_secs(5))] {
        pms.close();
        let timer = Impatient::default();
        let at_once = pms.call(ready(Ok::<_, &str>(3)));
        assert!(poll(pin!(at_once.timeout_by(&timer, asked))).is_ready());
        assert_eq!(timer.0.get(), None, "no timer for an answer that is there");
        let waiting = pms.call(pending::<Result<(), &str>>());
        let ended = poll(pin!(waiting.timeout_by(&timer, asked)));
        assert!(timed_out(&ended, given));
        assert_eq!(timer.0.get(), Some(given));
        assert_eq!(pms.state(), State::Open);
    }
}

#[circuit_breaker(name = "timed-out-rooms", threshold = 1, timeout = "2s")]
async fn rooms() -> Result<u32, CallError<&'static str>> {
    pending().await
}

#[test]
fn an_annotated_functions_error_says_which_circuit_and_how_long() {
    let scope = test::scope();
    let mut call = pin!(rooms());
    assert!(poll(call.as_mut()).is_pending());
    scope.advance(LIMIT);
    let Poll::Ready(Err(error)) = poll(call.as_mut()) else {
        panic!("not timed out");
    };
    let text = "call through circuit `timed-out-rooms` timed out after 2s";
    assert_eq!(error.to_string(), text);
    assert_eq!(find("timed-out-rooms").unwrap().state(), State::Open);
}

/// A client that was told how long to wait.
struct Client {
    patience: Duration,
    pms: Arc<Breaker>,
    hotels: KeyedBreakers<String>,
}

type Rooms = Result<u32, CallError<&'static str>>;

impl Client {
    fn new(patience: Duration) -> Self {
        let settings = Settings::new()
            .threshold(1)
            .probe_timeout(Duration::from_secs(5));
        Self {
            patience,
            pms: Arc::new(Breaker::new("pms", settings.must())),
            hotels: KeyedBreakers::new("hotels", settings.must()),
        }
    }

    #[circuit_breaker(breaker = self.pms, timeout = self.patience)]
    async fn given(&self) -> Rooms {
        pending().await
    }

    #[circuit_breaker(shared, threshold = 1, probe_timeout = "5s", timeout = self.patience)]
    async fn shared(&mut self) -> Rooms {
        self.patience = Duration::ZERO;
        pending().await
    }

    #[circuit_breaker(breaker = self.hotels, key = hotel, timeout = self.patience)]
    async fn keyed(self, hotel: String) -> Rooms {
        drop((self, hotel));
        pending().await
    }

    #[circuit_breaker(key = hotel, threshold = 1, probe_timeout = "5s", timeout = self.patience * Self::TIMES)]
    async fn keyed_by_its_own(&self, hotel: &str) -> Rooms {
        pending().await
    }

    const TIMES: u32 = 1;
}

#[circuit_breaker(threshold = 1, probe_timeout = "5s", timeout = patience)]
async fn own(patience: Duration) -> Rooms {
    pending().await
}

#[circuit_breaker(threshold = 1, probe_timeout = "5s", timeout = Duration::from_secs(SECONDS))]
async fn generic<const SECONDS: u64>() -> Rooms {
    pending().await
}

#[test]
fn a_limit_that_only_the_call_knows_is_cut_to_probe_timeout() {
    for (asked, given) in [(LIMIT, LIMIT), (LIMIT * 10, Duration::from_secs(5))] {
        let scope = test::scope();
        let client = Client::new(asked);
        let mut shared = Client::new(asked);
        let hotel = || "h1".to_owned();
        let mut calls: [Pin<Box<dyn Future<Output = Rooms> + '_>>; 6] = [
            Box::pin(client.given()),
            Box::pin(shared.shared()),
            Box::pin(Client::new(asked).keyed(hotel())),
            Box::pin(client.keyed_by_its_own("h1")),
            Box::pin(own(asked)),
            match asked == LIMIT {
                true => Box::pin(generic::<2>()),
                false => Box::pin(generic::<20>()),
            },
        ];
        for call in &mut calls {
            assert!(poll(call.as_mut()).is_pending());
        }
        scope.advance(given - Duration::from_nanos(1));
        for call in &mut calls {
            assert!(poll(call.as_mut()).is_pending());
        }
        scope.advance(Duration::from_nanos(1));
        for call in &mut calls {
            assert!(timed_out(&poll(call.as_mut()), given));
        }
    }
}

#[test]
fn a_limit_of_zero_is_enough_for_an_answer_that_is_there_alone() {
    #[circuit_breaker(threshold = 1, timeout = patience)]
    async fn rooms(patience: Duration, waits: bool) -> Rooms {
        if waits {
            pending::<()>().await;
        }
        Ok(3)
    }
    let _scope = test::scope();
    assert_eq!(poll(pin!(rooms(Duration::ZERO, false))), Poll::Ready(Ok(3)));
    let waiting = poll(pin!(rooms(Duration::ZERO, true)));
    assert!(timed_out(&waiting, Duration::ZERO));
}

#[test]
fn a_limit_is_asked_for_once_before_the_body_and_not_before_the_first_poll() {
    #[circuit_breaker(timeout = asked(said))]
    async fn rooms(said: &Cell<Vec<&'static str>>) -> Rooms {
        said.set([said.take(), vec!["body"]].concat());
        Ok(3)
    }
    fn asked(said: &Cell<Vec<&'static str>>) -> Duration {
        said.set([said.take(), vec!["asked"]].concat());
        LIMIT
    }
    let _scope = test::scope();
    let said = Cell::default();
    let call = rooms(&said);
    assert!(said.take().is_empty());
    assert_eq!(poll(pin!(call)), Poll::Ready(Ok(3)));
    assert_eq!(said.take(), ["asked", "body"]);
}

/// What reads a parameter for the limit leaves it to the body, with its drops in order.
#[test]
fn parameters_stay_as_they_were() {
    struct Settings {
        patience: Duration,
        dropped: Arc<AtomicU32>,
    }
    impl Drop for Settings {
        fn drop(&mut self) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
    #[circuit_breaker(timeout = settings.patience)]
    async fn rooms(settings: Settings, (_, mut nights): (String, u32)) -> Rooms {
        nights += 1;
        drop(settings);
        Ok(nights)
    }
    #[circuit_breaker(timeout = patience)]
    async fn of_a_pattern((patience, _): (Duration, String), mut nights: Vec<u8>) -> Rooms {
        nights.push(1);
        Ok(nights.len() as u32)
    }
    let _scope = test::scope();
    let dropped = Arc::new(AtomicU32::new(0));
    let settings = Settings {
        patience: LIMIT,
        dropped: Arc::clone(&dropped),
    };
    assert_eq!(
        poll(pin!(rooms(settings, (String::new(), 1)))),
        Poll::Ready(Ok(2))
    );
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
    assert_eq!(
        poll(pin!(of_a_pattern((LIMIT, String::new()), vec![]))),
        Poll::Ready(Ok(1))
    );
}
