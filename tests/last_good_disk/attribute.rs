//! `last_good` in the attribute, with answers in a file.

use super::*;
use breakerbox::observe::{self, LastGoodFailed, LastGoodStep, Observer};
use breakerbox::{CallError, LastGood, Served, circuit_breaker, test};
use serde::{Deserialize, Deserializer};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

const HOUR: Duration = Duration::from_secs(3_600);
const SECOND: Duration = Duration::from_secs(1);

type Rates = Result<Served<u32>, CallError<&'static str>>;

fn ask(up: bool, value: u32) -> Rates {
    if up {
        Ok(Served::fresh(value))
    } else {
        Err(CallError::Call("no answer"))
    }
}

/// A client, as each run of a program makes it.
struct Hotels {
    rates: LastGood<String, u32, Disk<String, u32>>,
}

impl Hotels {
    fn open(path: &Path) -> Self {
        Self::open_with(path, EACH)
    }

    fn open_with(path: &Path, settings: DiskSettings) -> Self {
        let rates = LastGood::on_disk_with(path, HOUR, settings).unwrap();
        Self { rates }
    }

    #[circuit_breaker(threshold = 2, reset = "30s", shared, last_good = self.rates, last_good_key = hotel)]
    async fn rates(&self, hotel: &str, up: bool, value: u32) -> Rates {
        ask(up, value)
    }

    #[circuit_breaker(threshold = 2, reset = "30s", shared, last_good = self.rates, last_good_key = hotel)]
    fn rates_now(&self, hotel: &str, up: bool, value: u32) -> Rates {
        ask(up, value)
    }
}

#[tokio::test]
async fn an_answer_is_served_in_an_outage_that_began_before_the_program() {
    let scope = test::scope();
    let place = somewhere();
    let hotels = Hotels::open(&place.path);
    assert_eq!(hotels.rates("h1", true, 120).await, Ok(Served::fresh(120)));
    assert_eq!(hotels.rates_now("h2", true, 80), Ok(Served::fresh(80)));
    drop(hotels);

    scope.advance(60 * SECOND);
    let hotels = Hotels::open(&place.path);
    let stale = Ok(Served::stale(120, 60 * SECOND));
    for _ in 0..3 {
        // Two failures, and a refusal.
        assert_eq!(hotels.rates("h1", false, 0).await, stale);
        assert_eq!(
            hotels.rates_now("h2", false, 0),
            Ok(Served::stale(80, 60 * SECOND))
        );
    }
    let refused = hotels.rates("h3", true, 7).await;
    assert!(matches!(refused, Err(CallError::Open(_))), "a cold cache");
    scope.advance(30 * SECOND);
    assert_eq!(hotels.rates("h1", true, 130).await, Ok(Served::fresh(130)));
    assert_eq!(hotels.rates.load_now("h1").unwrap().unwrap().value, 130);
}

#[tokio::test]
async fn a_static_that_is_opened_at_the_first_call() {
    static PLACE: LazyLock<Somewhere> = LazyLock::new(somewhere);
    static RATES: LazyLock<LastGood<String, u32, Disk<String, u32>>> =
        LazyLock::new(|| LastGood::on_disk(&PLACE.path, HOUR).unwrap());

    #[circuit_breaker(threshold = 1, last_good = RATES, last_good_key = hotel)]
    async fn rates(hotel: &str, up: bool, value: u32) -> Rates {
        ask(up, value)
    }

    let _scope = test::scope();
    assert_eq!(rates("h1", true, 120).await, Ok(Served::fresh(120)));
    assert_eq!(
        rates("h1", false, 0).await,
        Ok(Served::stale(120, Duration::ZERO))
    );
    std::fs::remove_dir_all(PLACE.directory.path()).unwrap();
}

#[derive(Default)]
struct Heard(Mutex<Vec<(LastGoodStep, String)>>);

impl Observer for Heard {
    fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
        let error = event.error.downcast_ref::<DiskError>();
        let error = error.expect("the store's own error").to_string();
        self.0.lock().unwrap().push((event.step, error));
    }
}

