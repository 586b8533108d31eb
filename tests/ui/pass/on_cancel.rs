//! `on_cancel`: `ignore`, `failure`.

use breakerbox::{CallError, OnCancel, breaker, circuit_breaker};

#[circuit_breaker(on_cancel = ignore)]
async fn ignored() -> Result<u8, CallError<()>> {
    Ok(1)
}

#[circuit_breaker(on_cancel = failure)]
async fn counted() -> Result<u8, CallError<()>> {
    Ok(1)
}

breaker! {
    static IGNORED = { on_cancel: ignore }
    static COUNTED = { on_cancel: failure }
    static DEFAULT = {}
}

fn main() {
    drop((ignored(), counted()));
    assert_eq!(IGNORED.config().on_cancel(), OnCancel::Ignore);
    assert_eq!(COUNTED.config().on_cancel(), OnCancel::Failure);
    assert_eq!(DEFAULT.config().on_cancel(), OnCancel::Ignore);
}
