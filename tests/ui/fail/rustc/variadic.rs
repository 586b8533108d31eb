//! A function with C's `...`, which the language doesn't have yet either.

use breakerbox::circuit_breaker;

#[circuit_breaker]
unsafe extern "C" fn variadic(count: u32, _: ...) -> Result<u32, breakerbox::CallError<()>> {
    Ok(count)
}

fn main() {}
