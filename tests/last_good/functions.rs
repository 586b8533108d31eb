//! `last_good` on all kinds of functions.

use async_trait::async_trait;
use breakerbox::{Breaker, CallError, Config, LastGood, Served, circuit_breaker, test};
use std::cell::{Cell, RefCell};
use std::future::ready;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

type Rates = Result<Served<u32>, CallError<&'static str>>;
type Numbers = LastGood<String, u32>;

const HOUR: Duration = Duration::from_secs(3_600);
const STALE: fn(u32) -> Rates = |value| Ok(Served::stale(value, Duration::ZERO));

/// What there is under a key.
fn load(answers: &Numbers, key: &str) -> Option<Served<u32>> {
    let Ok(served) = answers.load_now(key);
    served
}

fn ask(up: bool, value: u32) -> Rates {
    if up {
        Ok(Served::fresh(value))
    } else {
        Err(CallError::Call("no answer"))
    }
}

struct Client {
    breaker: Arc<Breaker>,
    rates: Numbers,
    up: AtomicBool,
    calls: u32,
}

impl Client {
    fn new() -> Self {
        Self {
            breaker: Breaker::shared("client", Config::DEFAULT),
            rates: Numbers::new(HOUR),
            up: AtomicBool::new(true),
            calls: 0,
        }
    }

    #[circuit_breaker(breaker = self.breaker, last_good = self.rates, last_good_key = hotel)]
    async fn rates(&self, hotel: &str) -> Rates {
        ask(self.up.load(Ordering::Relaxed), 7)
    }

    #[circuit_breaker(breaker = self.breaker, last_good = self.rates, last_good_key = hotel)]
    fn rates_now(&self, hotel: &str) -> Rates {
        ask(self.up.load(Ordering::Relaxed), 8)
    }

    #[circuit_breaker(shared, last_good = self.rates, last_good_key = hotel)]
    async fn shared(&self, hotel: &str) -> Rates {
        ask(self.up.load(Ordering::Relaxed), 9)
    }

    #[circuit_breaker(key = hotel, last_good = &self.rates)]
    async fn by_key(&self, hotel: &str) -> Rates {
        ask(self.up.load(Ordering::Relaxed), 10)
    }

    #[circuit_breaker(shared, last_good = self.rates, last_good_key = hotel)]
    async fn counting(&mut self, hotel: &str) -> Rates {
        self.calls += 1;
        ready(()).await;
        self.calls += 1;
        ask(self.up.load(Ordering::Relaxed), self.calls)
    }

    #[circuit_breaker(shared, last_good = self.rates, last_good_key = hotel)]
    fn counting_now(&mut self, hotel: &str) -> Rates {
        self.calls += 1;
        ask(self.up.load(Ordering::Relaxed), self.calls)
    }

    #[circuit_breaker(shared, last_good = self.rates, last_good_key = hotel)]
    async fn of_arc(self: Arc<Self>, hotel: String) -> Rates {
        ask(self.up.load(Ordering::Relaxed), 11)
    }
}

#[tokio::test]
async fn methods() {
    let _scope = test::scope();
    let client = Client::new();
    assert_eq!(client.rates("h1").await, Ok(Served::fresh(7)));
    client.up.store(false, Ordering::Relaxed);
    assert_eq!(client.rates("h1").await, STALE(7));
    assert_eq!(client.rates_now("h1"), STALE(7));
    client.up.store(true, Ordering::Relaxed);
    assert_eq!(client.rates_now("h2"), Ok(Served::fresh(8)));
    assert_eq!(client.shared("h3").await, Ok(Served::fresh(9)));
    assert_eq!(client.by_key("h4").await, Ok(Served::fresh(10)));
    client.up.store(false, Ordering::Relaxed);
    for (hotel, value) in [("h1", 7), ("h2", 8), ("h3", 9), ("h4", 10)] {
        assert_eq!(client.rates_now(hotel), STALE(value));
        assert_eq!(client.shared(hotel).await, STALE(value));
        assert_eq!(client.by_key(hotel).await, STALE(value));
    }
    let other = Client::new();
    other.up.store(false, Ordering::Relaxed);
    assert!(other.shared("h1").await.is_err(), "of another client");
}

