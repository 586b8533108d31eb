//! A store that has to be awaited; one that fails, or panics.

use super::remote::{Mood, Remote, Unreachable};
use breakerbox::last_good::{Aged, BlockingStore, Memory, Reply, Store};
use breakerbox::observe::{self, LastGoodFailed, LastGoodStep, Observer, Panicked};
use breakerbox::{CallError, Key, LastGood, Served, State, breaker, circuit_breaker, test};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

type Rates = Result<Served<u32>, CallError<&'static str>>;
type Remotes = LastGood<String, u32, Remote>;

const HOUR: Duration = Duration::from_secs(3_600);

fn remotes() -> Remotes {
    LastGood::in_store(Remote::default(), HOUR)
}

fn ask(up: bool, value: u32) -> Rates {
    if up {
        Ok(Served::fresh(value))
    } else {
        Err(CallError::Call("no answer"))
    }
}

breaker! { static PMS = { name: "stores::pms", threshold: 2, reset: "30s" } }

#[circuit_breaker(breaker = PMS, last_good = answers, last_good_key = hotel)]
async fn rates(answers: &Remotes, hotel: &str, up: bool, value: u32) -> Rates {
    ask(up, value)
}

#[tokio::test]
async fn a_store_is_awaited() {
    let _scope = test::scope();
    let answers = remotes();
    assert_eq!(rates(&answers, "h1", true, 7).await, Ok(Served::fresh(7)));
    let kept = answers.backend().has("h1");
    assert_eq!(kept.map(|kept| kept.value), Some(7));
    let Ok(()) = answers.prime("h2", &8, HOUR).await else {
        panic!("it is fine");
    };
    let stale = Ok(Served::stale(8, HOUR));
    assert_eq!(rates(&answers, "h2", false, 0).await, stale);
    assert_eq!(rates(&answers, "h2", false, 0).await, stale);
    assert_eq!(rates(&answers, "h2", true, 0).await, stale);
    let refused = rates(&answers, "h3", true, 0).await;
    assert!(matches!(refused, Err(CallError::Open(_))));
}

#[tokio::test]
async fn an_answer_of_a_store_that_is_too_old_is_none() {
    let _scope = test::scope();
    let too_old = LastGood::in_store(Remote::default(), HOUR / 2);
    too_old
        .backend()
        .save("h1", aged(&7, HOUR))
        .wait()
        .await
        .unwrap();
    let failed = rates(&too_old, "h1", false, 0).await;
    assert_eq!(failed, Err(CallError::Call("no answer")));
}

fn aged<V>(value: V, age: Duration) -> Aged<V> {
    Aged { value, age }
}

/// The call is over when its answer is kept: a slow store makes no slow call, nor one
/// that times out.
#[tokio::test]
async fn the_call_is_settled_before_its_answer_is_kept() {
    #[circuit_breaker(
        breaker = PMS,
        timeout = "1s",
        last_good = answers,
        last_good_key = hotel
    )]
    async fn limited(answers: &Remotes, hotel: &str) -> Rates {
        Ok(Served::fresh(7))
    }

    let scope = test::scope();
    let answers = remotes();
    let open = Arc::clone(&answers.backend().open);
    let closed = open.acquire().await.unwrap();
    let _ = PMS.call_sync(|| Err::<(), _>("no answer"));
    assert_eq!(PMS.snapshot().consecutive, 1);
    let (answer, ()) = tokio::join!(limited(&answers, "h1"), async {
        tokio::task::yield_now().await;
        assert_eq!(PMS.snapshot().consecutive, 0, "it is settled");
        scope.advance(Duration::from_secs(60));
        tokio::task::yield_now().await;
        assert_eq!(answers.backend().has("h1"), None, "and not kept yet");
        drop(closed);
    });
    assert_eq!(answer, Ok(Served::fresh(7)));
    assert!(answers.backend().has("h1").is_some());
}

#[tokio::test]
async fn a_caller_that_goes_away_meanwhile_settles_nothing_again() {
    let _scope = test::scope();
    let answers = remotes();
    let open = Arc::clone(&answers.backend().open);
    let closed = open.acquire().await.unwrap();
    let poll = |call: std::pin::Pin<&mut dyn Future<Output = Rates>>| {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(call.poll(&mut context).is_pending());
    };
    PMS.call_sync(|| Err::<(), _>("no answer")).unwrap_err();
    poll(std::pin::pin!(rates(&answers, "h1", true, 7)));
    assert_eq!(PMS.snapshot().consecutive, 0, "that was a success");
    poll(std::pin::pin!(rates(&answers, "h1", false, 7)));
    assert_eq!(PMS.snapshot().consecutive, 1, "that was a failure");
    drop(closed);
    assert_eq!(answers.backend().has("h1"), None);
    let failed = rates(&answers, "h1", false, 0).await;
    assert_eq!(failed, Err(CallError::Call("no answer")));
    assert_eq!(PMS.state(), State::Open);
}