impl Heard {
    fn take(&self) -> Vec<(LastGoodStep, String)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[cfg(unix)]
#[tokio::test]
async fn an_answer_that_cant_be_saved_is_an_answer() {
    let scope = test::scope();
    let heard = Arc::new(Heard::default());
    let _installed = observe::install(Arc::clone(&heard));
    let place = somewhere();
    let hotels = Hotels::open(&place.path);
    assert_eq!(hotels.rates("h1", true, 120).await, Ok(Served::fresh(120)));
    assert!(heard.take().is_empty());

    std::fs::rename(&place.path, place.path.with_extension("moved")).unwrap();
    scope.advance(SECOND);
    assert_eq!(hotels.rates("h1", true, 130).await, Ok(Served::fresh(130)));
    assert_eq!(hotels.rates_now("h1", true, 130), Ok(Served::fresh(130)));
    let told = heard.take();
    assert_eq!(told.len(), 2);
    for (step, error) in told {
        assert_eq!(step, LastGoodStep::Store);
        assert!(error.contains("was moved or removed"), "{error}");
    }
    let stale = Ok(Served::stale(120, SECOND));
    assert_eq!(hotels.rates("h1", false, 0).await, stale);
    assert_eq!(hotels.rates_now("h1", false, 0), stale);
    assert!(heard.take().is_empty());
}

#[tokio::test]
async fn an_answer_that_cant_be_read_is_none() {
    let _scope = test::scope();
    let heard = Arc::new(Heard::default());
    let _installed = observe::install(Arc::clone(&heard));
    let place = somewhere();
    let hotels = Hotels::open(&place.path);
    assert_eq!(hotels.rates("h1", true, 120).await, Ok(Served::fresh(120)));
    drop(hotels);

    let hotels = Hotels::open_with(&place.path, EACH.version(2));
    let failed = Err(CallError::Call("no answer"));
    assert_eq!(hotels.rates("h1", false, 0).await, failed);
    assert_eq!(hotels.rates_now("h1", false, 0), failed);
    let told = heard.take();
    assert_eq!(told.len(), 2);
    for (step, error) in told {
        assert_eq!(step, LastGoodStep::Load);
        assert!(error.contains("whose answers are other ones"), "{error}");
    }
    assert_eq!(hotels.rates("h1", true, 7).await, Ok(Served::fresh(7)));
    assert_eq!(
        hotels.rates("h1", false, 0).await,
        Ok(Served::stale(7, Duration::ZERO))
    );
}

/// Can be saved, and panics when it is read from then on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Fragile(u32);

static BROKEN: AtomicBool = AtomicBool::new(false);

impl<'de> Deserialize<'de> for Fragile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        assert!(!BROKEN.load(Ordering::Relaxed), "an answer's own");
        u32::deserialize(from).map(Self)
    }
}

type Fragiles = LastGood<String, Fragile, Disk<String, Fragile>>;

#[circuit_breaker(threshold = 9, last_good = answers, last_good_key = hotel)]
async fn fragile(
    answers: &Fragiles,
    hotel: &str,
    up: bool,
) -> Result<Served<Fragile>, CallError<&'static str>> {
    ask(up, 7).map(|served| served.map(Fragile))
}

#[tokio::test]
async fn an_answer_whose_reading_panics_is_none() {
    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);
    impl Observer for Lines {
        fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
            self.0.lock().unwrap().push(event.to_string());
        }
    }
    let _scope = test::scope();
    let lines = Arc::new(Lines::default());
    let _installed = observe::install(Arc::clone(&lines));
    let place = somewhere();
    let answers: Arc<Fragiles> = Arc::new(LastGood::in_store(open(&place.path), HOUR));
    let fresh = fragile(&answers, "h1", true).await;
    assert_eq!(fresh, Ok(Served::fresh(Fragile(7))));
    BROKEN.store(true, Ordering::Relaxed);
    let failed = fragile(&answers, "h1", false).await;
    assert_eq!(failed, Err(CallError::Call("no answer")));
    {
        let lines = lines.0.lock().unwrap();
        let [line] = &lines[..] else {
            panic!("{lines:?}");
        };
        assert!(
            line.contains("it panicked") && line.contains("an answer's own"),
            "{line}"
        );
    }
    // Who asks by hand gets the panic, as if it were read where they are.
    let by_hand = Arc::clone(&answers);
    let ended = tokio::spawn(async move { by_hand.load("h1").await }).await;
    assert!(ended.unwrap_err().is_panic());
    BROKEN.store(false, Ordering::Relaxed);
    let stale = fragile(&answers, "h1", false).await;
    assert_eq!(stale, Ok(Served::stale(Fragile(7), Duration::ZERO)));
}
