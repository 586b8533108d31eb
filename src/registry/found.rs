//! What was found: a breaker, or breakers by key.

use super::any::AnyBreaker;
use super::any_keyed::AnyKeyed;
use super::held::Held;
use super::origin::{Kind, Origin, Place};
use breaker_core::{Config, Overrides, Reconfiguration, ReconfigureError};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// A breaker of the registry: see [`find`](super::find()) and [`all`](super::all()). Keeps a
/// shared one alive. What an operator can do with it are the methods of [`AnyBreaker`].
#[derive(Clone)]
pub struct Found {
    breaker: Held<dyn AnyBreaker>,
    origin: Origin,
}

impl Found {
    pub(super) fn new(breaker: Held<dyn AnyBreaker>, origin: Origin) -> Self {
        Self { breaker, origin }
    }

    /// The number of its entry, or of that of all keys: another breaker may be where this one was,
    /// and have its name, but not this.
    #[cfg(all(
        feature = "status-page",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    pub(crate) fn entry(&self) -> u64 {
        self.origin.id
    }

    /// Whether it is a `static`, or shared.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.origin.kind
    }

    /// Where it was declared, or made.
    #[must_use]
    pub fn place(&self) -> Place {
        self.origin.place
    }
}

impl Deref for Found {
    type Target = dyn AnyBreaker;

    fn deref(&self) -> &Self::Target {
        &*self.breaker
    }
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

/// Breakers by key of the registry: see [`find_keyed`](super::find_keyed) and
/// [`all`](super::all()). Keeps shared ones alive.
///
/// [`force_open`](Self::force_open) and the other orders are for all keys that are kept
/// now. One that is seen only later starts as it always does: closed.
///
/// ```
/// use breakerbox::{Config, KeyedBreakers, State};
///
/// let hosts = KeyedBreakers::<String>::shared("all-hosts", Config::DEFAULT, 100)?;
/// let (a, b) = (hosts.get("a.example"), hosts.get("b.example"));
/// let found = breakerbox::find_keyed("all-hosts").unwrap();
/// assert_eq!(found.force_open(), 2);
/// assert_eq!((a.state(), b.state()), (State::ForcedOpen, State::ForcedOpen));
/// assert_eq!(hosts.get("c.example").state(), State::Closed);
/// # Ok::<(), breakerbox::ConfigError>(())
/// ```
pub struct FoundKeyed {
    keyed: Held<dyn AnyKeyed>,
    origin: Origin,
}

impl FoundKeyed {
    pub(super) fn new(keyed: Held<dyn AnyKeyed>, origin: Origin) -> Self {
        Self { keyed, origin }
    }

    pub(super) fn keyed(&self) -> &dyn AnyKeyed {
        &*self.keyed
    }

    /// The name, without a key.
    #[must_use]
    pub fn name(&self) -> &str {
        self.keyed.name()
    }

    /// Whether they are a `static`, or shared.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.origin.kind
    }

    /// Where they were declared, or made.
    #[must_use]
    pub fn place(&self) -> Place {
        self.origin.place
    }

    /// See [`KeyedBreakers::config`](crate::KeyedBreakers::config).
    #[must_use]
    pub fn config(&self) -> Config {
        self.keyed.config()
    }

    /// See [`KeyedBreakers::declared`](crate::KeyedBreakers::declared).
    #[must_use]
    pub fn declared(&self) -> &Config {
        self.keyed.declared()
    }

    /// See [`KeyedBreakers::overrides`](crate::KeyedBreakers::overrides).
    pub fn overrides(&self) -> Overrides {
        self.keyed.overrides()
    }

    /// See [`KeyedBreakers::reconfigure`](crate::KeyedBreakers::reconfigure).
    ///
    /// # Errors
    /// [`ReconfigureError`]: nothing has changed.
    pub fn reconfigure(&self, overrides: &Overrides) -> Result<Reconfiguration, ReconfigureError> {
        self.keyed.reconfigure(overrides)
    }

    /// See [`KeyedBreakers::clear_overrides`](crate::KeyedBreakers::clear_overrides).
    pub fn clear_overrides(&self) -> Option<Reconfiguration> {
        self.keyed.clear_overrides()
    }

    /// How many keys are kept at most.
    #[must_use]
    pub fn max_keys(&self) -> usize {
        self.keyed.max_keys()
    }

    /// How many keys are kept now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keyed.len()
    }

    /// Whether no key is kept now.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The breakers of all keys that are kept now, in no order.
    #[must_use]
    pub fn breakers(&self) -> Vec<Found> {
        let breakers = self.keyed.any_breakers();
        breakers.into_iter().map(|key| self.found(key)).collect()
    }

    /// The breaker of the key with this label; of one of them, if several keys
    /// have it.
    #[must_use]
    pub fn find(&self, label: &str) -> Option<Found> {
        let breaker = self.keyed.find(label)?;
        Some(self.found(breaker))
    }

    fn found(&self, breaker: Arc<dyn AnyBreaker>) -> Found {
        Found::new(Held::Shared(breaker), self.origin)
    }
}

/// For all keys that are kept now. Each says how many they are.
impl FoundKeyed {
    /// See [`Breaker::close`](crate::Breaker::close).
    pub fn close(&self) -> usize {
        self.each(|breaker| breaker.close())
    }

    /// See [`Breaker::clear`](crate::Breaker::clear). The configuration is again what was
    /// declared, also for keys to come.
    pub fn clear(&self) -> usize {
        self.clear_overrides();
        self.each(|breaker| breaker.clear())
    }

    /// See [`Breaker::force_open`](crate::Breaker::force_open).
    pub fn force_open(&self) -> usize {
        self.each(|breaker| breaker.force_open())
    }

    /// See [`Breaker::disable`](crate::Breaker::disable).
    pub fn disable(&self) -> usize {
        self.each(|breaker| breaker.disable())
    }

    /// See [`Breaker::shadow`](crate::Breaker::shadow).
    pub fn shadow(&self) -> usize {
        self.each(|breaker| breaker.shadow())
    }

    /// See [`Breaker::open_for`](crate::Breaker::open_for).
    pub fn open_for(&self, wait: Duration) -> usize {
        self.each(|breaker| breaker.open_for(wait))
    }

    fn each<R>(&self, order: impl Fn(&dyn AnyBreaker) -> R) -> usize {
        let breakers = self.keyed.any_breakers();
        for breaker in &breakers {
            order(&**breaker);
        }
        breakers.len()
    }
}

impl fmt::Debug for FoundKeyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoundKeyed")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
