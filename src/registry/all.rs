//! Every breaker that is listed.

use super::book::here;
use super::found::{Found, FoundKeyed};
use super::origin::{Kind, Place};
use breaker_core::{Config, Overrides, Reconfiguration, ReconfigureError};

/// Every breaker of the process that is listed, sorted by name: those of
/// [`#[circuit_breaker]`](crate::circuit_breaker) and [`breaker!`](crate::breaker) from
/// their first call on, those of [`Breaker::shared`](crate::Breaker::shared) and
/// [`KeyedBreakers::shared`](crate::KeyedBreakers::shared) until they are dropped. One
/// made by hand never is.
///
/// What is in the list is kept alive by it. No call waits for it.
///
/// ```
/// use breakerbox::registry::{self, Kind, Registered};
/// use breakerbox::{CallError, Breaker, Config, State, circuit_breaker};
///
/// #[circuit_breaker(name = "pms", threshold = 1)]
/// fn rooms() -> Result<u32, CallError<&'static str>> {
///     Err(CallError::Call("no answer"))
/// }
/// #[circuit_breaker(name = "rates", key = host)]
/// fn rates(host: &str) -> Result<u32, CallError<&'static str>> {
///     Ok(7)
/// }
///
/// # let _scope = breakerbox::test::scope();
/// let _crs = Breaker::shared("crs", Config::DEFAULT);
/// let _ = (rooms(), rates("a.example"));
///
/// let all = registry::all();
/// let names: Vec<_> = all.iter().map(Registered::name).collect();
/// assert_eq!(names, ["crs", "pms", "rates"]);
/// for it in &all {
///     println!("{} ({}, {})", it.name(), it.kind(), it.place());
/// }
/// let open = all.iter().flat_map(Registered::breakers).filter(|it| it.state() == State::Open);
/// assert_eq!(open.count(), 1);
/// ```
///
/// Inside a test scope: those that were made in it or that a call used in it.
#[must_use]
pub fn all() -> Vec<Registered> {
    here().all()
}

/// A name of the registry: one breaker, or breakers by key.
#[derive(Debug)]
#[non_exhaustive]
pub enum Registered {
    /// A breaker.
    One(Found),
    /// Breakers by key.
    Keyed(FoundKeyed),
}

impl Registered {
    /// The name, without a key.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::One(breaker) => breaker.name(),
            Self::Keyed(keyed) => keyed.name(),
        }
    }

    /// Whether it is a `static`, or shared.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::One(breaker) => breaker.kind(),
            Self::Keyed(keyed) => keyed.kind(),
        }
    }

    /// Where it was declared, or made.
    #[must_use]
    pub fn place(&self) -> Place {
        match self {
            Self::One(breaker) => breaker.place(),
            Self::Keyed(keyed) => keyed.place(),
        }
    }

    pub(super) fn declared(&self) -> &Config {
        match self {
            Self::One(breaker) => breaker.declared(),
            Self::Keyed(keyed) => keyed.declared(),
        }
    }

    pub(super) fn overrides(&self) -> Overrides {
        match self {
            Self::One(breaker) => breaker.overrides(),
            Self::Keyed(keyed) => keyed.overrides(),
        }
    }

    /// Without telling the observers.
    pub(super) fn reconfigure_quietly(
        &self,
        overrides: &Overrides,
    ) -> Result<Reconfiguration, ReconfigureError> {
        match self {
            Self::One(breaker) => breaker.reconfigure_quietly(overrides),
            Self::Keyed(keyed) => keyed.keyed().reconfigure_quietly(overrides),
        }
    }

    pub(super) fn tell_reconfigured(&self, change: &Reconfiguration) {
        match self {
            Self::One(breaker) => breaker.tell_reconfigured(change),
            Self::Keyed(keyed) => keyed.keyed().tell_reconfigured(change),
        }
    }

    /// The breaker, or those of all keys that are kept now, in no order.
    #[must_use]
    pub fn breakers(&self) -> Vec<Found> {
        match self {
            Self::One(breaker) => vec![breaker.clone()],
            Self::Keyed(keyed) => keyed.breakers(),
        }
    }
}
