//! A breaker that trips by rate: over calls or time, which is decided by its settings alone.
#![cfg_attr(target_os = "none", no_std, no_main)]

use breaker_core::{Circuit, RateConfig, Settings, Sliding, Window};

const WINDOW: Window = Window::calls(100);
const CONFIG: RateConfig = Settings::new().failure_rate(0.5).window(WINDOW).must_rate();

static CIRCUIT: Circuit<Sliding<{ WINDOW.slots() }>> = match Circuit::by_rate(CONFIG) {
    Ok(circuit) => circuit,
    Err(_) => panic!("as many slots as the window needs"),
};

fn call() {
    test_size::call(&CIRCUIT);
}

test_size::program!(call);
