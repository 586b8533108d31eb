//! What becomes of the future of a function with last-good answers.

use super::remote::Remote;
use breakerbox::{CallError, LastGood, Served, circuit_breaker, test};
use std::cell::RefCell;
use std::error::Error;
use std::future::ready;
use std::rc::Rc;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

static NAMES: LastGood<String, String> = LastGood::new(HOUR);
static NUMBERS: LastGood<u64, [u64; 64]> = LastGood::new(HOUR);

fn send<T: Send>(value: T) -> T {
    value
}

/// What `Rc` is to an error: it stays on its thread.
type Local<T> = Result<Served<T>, CallError<Box<dyn Error>>>;

fn ask(name: &str) -> Local<String> {
    match name {
        "" => Err(CallError::Call("no answer".into())),
        name => Ok(Served::fresh(name.to_owned())),
    }
}

#[circuit_breaker(threshold = 9, last_good = NAMES, last_good_key = name)]
async fn local_error(name: &str) -> Local<String> {
    ready(()).await;
    ask(name)
}

#[circuit_breaker(threshold = 9, last_good = NAMES, key = name)]
async fn local_error_by_key(name: &str) -> Local<String> {
    ready(()).await;
    ask(name)
}

/// The cell can go to another thread, what borrows it can't.
#[circuit_breaker(threshold = 9, last_good = NAMES, last_good_key = *name.borrow())]
async fn cell(name: RefCell<String>) -> Local<String> {
    ready(()).await;
    ask(&name.into_inner())
}

#[circuit_breaker(threshold = 9, last_good = NAMES, last_good_key = Rc::<str>::from(name))]
async fn local_key(name: &str) -> Local<String> {
    ready(()).await;
    ask(name)
}

#[circuit_breaker(threshold = 9, classify_output = Result::is_err, last_good = NAMES, last_good_key = name)]
async fn classified(name: &str) -> Local<String> {
    ready(()).await;
    ask(name)
}

#[circuit_breaker(threshold = 9, timeout = "2s", last_good = NAMES, last_good_key = name)]
async fn limited(name: &str) -> Local<String> {
    ready(()).await;
    ask(name)
}

#[circuit_breaker(threshold = 9, last_good = NAMES, last_good_key = *name)]
async fn local(name: Rc<str>) -> Local<String> {
    ready(()).await;
    ask(&name)
}

#[tokio::test]
async fn a_future_is_send_where_the_body_is() {
    let _scope = test::scope();
    assert!(send(local_error("a")).await.is_ok());
    assert!(send(local_error_by_key("a")).await.is_ok());
    assert!(send(cell(RefCell::new("a".to_owned()))).await.is_ok());
    assert!(send(local_key("a")).await.is_ok());
    assert!(send(classified("a")).await.is_ok());
    assert!(send(limited("a")).await.is_ok());
    assert!(local(Rc::from("a")).await.is_ok());
    assert!(local(Rc::from("")).await.is_err());
}

/// With a store that is awaited, an error waits for what is found there.
#[circuit_breaker(threshold = 9, last_good = answers, last_good_key = name)]
async fn remote(
    answers: &LastGood<String, u32, Remote>,
    name: &str,
) -> Result<Served<u32>, CallError<String>> {
    ready(()).await;
    u32::try_from(name.len())
        .map(Served::fresh)
        .map_err(|why| CallError::Call(why.to_string()))
}

#[tokio::test]
async fn so_is_one_whose_store_is_awaited() {
    let _scope = test::scope();
    let answers = LastGood::in_store(Remote::default(), HOUR);
    assert!(send(remote(&answers, "a")).await.is_ok());
}

type Large = Result<Served<[u64; 64]>, CallError<u8>>;

fn large(n: u64, up: bool) -> Large {
    if up && n > 0 {
        Ok(Served::fresh([7; 64]))
    } else {
        Err(CallError::Call(1))
    }
}

#[circuit_breaker(threshold = 9)]
async fn plain(n: u64, up: bool) -> Large {
    ready(()).await;
    large(n, up)
}

#[circuit_breaker(threshold = 9, last_good = NUMBERS, last_good_key = n)]
async fn kept(n: u64, up: bool) -> Large {
    ready(()).await;
    large(n, up)
}

#[circuit_breaker(threshold = 9, key = n)]
async fn plain_by_key(n: u64, up: bool) -> Large {
    ready(()).await;
    large(n, up)
}

#[circuit_breaker(threshold = 9, key = n, last_good = NUMBERS)]
async fn kept_by_key(n: u64, up: bool) -> Large {
    ready(()).await;
    large(n, up)
}

/// Nothing is kept for a wait that there can't be, neither the answer nor the error: only the
/// key, and the parameter that it was made of.
#[tokio::test]
async fn a_future_grows_by_its_key_alone() {
    let _scope = test::scope();
    let grown = size_of_val(&kept(1, true)) - size_of_val(&plain(1, true));
    assert!(grown <= 24, "{grown}");
    let by_key = size_of_val(&kept_by_key(1, true)) - size_of_val(&plain_by_key(1, true));
    assert!(by_key <= 8, "{by_key}");
    assert_eq!(kept(1, true).await, large(1, true));
    let stale = Ok(Served::stale([7; 64], Duration::ZERO));
    assert_eq!(kept(1, false).await, stale);
    assert_eq!(kept_by_key(1, false).await, stale);
    assert_eq!(plain(1, false).await, large(1, false));
    assert_eq!(plain_by_key(1, false).await, large(1, false));
}
