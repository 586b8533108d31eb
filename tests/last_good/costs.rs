//! What an answer costs: what is allocated on each path.

use allocation_counter::measure;
use breakerbox::{CallError, LastGood, Served, circuit_breaker};
use std::future::ready;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

static NUMBERS: LastGood<u64, u64> = LastGood::new(HOUR);
static NAMES: LastGood<String, u64> = LastGood::new(HOUR);

type Answer = Result<Served<u64>, CallError<&'static str>>;

fn ask(up: bool) -> Answer {
    up.then(|| Served::fresh(7))
        .ok_or(CallError::Call("no answer"))
}

#[circuit_breaker(threshold = 1, last_good = NUMBERS, last_good_key = n)]
fn number(n: u64, up: bool) -> Answer {
    ask(up)
}

#[circuit_breaker(threshold = 1, last_good = NUMBERS, last_good_key = n)]
async fn later(n: u64, up: bool) -> Answer {
    ready(()).await;
    ask(up)
}

#[circuit_breaker(threshold = 1, last_good = NAMES, last_good_key = name)]
fn name(name: &str, up: bool) -> Answer {
    ask(up)
}

#[circuit_breaker(threshold = 1, key = name, last_good = NAMES)]
fn by_key(name: &str, up: bool) -> Answer {
    ask(up)
}

fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

fn allocations(call: impl FnOnce()) -> u64 {
    measure(call).count_total
}

/// Calls it: first fresh, renewed, failed, refused. Gives what the last three allocate.
fn course(call: impl Fn(bool) -> Answer) -> [u64; 3] {
    assert!(call(true).is_ok());
    assert!(call(true).is_ok());
    [true, false, true].map(|up| {
        allocations(|| {
            assert_eq!(call(up).unwrap().value, 7);
        })
    })
}

/// To renew an answer takes the new one; to serve one takes nothing. A key of text is copied
/// besides, unless it is the breaker's.
#[test]
fn what_is_allocated() {
    assert_eq!(course(|up| number(1, up)), [1, 0, 0]);
    assert_eq!(course(|up| now(later(2, up))), [1, 0, 0]);
    assert_eq!(course(|up| name("h1", up)), [2, 1, 1]);
    assert_eq!(course(|up| by_key("h2", up)), [1, 0, 0]);
}
