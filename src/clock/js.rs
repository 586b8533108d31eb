//! The clock of JavaScript.

use breaker_core::Clock;
use std::sync::OnceLock;
use wasm_bindgen::prelude::*;

/// JavaScript's clock: `performance.now()`, or `Date.now()` where there is none.
///
/// Never `SystemTime` or `Instant`, which trap on this target. Nothing is asked
/// before a breaker's first call, so a `static` may be declared where edge workers
/// allow neither time nor random numbers: outside of a request.
///
/// # Resolution
/// 1 ms: what browsers and edge workers blur time to. (One that is set to resist
/// fingerprinting blurs it to 17 or 100 ms: a wait may then end by so much early.)
/// In an edge worker time also stands still between two inputs or outputs: a
/// reading is that of the last answer or request that came in. All that a breaker
/// asks time for comes just after one of these.
///
/// Where `performance.now()` is missing and the device's time is set back, no time
/// has passed.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsClock;

#[cfg(feature = "last-good")]
impl JsClock {
    /// By the wall clock: nanoseconds since 1970 (UTC).
    pub(crate) fn date() -> u64 {
        nanos(date_now())
    }
}

impl Clock for JsClock {
    #[inline]
    fn now(&self) -> u64 {
        SOURCE.with(Source::nanos)
    }

    #[inline]
    fn resolution(&self) -> u64 {
        1_000_000
    }

    fn entropy(&self) -> Option<u64> {
        static ENTROPY: OnceLock<u64> = OnceLock::new();
        if let Some(entropy) = ENTROPY.get() {
            return Some(*entropy);
        }
        match random() {
            Ok(drawn) => Some(*ENTROPY.get_or_init(|| drawn.to_bits())),
            // Outside of a request, edge workers refuse it: asked again next time.
            Err(_) => Some(self.now()),
        }
    }
}

thread_local! {
    static SOURCE: Source = Source::find();
}

/// Where the time of one thread comes from.
struct Source {
    performance: Option<Performance>,
    /// When `performance.now()` was 0, in nanoseconds. Each thread has its own zero,
    /// and breakers in shared memory are asked by all of them.
    origin: u64,
}

impl Source {
    fn find() -> Self {
        let performance = PERFORMANCE.with(Option::clone);
        let origin = performance.as_ref().and_then(Performance::time_origin);
        Self {
            performance,
            origin: origin.map_or(0, nanos),
        }
    }

    fn nanos(&self) -> u64 {
        let now = self.performance.as_ref().and_then(|p| p.now().ok());
        match now {
            Some(now) => self.origin.saturating_add(nanos(now)),
            None => nanos(date_now()),
        }
    }
}

/// The time of day, since 1970.
#[cfg(feature = "http")]
pub(crate) fn since_epoch() -> core::time::Duration {
    core::time::Duration::from_nanos(nanos(date_now()))
}

/// Of milliseconds. Whole ones stay exact, which they would not as one large
/// number; what is no time is 0.
fn nanos(millis: f64) -> u64 {
    let whole = millis.trunc();
    let part = (millis - whole) * 1e6;
    (whole as u64)
        .saturating_mul(1_000_000)
        .saturating_add(part as u64)
}

#[wasm_bindgen]
extern "C" {
    #[derive(Clone)]
    type Performance;

    #[wasm_bindgen(thread_local_v2, js_name = performance)]
    static PERFORMANCE: Option<Performance>;

    #[wasm_bindgen(method, catch)]
    fn now(this: &Performance) -> Result<f64, JsValue>;

    #[wasm_bindgen(method, getter, js_name = timeOrigin)]
    fn time_origin(this: &Performance) -> Option<f64>;

    #[wasm_bindgen(js_namespace = Date, js_name = now)]
    fn date_now() -> f64;

    #[wasm_bindgen(catch, js_namespace = Math, js_name = random)]
    fn random() -> Result<f64, JsValue>;
}
