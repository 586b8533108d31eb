//! A breaker that trips after failures in a row.
#![cfg_attr(target_os = "none", no_std, no_main)]

use breaker_core::{Circuit, Config};

static CIRCUIT: Circuit = Circuit::new(Config::DEFAULT);

fn call() {
    test_size::call(&CIRCUIT);
}

test_size::program!(call);
