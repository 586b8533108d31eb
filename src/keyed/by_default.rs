//! Breakers by key that name no clock: theirs is the platform's.

use super::KeyedBreakers;
use crate::clock::{self, DefaultClock};
use breaker_core::{Circuit, Config, ConfigError, RateConfig, Sliding};
use std::sync::Arc;

impl<O> KeyedBreakers<O> {
    /// Breakers by hand, also for a `static`. They do not enter the registry:
    /// [`find`](crate::find) does not know them.
    #[must_use]
    pub const fn new(name: &'static str, config: Config) -> Self {
        Self::with_clock(name, config, clock::DEFAULT)
    }
}

impl<O: Send + Sync> KeyedBreakers<O> {
    /// Breakers for one client object: [`find`](crate::find) knows them, as
    /// `name[key]`, until the last `Arc` is dropped. A name that is already taken
    /// gets the place of this call, `@file:line`.
    ///
    /// ```
    /// use breakerbox::{Config, KeyedBreakers};
    ///
    /// let accounts = KeyedBreakers::<u64>::shared("accounts", Config::DEFAULT, 1_000)?;
    /// assert!(accounts.get(&7_u64).admit().is_ok());
    /// assert!(breakerbox::find("accounts[7]").is_some());
    /// drop(accounts);
    /// assert!(breakerbox::find("accounts[7]").is_none());
    /// # Ok::<(), breakerbox::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// [`ConfigError::ZeroMaxKeys`].
    #[track_caller]
    pub fn shared(
        name: impl Into<String>,
        config: Config,
        max_keys: u32,
    ) -> Result<Arc<Self>, ConfigError> {
        Self::shared_with_clock(name, config, clock::DEFAULT, max_keys)
    }
}

impl<O, const SLOTS: usize> KeyedBreakers<O, DefaultClock, Sliding<SLOTS>> {
    /// Breakers by hand that trip by rate. They do not enter the registry:
    /// [`find`](crate::find) does not know them.
    ///
    /// # Errors
    /// [`ConfigError::TooFewSlots`] where the window needs more than `SLOTS`
    /// slots.
    pub const fn by_rate(name: &'static str, config: RateConfig) -> Result<Self, ConfigError> {
        Self::by_rate_with_clock(name, config, clock::DEFAULT)
    }
}

impl<O: Send + Sync, const SLOTS: usize> KeyedBreakers<O, DefaultClock, Sliding<SLOTS>> {
    /// [`shared`](KeyedBreakers::shared) for breakers that trip by rate.
    ///
    /// # Errors
    /// [`ConfigError::TooFewSlots`] where the window needs more than `SLOTS`
    /// slots, [`ConfigError::ZeroMaxKeys`].
    #[track_caller]
    pub fn shared_by_rate(
        name: impl Into<String>,
        config: RateConfig,
        max_keys: u32,
    ) -> Result<Arc<Self>, ConfigError> {
        let (circuit, clock) = (Circuit::by_rate(config)?, clock::DEFAULT);
        Self::share(name.into(), circuit, clock, max_keys)
    }
}
