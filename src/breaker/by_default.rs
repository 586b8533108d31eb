//! Breakers that name no clock: theirs is the platform's.

use super::Breaker;
use crate::clock::{self, DefaultClock};
use crate::name::Name;
use crate::registry::{Declaration, Listing};
use breaker_core::{Circuit, Config, ConfigError, RateConfig, Sliding};
use std::sync::Arc;

impl Breaker {
    /// A breaker by hand. It does not enter the registry:
    /// [`find`](crate::find) does not know it.
    #[must_use]
    pub const fn new(name: &'static str, config: Config) -> Self {
        Self::with_clock(name, config, clock::DEFAULT)
    }

    /// A `static` that enters the registry at its first call; `place` says
    /// where it stands. [`breaker!`](crate::breaker) writes this.
    pub(crate) const fn declare(
        name: &'static str,
        config: Config,
        place: Declaration<Self>,
    ) -> Self {
        let listing = Listing::declared(place);
        let (circuit, name) = (Circuit::new(config), Name::Static(name));
        Self::listed(circuit, clock::DEFAULT, name, listing)
    }

    /// A breaker for one client object. It enters the registry at once and
    /// leaves it when the last `Arc` is dropped. A name that is already taken
    /// gets the place of this call, `@file:line`.
    ///
    /// ```
    /// use breakerbox::{Breaker, Config};
    /// use std::sync::Arc;
    ///
    /// struct Client {
    ///     breaker: Arc<Breaker>,
    /// }
    /// let client = Client { breaker: Breaker::shared("pms-of-h1", Config::DEFAULT) };
    /// assert!(breakerbox::find("pms-of-h1").is_some());
    /// drop(client);
    /// assert!(breakerbox::find("pms-of-h1").is_none());
    /// ```
    #[must_use]
    #[track_caller]
    pub fn shared(name: impl Into<String>, config: Config) -> Arc<Self> {
        Self::share(name.into(), Circuit::new(config), clock::DEFAULT)
    }
}

impl<const SLOTS: usize> Breaker<DefaultClock, Sliding<SLOTS>> {
    /// A breaker by hand that trips by rate. It does not enter the registry:
    /// [`find`](crate::find) does not know it.
    ///
    /// ```
    /// use breakerbox::{Breaker, Settings, Sliding, DefaultClock, Window};
    ///
    /// // The last 100 calls need 8 slots: see `Window::slots`.
    /// let settings = Settings::new().failure_rate(0.5).window(Window::calls(100)).min_calls(20);
    /// let pms = Breaker::<DefaultClock, Sliding<8>>::by_rate("pms", settings.build_rate()?)?;
    /// assert!(pms.admit().is_ok());
    /// # Ok::<(), breakerbox::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// [`ConfigError::TooFewSlots`] where the window needs more than `SLOTS`
    /// slots.
    pub const fn by_rate(name: &'static str, config: RateConfig) -> Result<Self, ConfigError> {
        Self::by_rate_with_clock(name, config, clock::DEFAULT)
    }

    /// [`Breaker::shared`] for a breaker that trips by rate.
    ///
    /// # Errors
    /// [`ConfigError::TooFewSlots`] where the window needs more than `SLOTS`
    /// slots.
    #[track_caller]
    pub fn shared_by_rate(
        name: impl Into<String>,
        config: RateConfig,
    ) -> Result<Arc<Self>, ConfigError> {
        Ok(Self::share(
            name.into(),
            Circuit::by_rate(config)?,
            clock::DEFAULT,
        ))
    }

    /// As `declared`, by rate.
    ///
    /// # Panics
    /// If the window needs more slots; the macros count them.
    pub(crate) const fn declared_by_rate(
        name: &'static str,
        config: RateConfig,
        place: Declaration<Self>,
    ) -> Self {
        match Circuit::by_rate(config) {
            Err(error) => panic!("{}", error.message()),
            Ok(circuit) => {
                let listing = Listing::declared(place);
                let name = Name::Static(name);
                Self::listed(circuit, clock::DEFAULT, name, listing)
            }
        }
    }
}
