//! What a configuration came of that doesn't show in it, and that matters where another setting
//! is changed at run time.

use super::Settings;

/// Where nothing is changed, nothing is kept: see `config.rs`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Origins {
    /// Else `close_after` follows from `probes`.
    #[cfg(not(one_thread))]
    pub(super) close_after_was_set: bool,
    /// Else `probe_timeout` follows from `reset`.
    #[cfg(not(one_thread))]
    pub(super) probe_timeout_was_set: bool,
    /// Nanoseconds; only to be compared with `probe_timeout`. 0, which is refused, is none.
    #[cfg(not(one_thread))]
    pub(super) timeout: u64,
}

impl Origins {
    #[cfg(not(one_thread))]
    pub(super) const fn of(settings: &Settings) -> Self {
        Self {
            close_after_was_set: settings.close_after.is_some(),
            probe_timeout_was_set: settings.probe_timeout.is_some(),
            timeout: match settings.timeout {
                Some(Some(timeout)) => timeout,
                _ => 0,
            },
        }
    }

    #[cfg(one_thread)]
    pub(super) const fn of(_: &Settings) -> Self {
        Self {}
    }
}
