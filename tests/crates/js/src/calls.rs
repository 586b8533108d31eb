//! Guarded calls of every kind.

use breakerbox::{CallError, circuit_breaker};
use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// What a guarded call gives.
pub type Answer = Result<JsValue, CallError<JsValue>>;

/// The dependency: a function that gives a promise.
///
/// # Errors
/// What it throws, and what the promise is rejected with.
pub async fn ask(dependency: &Function) -> Answer {
    let promise = dependency.call0(&JsValue::UNDEFINED);
    let promise = Promise::resolve(&promise.map_err(CallError::Call)?);
    JsFuture::from(promise).await.map_err(CallError::Call)
}

/// A 404 is an answer.
fn counts(error: &CallError<JsValue>) -> bool {
    let CallError::Call(error) = error else {
        return true;
    };
    let status = Reflect::get(error, &"status".into());
    status.ok().and_then(|status| status.as_f64()) != Some(404.0)
}

#[circuit_breaker(name = "rooms", threshold = 3, reset = "30s", classify = counts)]
async fn guarded_rooms(dependency: &Function) -> Answer {
    ask(dependency).await
}

/// By failures in a row.
///
/// # Errors
/// The dependency's, or that of a refused call.
#[wasm_bindgen]
pub async fn rooms(dependency: Function) -> Result<JsValue, JsValue> {
    guarded_rooms(&dependency).await.map_err(thrown)
}

#[circuit_breaker(
    name = "rates",
    failure_rate = 0.5,
    window = "10s",
    min_calls = 4,
    slow = "1s",
    slow_rate = 0.5
)]
async fn guarded_rates(dependency: &Function) -> Answer {
    ask(dependency).await
}

/// By the share of failures and of slow calls.
///
/// # Errors
/// The dependency's, or that of a refused call.
#[wasm_bindgen]
pub async fn rates(dependency: Function) -> Result<JsValue, JsValue> {
    guarded_rates(&dependency).await.map_err(thrown)
}

#[circuit_breaker(name = "hosts", threshold = 1, key = host, max_keys = 3)]
async fn guarded_by_host(host: &str, dependency: &Function) -> Answer {
    ask(dependency).await
}

/// A breaker for each host, three at most.
///
/// # Errors
/// The dependency's, or that of a refused call.
#[wasm_bindgen(js_name = byHost)]
pub async fn by_host(host: String, dependency: Function) -> Result<JsValue, JsValue> {
    guarded_by_host(&host, &dependency).await.map_err(thrown)
}

#[circuit_breaker(name = "cached", threshold = 1, timeout = "2s", fallback = |cause| last_good(&cause))]
async fn guarded_cached(dependency: &Function) -> Answer {
    ask(dependency).await
}

fn last_good(cause: &breakerbox::Cause<'_, Answer>) -> Answer {
    Ok(match cause {
        breakerbox::Cause::Failed(_) => "last good: failed",
        breakerbox::Cause::Open(_) => "last good: open",
        breakerbox::Cause::TimedOut(_) => "last good: timed out",
    }
    .into())
}

/// With a fallback that sees why.
///
/// # Errors
/// None.
#[wasm_bindgen]
pub async fn cached(dependency: Function) -> Result<JsValue, JsValue> {
    guarded_cached(&dependency).await.map_err(thrown)
}

/// A `timeout` that only the call knows, so that any can be tried.
#[circuit_breaker(name = "limited", threshold = 2, probe_timeout = "70000000s", timeout = limit)]
async fn guarded_limited(limit: core::time::Duration, dependency: &Function) -> Answer {
    ask(dependency).await
}

/// With a limit of so many milliseconds.
///
/// # Errors
/// The dependency's, or that of a refused or late call.
#[wasm_bindgen]
pub async fn limited(ms: f64, dependency: Function) -> Result<JsValue, JsValue> {
    let limit = core::time::Duration::from_secs_f64(ms / 1e3);
    guarded_limited(limit, &dependency).await.map_err(thrown)
}

/// What a caller in JavaScript gets: an `Error` named `CircuitOpenError` or `TimeoutError`, or
/// the dependency's own.
#[must_use]
pub fn thrown(error: CallError<JsValue>) -> JsValue {
    let (name, message, after) = match error {
        CallError::Call(error) => return error,
        CallError::Open(open) => ("CircuitOpenError", open.to_string(), open.retry_after()),
        CallError::TimedOut(late) => ("TimeoutError", late.to_string(), None),
    };
    let error = js_sys::Error::new(&message);
    error.set_name(name);
    let after = after.map_or(JsValue::NULL, |after| (after.as_secs_f64() * 1e3).into());
    // Only fails on what is no object.
    let _ = Reflect::set(&error, &"retryAfter".into(), &after);
    error.into()
}