#[derive(Default)]
struct Heard(Mutex<Vec<(LastGoodStep, String)>>);

impl Observer for Heard {
    fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
        let unreachable = event.error.downcast_ref::<Unreachable>().is_some();
        let panicked = event.error.downcast_ref::<Panicked>().is_some();
        assert!(unreachable != panicked, "{:?}", event.error);
        self.0.lock().unwrap().push((event.step, event.to_string()));
    }
}

fn listen() -> (Arc<Heard>, observe::Installed) {
    let heard = Arc::new(Heard::default());
    let installed = observe::install(Arc::clone(&heard));
    (heard, installed)
}

impl Heard {
    fn said(&self) -> Vec<(LastGoodStep, String)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[tokio::test]
async fn what_fails_in_a_store_costs_no_answer_and_is_told() {
    for (mood, store, load) in [
        (
            Mood::FailsAtOnce,
            "the store is unreachable for save",
            "the store is unreachable for load",
        ),
        (
            Mood::Fails,
            "the store is unreachable for save",
            "the store is unreachable for load",
        ),
        (
            Mood::PanicsAtOnce,
            "it panicked: save panics",
            "it panicked: load panics",
        ),
        (
            Mood::Panics,
            "it panicked: save panics later",
            "it panicked: load panics later",
        ),
    ] {
        let scope = test::scope();
        let (heard, _installed) = listen();
        let answers = remotes();
        answers.store("h1", &6).await.unwrap();
        answers.backend().is_in(mood);

        assert_eq!(
            rates(&answers, "h1", true, 7).await,
            Ok(Served::fresh(7)),
            "{mood:?}"
        );
        let said = "circuit `stores::pms` could not store a last-good answer: ".to_owned() + store;
        assert_eq!(heard.said(), [(LastGoodStep::Store, said)], "{mood:?}");

        for _ in 0..2 {
            let failed = rates(&answers, "h1", false, 0).await;
            assert_eq!(failed, Err(CallError::Call("no answer")), "{mood:?}");
            let said =
                "circuit `stores::pms` could not load a last-good answer: ".to_owned() + load;
            assert_eq!(heard.said(), [(LastGoodStep::Load, said)], "{mood:?}");
        }
        let refused = rates(&answers, "h1", true, 8).await;
        assert!(matches!(refused, Err(CallError::Open(_))), "{mood:?}");
        assert_eq!(heard.said().len(), 1);

        answers.backend().is_in(Mood::Fine);
        let served = rates(&answers, "h1", true, 8).await.unwrap();
        assert_eq!(served.value, 6, "what was there still is");
        scope.advance(Duration::from_secs(30));
        assert_eq!(rates(&answers, "h1", true, 9).await, Ok(Served::fresh(9)));
        assert_eq!(heard.said(), []);
    }
}

#[circuit_breaker(threshold = 9, key = hotel, last_good = answers)]
async fn by_key(answers: &Remotes, hotel: &str) -> Rates {
    ask(true, 7)
}

#[tokio::test]
async fn the_breakers_key_is_told() {
    #[derive(Default)]
    struct Keys(Mutex<Vec<String>>);
    impl Observer for Keys {
        fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
            let key = event.key.map(|key| key.to_string());
            self.0.lock().unwrap().extend(key);
            assert!(event.breaker.ends_with("by_key"));
        }
    }
    let _scope = test::scope();
    let keys = Arc::new(Keys::default());
    let _installed = observe::install(Arc::clone(&keys));
    let answers = remotes();
    answers.backend().is_in(Mood::Fails);
    assert!(by_key(&answers, "h1").await.is_ok());
    assert!(by_key(&answers, "h2\n").await.is_ok());
    assert_eq!(*keys.0.lock().unwrap(), ["h1", "h2\\n"]);
}

/// In memory, in a mood.
#[derive(Debug)]
struct Moody {
    memory: Memory<String, u32>,
    mood: Mutex<Mood>,
}

impl Moody {
    fn feel(&self, what: &'static str) -> Result<(), Unreachable> {
        let mood = *self.mood.lock().unwrap();
        match mood {
            Mood::Fine => Ok(()),
            Mood::Fails | Mood::FailsAtOnce => Err(Unreachable(what)),
            Mood::Panics | Mood::PanicsAtOnce => panic!("{what} panics"),
        }
    }
}

type Ready<T> = std::future::Ready<Result<T, Unreachable>>;

impl Store<String, u32> for Moody {
    type Error = Unreachable;
    type Loading<'a> = Ready<Option<Aged<u32>>>;
    type Saving<'a> = Ready<()>;

