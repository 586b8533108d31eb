//! Breakers by hand, dropped calls, the registry.

use crate::calls::{Answer, ask, thrown};
use breakerbox::{Breaker, CallError, CircuitOpenError, Settings, breaker, circuit_breaker};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Waker};
use core::time::Duration;
use js_sys::Function;
use std::sync::Arc;
use wasm_bindgen::prelude::*;

breaker! { static DECLARED = { name: "declared", threshold: 1, reset: "30s" } }

/// Through a breaker of `breaker!`, with a timeout by the default timer.
///
/// # Errors
/// The dependency's, or that of a refused or late call.
#[wasm_bindgen]
pub async fn declared(dependency: Function) -> Result<JsValue, JsValue> {
    let flat = |error| match error {
        CallError::Call(error) => error,
        CallError::Open(open) => CallError::Open(open),
        CallError::TimedOut(late) => CallError::TimedOut(late),
    };
    let call = DECLARED.call(ask(&dependency));
    let answer = call.timeout(Duration::from_secs(2)).await;
    answer.map_err(flat).map_err(thrown)
}

/// A client object with a breaker of its own.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Client {
    breaker: Arc<Breaker>,
}

#[wasm_bindgen]
impl Client {
    /// Whose breaker has that name.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(name: String) -> Self {
        let settings = Settings::new().threshold(1).must();
        Self {
            breaker: Breaker::shared(name, settings),
        }
    }

    /// A call by it.
    ///
    /// # Errors
    /// The dependency's, or that of a refused call.
    pub async fn call(&self, dependency: Function) -> Result<JsValue, JsValue> {
        self.guarded(&dependency).await.map_err(thrown)
    }
}

impl Client {
    #[circuit_breaker(breaker = &self.breaker)]
    async fn guarded(&self, dependency: &Function) -> Answer {
        ask(dependency).await
    }
}

#[circuit_breaker(
    name = "dropped",
    threshold = 1,
    reset = "30s",
    probe_timeout = "60s",
    timeout = "5s"
)]
async fn guarded_dropped(dependency: Function) -> Answer {
    ask(&dependency).await
}

/// A call that was begun and is dropped by `free()`.
#[wasm_bindgen]
pub struct Begun {
    call: Pin<Box<dyn Future<Output = Answer>>>,
}

#[wasm_bindgen]
impl Begun {
    /// Begins a call.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(dependency: Function) -> Self {
        let mut begun = Self {
            call: Box::pin(guarded_dropped(dependency)),
        };
        let _ = begun.poll();
        begun
    }

    /// Whether it has ended.
    pub fn poll(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        self.call.as_mut().poll(&mut context).is_ready()
    }
}

impl core::fmt::Debug for Begun {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Begun").finish_non_exhaustive()
    }
}

/// The state of a breaker of the registry, if it is there.
#[wasm_bindgen]
#[must_use]
pub fn state(name: &str) -> Option<String> {
    Some(breakerbox::find(name)?.state().to_string())
}

/// The keys of breakers by key, sorted.
#[wasm_bindgen]
#[must_use]
pub fn keys(name: &str) -> Vec<String> {
    let Some(found) = breakerbox::find_keyed(name) else {
        return Vec::new();
    };
    let label = |breaker: &breakerbox::Found| Some(breaker.key()?.to_string());
    let mut keys: Vec<_> = found.breakers().iter().filter_map(label).collect();
    keys.sort();
    keys
}

/// Opens a breaker of the registry for so many milliseconds.
#[wasm_bindgen(js_name = openFor)]
#[must_use]
pub fn open_for(name: &str, ms: u32) -> bool {
    breakerbox::find(name)
        .map(|breaker| breaker.open_for(Duration::from_millis(ms.into())))
        .is_some()
}

/// Admission of a plain call, without waiting for anything.
///
/// # Errors
/// That of a refused call.
#[wasm_bindgen(js_name = admitPlain)]
pub fn admit_plain() -> Result<(), JsValue> {
    let refused = |open: CircuitOpenError| thrown(CallError::Open(open));
    DECLARED.admit().map_err(refused)?.success();
    Ok(())
}