#[tokio::test]
async fn methods_that_change_their_instance() {
    let _scope = test::scope();
    let mut client = Client::new();
    assert_eq!(client.counting("h1").await, Ok(Served::fresh(2)));
    assert_eq!(client.counting_now("h2"), Ok(Served::fresh(3)));
    client.up.store(false, Ordering::Relaxed);
    assert_eq!(client.counting("h1").await, STALE(2));
    assert_eq!(client.counting_now("h2"), STALE(3));
    assert_eq!(client.calls, 6);
    let client = Arc::new(Client::new());
    let answer = Arc::clone(&client).of_arc("h1".to_owned()).await;
    assert_eq!(answer, Ok(Served::fresh(11)));
    client.up.store(false, Ordering::Relaxed);
    let answer = Arc::clone(&client).of_arc("h1".to_owned()).await;
    assert_eq!(answer, STALE(11));
}

static RATES: Numbers = Numbers::new(HOUR);

/// The body consumes its parameters: the key was copied before.
#[circuit_breaker(threshold = 9, last_good = RATES, last_good_key = hotel)]
async fn consumed(hotel: String, up: bool) -> Rates {
    drop(hotel);
    ready(()).await;
    ask(up, 7)
}

#[circuit_breaker(threshold = 9, last_good = RATES, last_good_key = hotel)]
fn consumed_now(hotel: String, up: bool) -> Rates {
    drop(hotel);
    ask(up, 8)
}

/// The body changes its parameters: the question is the one that was asked.
#[circuit_breaker(threshold = 9, last_good = RATES, last_good_key = hotel)]
async fn changed(mut hotel: String, log: &mut Vec<String>, up: bool) -> Rates {
    hotel.push_str("-changed");
    log.push(hotel);
    ask(up, 9)
}

#[circuit_breaker(threshold = 9, last_good = RATES, last_good_key = log[0])]
async fn changed_by_reference(log: &mut [String], up: bool) -> Rates {
    log[0].push_str("-changed");
    ask(up, 10)
}

#[circuit_breaker(threshold = 9, last_good = RATES, last_good_key = hotel)]
fn shadowed(hotel: &str, up: bool) -> Rates {
    let hotel = format!("{hotel}-shadowed");
    let _ = hotel;
    ask(up, 11)
}

#[tokio::test]
async fn the_key_is_that_of_the_question() {
    let _scope = test::scope();
    let mut log = Vec::new();
    let text = |text: &str| text.to_owned();
    assert!(consumed(text("h1"), true).await.is_ok());
    assert!(consumed_now(text("h2"), true).is_ok());
    assert!(changed(text("h3"), &mut log, true).await.is_ok());
    assert_eq!(log, ["h3-changed"]);
    assert!(changed_by_reference(&mut [text("h4")], true).await.is_ok());
    assert!(shadowed("h5", true).is_ok());

    assert_eq!(RATES.backend().len(), 5);
    assert_eq!(consumed(text("h1"), false).await, STALE(7));
    assert_eq!(consumed_now(text("h2"), false), STALE(8));
    assert_eq!(changed(text("h3"), &mut log, false).await, STALE(9));
    let answer = changed_by_reference(&mut [text("h4")], false).await;
    assert_eq!(answer, STALE(10));
    assert_eq!(shadowed("h5", false), STALE(11));
    assert_eq!(load(&RATES, "h4-changed"), None);
}

/// Keys made on the spot: what they are made of is gone before anything is awaited.
#[circuit_breaker(threshold = 9, last_good = RATES, last_good_key = format!("{hotel}/{night}").as_str())]
async fn made(hotel: &str, night: u8, up: bool) -> Rates {
    ask(up, 7)
}

#[circuit_breaker(threshold = 9, last_good = RATES, last_good_key = *hotel.borrow())]
async fn borrowed(hotel: &RefCell<String>, up: bool) -> Rates {
    hotel.borrow_mut().push('!');
    ready(()).await;
    ask(up, 8)
}

