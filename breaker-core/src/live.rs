//! The configuration that a circuit goes by: the declared one, and what an operator laid over
//! it at run time.

use crate::config::Config;
#[cfg(not(one_thread))]
use crate::config::{Overrides, Reconfiguration, ReconfigureError, WORDS};
#[cfg(not(one_thread))]
use crate::overlay::{Laid, Overlay};
use crate::sync::const_fn;
use core::fmt;
use core::time::Duration;

/// The configuration of a circuit, or of many that share it: declared, and as an operator
/// changed it at run time.
///
/// Calls on a closed breaker don't look at it. Reading it waits for nobody.
///
/// ```
/// use breaker_core::{Circuit, Config, Overrides, ReconfigureError};
///
/// let hosts = Circuit::new(Config::DEFAULT);
/// let one = hosts.fresh_bare();
/// hosts.live().reconfigure(&Overrides::new().threshold(20))?;
/// assert_eq!(one.with(hosts.live()).config().threshold(), 20);
/// assert_eq!(hosts.live().declared().threshold(), 5);
/// # Ok::<(), ReconfigureError>(())
/// ```
pub struct LiveConfig {
    declared: Config,
    #[cfg(not(one_thread))]
    overlay: Overlay<WORDS>,
}

impl LiveConfig {
    const_fn! {
        /// As declared, with nothing over it.
        #[must_use]
        pub const fn new(declared: Config) -> Self {
            Self {
                declared,
                #[cfg(not(one_thread))]
                overlay: Overlay::new(),
            }
        }
    }

    /// What was declared.
    #[must_use]
    #[inline]
    pub const fn declared(&self) -> &Config {
        &self.declared
    }

    /// What holds now.
    #[must_use]
    pub fn config(&self) -> Config {
        self.overridden().unwrap_or(self.declared)
    }

    /// [`Config::probe_timeout`] of what holds now.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn probe_timeout(&self) -> Duration {
        match self.overridden() {
            None => self.declared.probe_timeout(),
            Some(config) => config.probe_timeout(),
        }
    }
}

#[cfg(one_thread)]
impl LiveConfig {
    /// Never: see `config.rs`.
    #[inline]
    pub(crate) fn is_overridden(&self) -> bool {
        false
    }

    #[inline]
    pub(crate) fn overridden(&self) -> Option<Config> {
        None
    }
}

#[cfg(not(one_thread))]
impl LiveConfig {
    /// Whether anything lies over what was declared.
    #[must_use]
    #[inline]
    pub fn is_overridden(&self) -> bool {
        self.overlay.is_on()
    }

    /// What holds now, where something lies over what was declared.
    #[inline]
    pub(crate) fn overridden(&self) -> Option<Config> {
        if self.is_overridden() {
            self.read()
        } else {
            None
        }
    }

    #[cold]
    #[inline(never)]
    fn read(&self) -> Option<Config> {
        let laid = self.overlay.read()?;
        Some(self.meant(Some(laid)))
    }

    /// What lies over what was declared.
    pub fn overrides(&self) -> Overrides {
        match self.overlay.read() {
            Some(laid) => self.meant(Some(laid)).overrides(laid.mask),
            None => Overrides::new(),
        }
    }

    /// See [`Circuit::reconfigure`](crate::Circuit::reconfigure).
    ///
    /// # Errors
    /// As there.
    pub fn reconfigure(&self, overrides: &Overrides) -> Result<Reconfiguration, ReconfigureError> {
        let to = self.declared.overridden(overrides)?;
        let mask = overrides.mask();
        let before = if mask == 0 {
            self.overlay.clear()
        } else {
            let laid = self.overlay.write(mask, to.words());
            laid.map_err(|_| ReconfigureError::UnderWay)?
        };
        let from = self.meant(before);
        Ok(Reconfiguration { from, to })
    }

    /// See [`Circuit::clear_overrides`](crate::Circuit::clear_overrides).
    pub fn clear_overrides(&self) -> Option<Reconfiguration> {
        let before = self.overlay.clear()?;
        Some(Reconfiguration {
            from: self.meant(Some(before)),
            to: self.declared,
        })
    }

    fn meant(&self, laid: Option<Laid<WORDS>>) -> Config {
        match laid {
            Some(laid) => self.declared.under(laid.mask, &laid.words),
            None => self.declared,
        }
    }
}

impl fmt::Debug for LiveConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("LiveConfig");
        shown.field("declared", &self.declared);
        #[cfg(not(one_thread))]
        shown.field("overrides", &self.overrides());
        shown.finish()
    }
}
