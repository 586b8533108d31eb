//! A call that isn't awaited, and a result that isn't used, are still warned of.

#![deny(unused_must_use)]

use breakerbox::{CallError, circuit_breaker};

#[circuit_breaker]
async fn guarded() -> Result<(), CallError<()>> {
    Ok(())
}

#[circuit_breaker(classify_output = |_| false, open_error = |_| 0)]
#[must_use = "as it was asked for"]
fn guarded_plain() -> u8 {
    5
}

async fn caller() {
    guarded();
    guarded().await;
    guarded_plain();
}

fn main() {
    drop(caller());
}