#[circuit_breaker(threshold = 9, last_good = RATES, last_good_key = Rc::<str>::from(hotel))]
async fn counted(hotel: &str, up: bool) -> Rates {
    ask(up, 9)
}

#[tokio::test]
async fn keys_are_made_on_the_spot() {
    let _scope = test::scope();
    assert!(made("h1", 3, true).await.is_ok());
    assert_eq!(load(&RATES, "h1/3").unwrap().value, 7);
    assert_eq!(made("h1", 3, false).await, STALE(7));
    assert!(made("h1", 4, false).await.is_err());
    let cell = RefCell::new("h2".to_owned());
    assert!(borrowed(&cell, true).await.is_ok());
    assert_eq!(load(&RATES, "h2").unwrap().value, 8);
    assert!(counted("h3", true).await.is_ok());
    assert_eq!(counted("h3", false).await, STALE(9));
}

/// The key is asked for once for each call.
#[tokio::test]
async fn a_key_is_made_once() {
    #[circuit_breaker(threshold = 1, last_good = RATES, last_good_key = {
        made.set(made.get() + 1);
        "h1"
    })]
    async fn rates(made: &Cell<u32>, up: bool) -> Rates {
        ask(up, 7)
    }
    let _scope = test::scope();
    let made = Cell::new(0);
    assert!(rates(&made, true).await.is_ok());
    assert_eq!(made.get(), 1);
    assert_eq!(rates(&made, false).await, STALE(7));
    assert_eq!(rates(&made, false).await, STALE(7));
    assert_eq!(made.get(), 3);
}

/// One set of answers for all types: the type is a part of the key.
#[circuit_breaker(threshold = 9, last_good = RATES, last_good_key = std::any::type_name::<T>())]
async fn generic<T: Default + Into<u32>, const N: usize>(up: bool) -> Rates {
    ask(up, T::default().into() + N as u32)
}

#[circuit_breaker(threshold = 9, last_good = answers, last_good_key = hotel)]
async fn given<A>(
    answers: &A,
    hotel: impl AsRef<str> + breakerbox::Key<Owned = String>,
    up: bool,
) -> Rates
where
    A: breakerbox::last_good::Answers<
            Key = String,
            Value = u32,
            Store = breakerbox::last_good::Memory<String, u32>,
        > + ?Sized,
{
    ask(up, hotel.as_ref().len() as u32)
}

#[tokio::test]
async fn generic_functions() {
    let _scope = test::scope();
    assert!(generic::<u8, 1>(true).await.is_ok());
    assert!(generic::<u16, 2>(true).await.is_ok());
    assert_eq!(generic::<u8, 1>(false).await, STALE(1));
    assert_eq!(generic::<u16, 2>(false).await, STALE(2));

    let answers = Arc::new(Box::new(Numbers::new(HOUR)));
    assert!(given(&answers, "h1", true).await.is_ok());
    assert_eq!(given(&&answers, "h1", false).await, STALE(2));
    assert_eq!(given(&**answers, "h1", false).await, STALE(2));
}

#[async_trait]
trait Source: Sync {
    async fn rates(&self, hotel: &str, up: bool) -> Rates;
    async fn consuming(&self, hotel: String, up: bool) -> Rates;
    #[circuit_breaker(shared, last_good = RATES, last_good_key = hotel)]
    async fn by_default(&self, hotel: &str, up: bool) -> Rates {
        ask(up, 12)
    }
}

struct Pms(Numbers);

#[async_trait]
impl Source for Pms {
    #[circuit_breaker(shared, last_good = self.0, last_good_key = hotel)]
    async fn rates(&self, hotel: &str, up: bool) -> Rates {
        ready(()).await;
        ask(up, 7)
    }

    #[circuit_breaker(key = hotel, last_good = self.0)]
    async fn consuming(&self, hotel: String, up: bool) -> Rates {
        drop(hotel);
        ask(up, 8)
    }
}

