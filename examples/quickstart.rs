//! A dependency fails, is left alone, and answers again.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<&'static str, CallError<&'static str>>;

static REQUESTS: AtomicU32 = AtomicU32::new(0);

#[circuit_breaker(threshold = 3, reset = "100ms", fallback = last_known)]
async fn rooms_left(_hotel: &str) -> Answer {
    match REQUESTS.fetch_add(1, Ordering::Relaxed) {
        0..3 => Err(CallError::Call("no answer")),
        _ => Ok("7 rooms"),
    }
}

fn last_known(_hotel: &str) -> Answer {
    Ok("9 rooms, as of yesterday")
}

#[tokio::main]
async fn main() {
    for _ in 0..6 {
        println!("{:?}", rooms_left("Adlon").await); // three failures, then three refusals
    }
    assert_eq!(REQUESTS.load(Ordering::Relaxed), 3);

    tokio::time::sleep(Duration::from_millis(150)).await; // the next call is a probe
    println!("{:?}", rooms_left("Adlon").await);
    assert_eq!(rooms_left("Adlon").await, Ok("7 rooms"));
}
