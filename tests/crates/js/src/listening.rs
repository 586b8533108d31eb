//! Observers and the log.

use breakerbox::observe::{self, FallbackServed, LogObserver, Observer, Rejection, StateChange};
use std::sync::Mutex;
use wasm_bindgen::prelude::*;

static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Hears;

impl Observer for Hears {
    fn state_changed(&self, event: &StateChange<'_>) {
        hear(event);
    }

    fn rejected(&self, event: &Rejection<'_>) {
        hear(event);
    }

    fn fallback_served(&self, event: &FallbackServed<'_>) {
        hear(event);
    }
}

struct Logs;

impl log::Log for Logs {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        hear(format_args!("{}: {}", record.level(), record.args()));
    }

    fn flush(&self) {}
}

fn hear(what: impl core::fmt::Display) {
    if let Ok(mut heard) = HEARD.lock() {
        heard.push(what.to_string());
    }
}

/// Hears of all events from now on, directly and by the log.
#[wasm_bindgen]
pub fn listen() {
    observe::install(Hears).forever();
    observe::install(LogObserver).forever();
    if log::set_logger(&Logs).is_ok() {
        log::set_max_level(log::LevelFilter::Trace);
    }
}

/// What was heard since it was last asked.
#[wasm_bindgen]
#[must_use]
pub fn heard() -> Vec<String> {
    HEARD
        .lock()
        .map(|mut heard| core::mem::take(&mut *heard))
        .unwrap_or_default()
}