trait Native {
    async fn native(&self, hotel: &str, up: bool) -> Rates;
    fn plain(&self, hotel: &str, up: bool) -> Rates;
}

impl Native for Pms {
    #[circuit_breaker(shared, last_good = self.0, last_good_key = hotel)]
    async fn native(&self, hotel: &str, up: bool) -> Rates {
        ask(up, 9)
    }

    #[circuit_breaker(shared, last_good = self.0, last_good_key = hotel)]
    fn plain(&self, hotel: &str, up: bool) -> Rates {
        ask(up, 10)
    }
}

#[tokio::test]
async fn traits() {
    let _scope = test::scope();
    let pms = Pms(Numbers::new(HOUR));
    let source: &dyn Source = &pms;
    assert!(source.rates("h1", true).await.is_ok());
    assert!(source.consuming("h2".to_owned(), true).await.is_ok());
    assert!(pms.native("h3", true).await.is_ok());
    assert!(pms.plain("h4", true).is_ok());
    assert!(source.by_default("h5", true).await.is_ok());
    assert_eq!(source.rates("h1", false).await, STALE(7));
    assert_eq!(source.consuming("h2".to_owned(), false).await, STALE(8));
    assert_eq!(pms.native("h3", false).await, STALE(9));
    assert_eq!(pms.plain("h4", false), STALE(10));
    assert_eq!(source.by_default("h5", false).await, STALE(12));
}

/// What leads to answers.
static LAZY: LazyLock<Numbers> = LazyLock::new(|| Numbers::new(HOUR));
static LAZY_ARC: LazyLock<Arc<Numbers>> = LazyLock::new(|| Arc::new(Numbers::new(HOUR)));

#[circuit_breaker(threshold = 9, last_good = LAZY, last_good_key = hotel)]
async fn lazy(hotel: &str, up: bool) -> Rates {
    ask(up, 7)
}

#[circuit_breaker(threshold = 9, last_good = LAZY_ARC, last_good_key = hotel)]
fn lazy_arc(hotel: &str, up: bool) -> Rates {
    ask(up, 8)
}

fn answers() -> Arc<Numbers> {
    Arc::clone(&LAZY_ARC)
}

#[circuit_breaker(threshold = 9, last_good = answers(), last_good_key = hotel)]
async fn called(hotel: &str, up: bool) -> Rates {
    ask(up, 9)
}

#[circuit_breaker(threshold = 9, last_good = if hotel == "h1" { &*LAZY } else { &RATES }, last_good_key = hotel)]
async fn chosen(hotel: &str, up: bool) -> Rates {
    ask(up, 10)
}

/// Of a client that stays on its thread.
#[circuit_breaker(threshold = 9, last_good = answers, last_good_key = hotel)]
async fn of_one_thread(answers: Rc<Numbers>, hotel: &str, up: bool) -> Rates {
    ready(()).await;
    ask(up, 11)
}

#[tokio::test]
async fn what_leads_to_answers() {
    let _scope = test::scope();
    let answers = Rc::new(Numbers::new(HOUR));
    assert!(of_one_thread(Rc::clone(&answers), "h1", true).await.is_ok());
    let served = of_one_thread(Rc::clone(&answers), "h1", false).await;
    assert_eq!(served, STALE(11));
    assert!(lazy("h1", true).await.is_ok());
    assert_eq!(lazy("h1", false).await, STALE(7));
    assert!(lazy_arc("h1", true).is_ok());
    assert_eq!(lazy_arc("h1", false), STALE(8));
    assert_eq!(called("h1", false).await, STALE(8));
    assert!(called("h2", true).await.is_ok());
    assert_eq!(called("h2", false).await, STALE(9));
    assert_eq!(chosen("h1", false).await, STALE(7));
    assert!(chosen("h2", true).await.is_ok());
    assert_eq!(load(&RATES, "h2").unwrap().value, 10);
}

/// An alias of `Result`, and an answer that is no number.
type Page<T> = Result<Served<T>, CallError<Box<dyn std::error::Error>>>;
static PAGES: LastGood<(String, u32), Vec<String>> = LastGood::new(HOUR).max_answers(100);

