//! Mistakes in `breaker!`.

#![allow(unused)]

use breakerbox::breaker;

breaker! { PMS }

breaker! { PMS = { threshold: 5 } }

breaker! { const PMS_0 = { threshold: 5 } }

breaker! { fn pms() {} }

breaker! { static mut PMS_1 = {} }

breaker! { static PMS_2 }

breaker! { static PMS_3 = }

breaker! { static PMS_4 = 5 }

breaker! { static PMS_5 = (threshold: 5) }

breaker! { static PMS_6 { threshold: 5 } }

breaker! { static PMS_7: Breaker = { threshold: 5 } }

breaker! { static PMS_8: = { threshold: 5 } }

breaker! { static = { threshold: 5 } }

breaker! { static PMS_9 = { threshold: 0, treshold: 5, reset: 30, probes = 3, jitter } }

breaker! { static PMS_10 = { threshold: 3, threshold: 4 } }

breaker! { static PMS_11 = { close_after: 2, close_rate: 0.5, max_reset: "1s" } }

breaker! {
    static PMS_12 = {
        breaker: X,
        shared,
        classify: a,
        classify_output: b,
        timeout: "2s",
        fallback: c,
        fallback_on: any,
        open_error: d,
        timeout_error: e,
    }
}

breaker! { static PMS_13 = { frobnicate: 3 } }

breaker! { static PMS_14 = { failure_rate: 0, window: 5000, min_calls: 0, slow: 2 } }

breaker! { static PMS_15 = { threshold: 3 reset: "3s" } }

breaker! { static PMS_16 = { threshold: 3 }; ; }

breaker! {
    static PMS_17 = { threshold: 0 }
    pub(crate) static PMS_18 = { reset: 5 };
}

breaker! { static PMS_19 = { name: "", crate: 5, on_cancel: maybe } }

breaker! { static PMS_20 = { threshold: 3, failure_rate: 0.5, window: 20, min_calls: 30 } }

breaker! { static PMS_21 = { window: "10s", min_calls: 10, slow: "1s" } }

breaker! { static PMS_22 = { close_rate: 0.5, probes: 256, key: account } }

breaker! { static type = { threshold: 3 } }

breaker! { static _ = { threshold: 3 } }

// A static with a mistake is still there for others: this is no further error.
static USES: &breakerbox::Breaker = &PMS_9;
static USES_RATE: &breakerbox::Breaker<breakerbox::DefaultClock, breakerbox::Sliding<2>> = &PMS_20;

fn main() {}
