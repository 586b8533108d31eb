//! What a program without an operating system has around its breaker.
#![no_std]

use breaker_core::{Circuit, Clock, Outcome, Policy};
use core::hint::black_box;

/// A program that does this for ever; where there is an operating system, one that does nothing.
#[macro_export]
macro_rules! program {
    ($step:expr) => {
        #[cfg(target_os = "none")]
        /// Where it starts.
        // SAFETY: no other item has this name.
        #[unsafe(no_mangle)]
        pub extern "C" fn _start() -> ! {
            loop {
                $step();
            }
        }

        #[cfg(not(target_os = "none"))]
        fn main() {
            let _ = $step;
        }
    };
}

/// A clock of milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Ticks;

impl Clock for Ticks {
    fn now(&self) -> u64 {
        // What a timer's register would say.
        u64::from(black_box(0_u32)) * 1_000_000
    }

    fn resolution(&self) -> u64 {
        1_000_000
    }

    fn entropy(&self) -> Option<u64> {
        // The board's serial number.
        Some(black_box(0x5EED))
    }
}

/// Nothing.
pub fn nothing() {
    black_box(());
}

/// One call through a breaker, as it is asked for and settled.
pub fn call<P: Policy>(circuit: &Circuit<P>) {
    match circuit.admit(Ticks) {
        Ok(permit) => {
            let outcome = if black_box(true) {
                Outcome::Success
            } else {
                Outcome::Failure
            };
            black_box(permit.settle(outcome));
        }
        Err(refused) => {
            black_box(refused);
        }
    }
}

#[cfg(target_os = "none")]
mod bare {
    use core::hint::black_box;
    use core::panic::PanicInfo;

    #[panic_handler]
    fn panic(_: &PanicInfo<'_>) -> ! {
        panicked()
    }

    /// Shows by its symbol that something can panic.
    #[inline(never)]
    fn panicked() -> ! {
        loop {
            black_box(());
        }
    }

    #[cfg(not(target_has_atomic = "32"))]
    mod critical {
        use core::arch::asm;
        use critical_section::{Impl, RawRestoreState};

        /// Interrupts are off.
        struct Uninterrupted;

        critical_section::set_impl!(Uninterrupted);

        // SAFETY: one core, on which nothing runs beside this while interrupts are off.
        unsafe impl Impl for Uninterrupted {
            unsafe fn acquire() -> RawRestoreState {
                let masked: u32;
                // SAFETY: reads whether interrupts are off, and turns them off.
                unsafe { asm!("mrs {}, PRIMASK", "cpsid i", out(reg) masked) };
                masked & 1 == 0
            }

            unsafe fn release(were_on: RawRestoreState) {
                if were_on {
                    // SAFETY: they were on when they were turned off.
                    unsafe { asm!("cpsie i") };
                }
            }
        }
    }
}