#[circuit_breaker(threshold = 9, last_good = PAGES, last_good_key = (account, page))]
async fn pages(account: &str, page: u32, found: Option<Vec<String>>) -> Page<Vec<String>> {
    let found = found
        .ok_or("no answer")
        .map_err(|why| CallError::Call(why.into()))?;
    Ok(Served::fresh(found))
}

#[tokio::test]
async fn answers_of_any_type() {
    let _scope = test::scope();
    let found = vec!["a".to_owned(), "b".to_owned()];
    let fresh = pages("acme", 1, Some(found.clone())).await.unwrap();
    assert_eq!(fresh, Served::fresh(found.clone()));
    let stale = pages("acme", 1, None).await.unwrap();
    assert_eq!(stale, Served::stale(found, Duration::ZERO));
    assert!(pages("acme", 2, None).await.is_err());
}

/// Names of the expansion are hidden from the user's code.
#[circuit_breaker(threshold = 9, last_good = __answers, last_good_key = __question)]
async fn names(__answers: &Numbers, __question: &str, __served: u32, __later: bool) -> Rates {
    ask(__later, __served)
}

#[tokio::test]
async fn names_are_hidden() {
    let _scope = test::scope();
    assert!(names(&RATES, "h1", 5, true).await.is_ok());
    assert_eq!(names(&RATES, "h1", 0, false).await, STALE(5));
}

/// Answers of a type that is not known here.
struct Typed<T: 'static>(LastGood<String, T>);

impl<T: Clone + Send + Sync> Typed<T> {
    #[circuit_breaker(shared, last_good = self.0, last_good_key = hotel)]
    async fn answer(&self, hotel: &str, answer: Option<T>) -> Result<Served<T>, CallError<()>> {
        answer.map(Served::fresh).ok_or(CallError::Call(()))
    }
}

#[tokio::test]
async fn answers_of_a_type_that_is_not_known() {
    let _scope = test::scope();
    let texts = Typed(LastGood::<_, String>::new(HOUR));
    assert!(texts.answer("h1", Some("a".to_owned())).await.is_ok());
    assert_eq!(texts.answer("h1", None).await.unwrap().value, "a");
    let units = Typed(LastGood::<_, ()>::new(HOUR));
    assert_eq!(units.answer("h1", None).await, Err(CallError::Call(())));
}

/// Refused calls alone come to what makes the error: the body may consume what it takes.
#[circuit_breaker(
    threshold = 1,
    fallback_on = open,
    last_good = RATES,
    last_good_key = hotel,
    open_error = |_| CallError::Call(if hotel == "h2" { "refused" } else { "" })
)]
async fn asked_first(hotel: String, up: bool) -> Rates {
    drop(hotel);
    ready(()).await;
    ask(up, 7)
}

#[circuit_breaker(
    threshold = 1,
    fallback_on = open,
    last_good = RATES,
    last_good_key = hotel,
    open_error = |_| CallError::Call(if hotel == "h2" { "refused" } else { "" })
)]
fn asked_first_now(hotel: String, up: bool) -> Rates {
    drop(hotel);
    ask(up, 8)
}

#[tokio::test]
async fn what_is_asked_for_before_the_body_takes_anything() {
    let _scope = test::scope();
    let text = |text: &str| text.to_owned();
    assert!(asked_first(text("h1"), true).await.is_ok());
    let failed = Err(CallError::Call("no answer"));
    assert_eq!(asked_first(text("h1"), false).await, failed);
    assert_eq!(asked_first(text("h1"), true).await, STALE(7));
    let refused = Err(CallError::Call("refused"));
    assert_eq!(asked_first(text("h2"), true).await, refused);

    assert!(asked_first_now(text("h3"), true).is_ok());
    assert_eq!(asked_first_now(text("h3"), false), failed);
    assert_eq!(asked_first_now(text("h3"), true), STALE(8));
    assert_eq!(asked_first_now(text("h2"), true), refused);
}
