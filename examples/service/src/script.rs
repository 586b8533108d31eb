//! The play: what goes wrong, one after another.

use std::time::Duration;

use crate::dependencies::Which;
use crate::dependency::Fault;

/// In an act one dependency fails, and is well again.
#[derive(Clone, Copy, Debug)]
pub struct Act {
    /// Which one.
    pub which: Which,
    /// How it fails.
    pub fault: Fault,
    /// What is there to be seen.
    pub see: &'static str,
}

/// All acts.
pub const ACTS: [Act; 5] = [
    Act {
        which: Which::Pms,
        fault: Fault::Errors,
        see: "`pms` opens after 5 failures; rooms are served stale, with their age; probes fail until it is well",
    },
    Act {
        which: Which::North,
        fault: Fault::Slow(Duration::from_millis(400)),
        see: "`rates[north]` opens because half of its calls are slow; `rates[south]` stays closed",
    },
    Act {
        which: Which::Payments,
        fault: Fault::Busy { seconds: 4 },
        see: "`payments` opens at once, for the 4 s that it asks for; bookings get 503 with a Retry-After",
    },
    Act {
        which: Which::Reviews,
        fault: Fault::Refuses,
        see: "`reviews` opens after 3 failures; pages show no points, and are otherwise as they were",
    },
    Act {
        which: Which::Pms,
        fault: Fault::Hangs,
        see: "`pms` opens after 5 timeouts; callers wait for those, and for no others",
    },
];