    fn load<Q>(&self, key: &Q) -> Reply<Option<Aged<u32>>, Unreachable, Self::Loading<'_>>
    where
        Q: Key<Owned = String> + ?Sized,
    {
        Reply::Later(std::future::ready(self.load_now(key)))
    }

    fn save<Q>(&self, key: &Q, answer: Aged<&u32>) -> Reply<(), Unreachable, Self::Saving<'_>>
    where
        Q: Key<Owned = String> + ?Sized,
    {
        Reply::Later(std::future::ready(self.save_now(key, answer)))
    }

    fn remove<Q>(&self, key: &Q) -> Reply<(), Unreachable, Self::Saving<'_>>
    where
        Q: Key<Owned = String> + ?Sized,
    {
        Reply::Later(std::future::ready(self.remove_now(key)))
    }
}

impl BlockingStore<String, u32> for Moody {
    fn load_now<Q>(&self, key: &Q) -> Result<Option<Aged<u32>>, Unreachable>
    where
        Q: Key<Owned = String> + ?Sized,
    {
        self.feel("load")?;
        let Ok(found) = self.memory.load_now(key);
        Ok(found)
    }

    fn save_now<Q>(&self, key: &Q, answer: Aged<&u32>) -> Result<(), Unreachable>
    where
        Q: Key<Owned = String> + ?Sized,
    {
        self.feel("save")?;
        let Ok(()) = self.memory.save_now(key, answer);
        Ok(())
    }

    fn remove_now<Q>(&self, _: &Q) -> Result<(), Unreachable>
    where
        Q: Key<Owned = String> + ?Sized,
    {
        self.feel("remove")
    }
}

type Moodies = LastGood<String, u32, Moody>;

#[circuit_breaker(breaker = PMS, last_good = answers, last_good_key = hotel)]
fn rates_now(answers: &Moodies, hotel: &str, up: bool, value: u32) -> Rates {
    ask(up, value)
}

#[test]
fn a_plain_function_survives_its_store_too() {
    for mood in [Mood::Fails, Mood::Panics] {
        let _scope = test::scope();
        let (heard, _installed) = listen();
        let answers = Moodies::in_store(
            Moody {
                memory: Memory::new(10),
                mood: Mutex::default(),
            },
            HOUR,
        );
        assert!(rates_now(&answers, "h1", true, 6).is_ok());
        assert_eq!(heard.said(), []);
        *answers.backend().mood.lock().unwrap() = mood;
        assert_eq!(rates_now(&answers, "h1", true, 7), Ok(Served::fresh(7)));
        let failed = rates_now(&answers, "h1", false, 0);
        assert_eq!(failed, Err(CallError::Call("no answer")));
        let said: Vec<_> = heard.said().into_iter().map(|(step, _)| step).collect();
        assert_eq!(said, [LastGoodStep::Store, LastGoodStep::Load]);
        *answers.backend().mood.lock().unwrap() = Mood::Fine;
        let served = rates_now(&answers, "h1", false, 0).unwrap();
        assert_eq!((served.value, served.stale), (6, true));
    }
}

/// What leads to the answers fails, before anything is asked of a store.
static BROKEN: LazyLock<LastGood<String, u32>> = LazyLock::new(|| panic!("no such directory"));

#[circuit_breaker(breaker = PMS, last_good = BROKEN, last_good_key = hotel)]
async fn broken(hotel: &str, up: bool) -> Rates {
    ask(up, 7)
}

#[tokio::test]
async fn answers_that_can_not_be_opened_cost_no_answer() {
    let _scope = test::scope();
    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);
    impl Observer for Lines {
        fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
            self.0.lock().unwrap().push(event.error.to_string());
        }
    }
    let lines = Arc::new(Lines::default());
    let _installed = observe::install(Arc::clone(&lines));
    assert_eq!(broken("h1", true).await, Ok(Served::fresh(7)));
    let failed = broken("h1", false).await;
    assert_eq!(failed, Err(CallError::Call("no answer")));
    let lines = lines.0.lock().unwrap();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0], "it panicked: no such directory");
}

/// Answers that may not open.
type Opened = Result<LastGood<String, u32>, Unreachable>;
static OPENED: LazyLock<Opened> = LazyLock::new(|| Ok(LastGood::new(HOUR)));
static NOT_OPENED: LazyLock<Opened> = LazyLock::new(|| Err(Unreachable("opening")));

#[circuit_breaker(breaker = PMS, last_good = OPENED, last_good_key = hotel)]
async fn opened(hotel: &str, up: bool) -> Rates {
    ask(up, 7)
}

