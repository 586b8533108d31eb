//! Last-good answers, whose age is by JavaScript's clocks.

use breakerbox::{CallError, LastGood, Served, circuit_breaker};
use core::time::Duration;
use js_sys::{Array, Function};
use wasm_bindgen::prelude::*;

use crate::calls::{ask, thrown};

static COSTS: LastGood<String, String> = LastGood::new(Duration::from_secs(24 * 3600));

#[circuit_breaker(name = "costs", threshold = 2, key = account, last_good = COSTS)]
async fn guarded_costs(
    account: &str,
    dependency: &Function,
) -> Result<Served<String>, CallError<JsValue>> {
    let answer = ask(dependency).await?;
    Ok(Served::fresh(answer.as_string().unwrap_or_default()))
}

/// An answer, its age in milliseconds, and whether it is stale.
///
/// # Errors
/// The dependency's, or that of a refused call.
#[wasm_bindgen]
pub async fn costs(account: String, dependency: Function) -> Result<Array, JsValue> {
    let answer = guarded_costs(&account, &dependency).await;
    let Served { value, age, stale } = answer.map_err(thrown)?;
    let age = age.as_secs_f64() * 1e3;
    Ok(Array::of3(&value.into(), &age.into(), &stale.into()))
}

/// Takes an answer from elsewhere, so many milliseconds old.
#[wasm_bindgen]
pub fn prime(account: &str, value: String, age: f64) {
    let Ok(()) = COSTS.prime_now(account, &value, Duration::from_secs_f64(age / 1e3));
}
