//! The state machine of breakerbox as a WebAssembly module.
//!
//! The npm package's JavaScript calls these functions; nothing else does. All of
//! them take and give numbers alone, so they need no glue, and the module imports
//! nothing. A breaker is the number of its place in the memory. Times are
//! milliseconds, as JavaScript has them.
//!
//! On other targets than WebAssembly the crate is empty.
#![cfg_attr(target_family = "wasm", no_std)]
#![cfg(target_family = "wasm")]

extern crate alloc;

mod breaker;
mod calls;
mod exchange;
mod memory;
mod operator;
mod settings;
mod time;

/// Nothing here panics but on a lack of memory; the caller then sees a
/// `RuntimeError`.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