#[circuit_breaker(breaker = PMS, last_good = NOT_OPENED, last_good_key = hotel)]
async fn not_opened(hotel: &str, up: bool) -> Rates {
    ask(up, 8)
}

#[circuit_breaker(breaker = PMS, last_good = &*NOT_OPENED, last_good_key = hotel)]
fn not_opened_now(hotel: &str, up: bool) -> Rates {
    ask(up, 9)
}

#[tokio::test]
async fn answers_that_are_an_error_cost_no_answer_and_are_told() {
    let _scope = test::scope();
    let (heard, _installed) = listen();
    assert!(opened("h1", true).await.is_ok());
    assert_eq!(opened("h1", false).await.unwrap().value, 7);
    assert_eq!(heard.said(), []);
    assert_eq!(not_opened("h1", true).await, Ok(Served::fresh(8)));
    assert_eq!(not_opened_now("h1", true), Ok(Served::fresh(9)));
    let failed = Err(CallError::Call("no answer"));
    assert_eq!(not_opened("h1", false).await, failed);
    assert!(not_opened_now("h1", false).is_err());
    let said = heard.said();
    let steps: Vec<_> = said.iter().map(|(step, _)| *step).collect();
    let (store, load) = (LastGoodStep::Store, LastGoodStep::Load);
    assert_eq!(steps, [store, store, load, load]);
    for (_, line) in said {
        assert!(
            line.ends_with("the store is unreachable for opening"),
            "{line}"
        );
    }
}

/// An answer whose copying panics, with what panics again when it is dropped.
#[derive(Debug, PartialEq, Eq)]
struct Uncopied;

struct Worse;

impl Drop for Worse {
    fn drop(&mut self) {
        panic!("the panic's own");
    }
}

impl Clone for Uncopied {
    fn clone(&self) -> Self {
        std::panic::panic_any(Worse)
    }
}

static UNCOPIED: LastGood<String, Uncopied> = LastGood::new(HOUR);

#[circuit_breaker(threshold = 1, last_good = UNCOPIED, last_good_key = hotel)]
async fn uncopied(hotel: &str) -> Result<Served<Uncopied>, CallError<()>> {
    Ok(Served::fresh(Uncopied))
}

#[circuit_breaker(threshold = 1, last_good = UNCOPIED, last_good_key = hotel)]
fn uncopied_now(hotel: &str) -> Result<Served<Uncopied>, CallError<()>> {
    Ok(Served::fresh(Uncopied))
}

#[tokio::test]
async fn an_answer_that_can_not_be_copied_is_given_all_the_same() {
    let _scope = test::scope();
    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);
    impl Observer for Lines {
        fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
            self.0.lock().unwrap().push(event.to_string());
        }
    }
    let lines = Arc::new(Lines::default());
    let _installed = observe::install(Arc::clone(&lines));
    assert_eq!(uncopied("h1").await, Ok(Served::fresh(Uncopied)));
    assert_eq!(uncopied_now("h1"), Ok(Served::fresh(Uncopied)));
    let lines = lines.0.lock().unwrap();
    assert_eq!(lines.len(), 2);
    for (line, name) in lines.iter().zip(["uncopied", "uncopied_now"]) {
        let end = format!("{name}` could not store a last-good answer: it panicked");
        assert!(line.ends_with(&end), "{line}");
    }
    assert!(UNCOPIED.backend().is_empty());
}

/// An observer that panics at that.
#[tokio::test]
async fn an_observer_that_panics_is_told_nothing_worse() {
    struct Panics;
    impl Observer for Panics {
        fn last_good_failed(&self, _: &LastGoodFailed<'_>) {
            panic!("an observer's");
        }
    }
    let _scope = test::scope();
    let _installed = observe::install(Panics);
    let answers = remotes();
    answers.backend().is_in(Mood::Panics);
    assert_eq!(rates(&answers, "h1", true, 7).await, Ok(Served::fresh(7)));
}

/// Where the store waits, the future of a function does as well.
#[circuit_breaker(threshold = 9, last_good = answers, last_good_key = hotel, fallback_on = open)]
async fn waits(answers: Arc<LastGood<String, u32, Remote>>, hotel: String, up: bool) -> Rates {
    ask(up, hotel.len() as u32)
}

#[tokio::test]
async fn a_store_that_a_parameter_leads_to() {
    let _scope = test::scope();
    let answers = Arc::new(LastGood::in_store(Remote::default(), HOUR));
    let call = |up| waits(Arc::clone(&answers), "h1".to_owned(), up);
    let spawned = tokio::spawn(call(true)).await.unwrap();
    assert_eq!(spawned, Ok(Served::fresh(2)));
    assert!(answers.backend().has("h1").is_some());
    assert!(call(false).await.is_err(), "it is not open");
}
