//! `breaker!`: statics of any visibility, one or many.

use std::time::Duration;

use breakerbox::{CallError, breaker};

breaker! { static BARE = {} }

breaker! {
    /// The property-management system.
    #[allow(dead_code)]
    pub(crate) static PMS = {
        name: "pms",
        threshold: 3,
        reset: "1m30s",
        backoff: 2,
        max_reset: Duration::from_secs(600),
        jitter: 0,
        probes: 2,
        close_after: 4,
        probe_timeout: "2m",
        on_cancel: failure,
    };

    pub static RATES = { close_rate: 0.5, probes: 10 }
}

mod inside {
    breakerbox::breaker! { pub(super) static INSIDE = { threshold: super::LIMIT } }
}

const LIMIT: u32 = 9;

macro_rules! declared {
    ($vis:vis $name:ident = $limit:expr) => {
        breaker! { $vis static $name = { threshold: $limit } }
    };
}

declared! { pub(crate) FROM_A_MACRO = 5 + 3 }

fn main() {
    breaker! { static LOCAL = {} }

    assert_eq!(BARE.config().threshold(), 5);
    assert_eq!(PMS.name(), "pms");
    assert_eq!(PMS.config().reset(), Duration::from_secs(90));
    assert_eq!(PMS.config().max_reset(), Some(Duration::from_secs(600)));
    assert_eq!(RATES.config().close_rate(), Some(0.5));
    assert_eq!(inside::INSIDE.config().threshold(), 9);
    assert_eq!(FROM_A_MACRO.config().threshold(), 8);
    let answer: Result<u8, CallError<()>> = LOCAL.call_sync(|| Ok(1));
    assert!(matches!(answer, Ok(1)));
}
