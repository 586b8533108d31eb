//! Breakers by key whose circuits are the fleet's.

use crate::kept::KeptKeyed;
use crate::membership::Membership;
use crate::sharing::{Sharing, SharingError};
use breakerbox::{
    Config, ConfigError, DefaultClock, KeyedBreakers, KeyedGuard, RateConfig, Sliding, SystemClock,
};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// One breaker per key, each of whose circuits a fleet shares: [`KeyedBreakers`] (to which it
/// dereferences) and how they are shared.
///
/// A key is the same for the fleet where its [label](breakerbox::Key::label) is. Where two keys of one
/// process that differ have the same label, the one that comes first is shared, and the other is a plain
/// local one for as long as that is kept: they would speak for each other.
/// [`FleetStatus::namesakes`](crate::FleetStatus::namesakes) counts those.
///
/// For [`find_keyed`](breakerbox::find_keyed()),
/// and so for operators, make them by [`declared`](Self::declared) or
/// [`shared`](FleetKeyedBreakers::shared). What instances share of a key that one
/// of them has given up is known to the others, and told to it when it has the key again.
///
/// ```
/// use breaker_redis::{Fleet, FleetKeyedBreakers, Sharing};
/// use breakerbox::{circuit_breaker, CallError, KeyedBreakers, Settings};
///
/// static HOSTS: FleetKeyedBreakers = FleetKeyedBreakers::of(
///     KeyedBreakers::new("hosts", Settings::new().threshold(5).must()).max_keys(1_000),
///     Sharing::new(),
/// );
///
/// #[circuit_breaker(breaker = HOSTS, key = host)]
/// fn status(host: &str) -> Result<u16, CallError<&'static str>> {
///     if host == "a.example" { Ok(200) } else { Err(CallError::Call("no answer")) }
/// }
///
/// # fn main() -> Result<(), breaker_redis::FleetError> {
/// let fleet = Fleet::builder("redis://127.0.0.1:6379").start()?;
/// fleet.share_keyed(&HOSTS)?;
/// assert_eq!(status("a.example"), Ok(200));
/// assert_eq!(status("b.example"), Err(CallError::Call("no answer")));
/// # Ok(())
/// # }
/// ```
pub struct FleetKeyedBreakers<B = KeyedBreakers<String>> {
    breakers: B,
    sharing: Sharing,
    pub(crate) membership: Membership,
}

/// Those for a client object: see [`FleetKeyedBreakers::shared`].
pub type SharedFleetKeyedBreakers<O, C = DefaultClock, P = breakerbox::Consecutive> =
    FleetKeyedBreakers<Arc<KeyedBreakers<O, C, P>>>;

impl<O> FleetKeyedBreakers<KeyedBreakers<O>> {
    /// Breakers by hand, also for a `static`. They do not enter the registry:
    /// [`find`](breakerbox::find) does not know them.
    ///
    /// # Panics
    /// If the options can't work: see [`Sharing::check`]. In a `static` that is an error of the
    /// compiler.
    #[must_use]
    #[track_caller]
    pub const fn new(name: &'static str, config: Config, sharing: Sharing) -> Self {
        sharing.must(&config);
        FleetKeyedBreakers::of(KeyedBreakers::new(name, config), sharing)
    }

    /// A `static` that enters the registry at its first call, or when it is shared. `place` gives the static itself.
    ///
    /// ```
    /// use breaker_redis::{FleetKeyedBreakers, Sharing};
    /// use breakerbox::{Config, KeyedBreakers, SystemClock};
    ///
    /// static HOSTS: FleetKeyedBreakers =
    ///     FleetKeyedBreakers::declared("hosts", Config::DEFAULT, Sharing::new(), || &HOSTS);
    /// assert!(HOSTS.get("a.example").admit().is_ok());
    /// assert!(breakerbox::find("hosts[a.example]").is_some());
    ///
    /// // With another number of keys:
    /// static ACCOUNTS: FleetKeyedBreakers<KeyedBreakers<u64>> = FleetKeyedBreakers::of(
    ///     KeyedBreakers::declared_with_clock("accounts", Config::DEFAULT, SystemClock, || &ACCOUNTS)
    ///         .max_keys(1_000),
    ///     Sharing::new(),
    /// );
    /// assert!(ACCOUNTS.get(&7_u64).admit().is_ok());
    /// assert!(breakerbox::find("accounts[7]").is_some());
    /// ```
    ///
    /// # Panics
    /// If the options can't work: see [`Sharing::check`]. In a `static` that is an error of the
    /// compiler.
    #[must_use]
    #[track_caller]
    pub const fn declared(
        name: &'static str,
        config: Config,
        sharing: Sharing,
        place: fn() -> &'static KeyedBreakers<O>,
    ) -> Self {
        sharing.must(&config);
        let breakers = KeyedBreakers::declared_with_clock(name, config, SystemClock, place);
        FleetKeyedBreakers::of(breakers, sharing)
    }
}

impl<O: Send + Sync> FleetKeyedBreakers<KeyedBreakers<O>> {
    /// Breakers for one client object: in the registry, as `name[key]`, until the last `Arc` is
    /// dropped. A name that is already taken in this process gets the place of this call, `@file:line`: such
    /// breakers can't be shared ([`FleetError::Renamed`](crate::FleetError::Renamed)). `max_keys` is how many keys this process keeps at most: see
    /// [`KeyedBreakers::max_keys`].
    ///
    /// ```
    /// use breaker_redis::{FleetKeyedBreakers, SharedFleetKeyedBreakers, Sharing};
    /// use breakerbox::{CallError, Config, circuit_breaker};
    /// use std::sync::Arc;
    ///
    /// struct Client {
    ///     rooms: Arc<SharedFleetKeyedBreakers<(String, u64)>>,
    /// }
    ///
    /// impl Client {
    ///     #[circuit_breaker(breaker = self.rooms, key = (hotel, floor))]
    ///     fn rooms(&self, hotel: &str, floor: u64) -> Result<u32, CallError<std::io::Error>> {
    ///         Ok(7)
    ///     }
    /// }
    ///
    /// let rooms = FleetKeyedBreakers::shared("rooms-of-h1", Config::DEFAULT, 1_000, Sharing::new())?;
    /// let client = Client { rooms };
    /// assert_eq!(client.rooms("adlon", 2).unwrap(), 7);
    /// assert!(breakerbox::find("rooms-of-h1[adlon/2]").is_some());
    /// # Ok::<(), breaker_redis::SharedKeyedError>(())
    /// ```
    ///
    /// # Errors
    /// [`SharedKeyedError`], which says what to set instead.
    #[track_caller]
    pub fn shared(
        name: impl Into<String>,
        config: Config,
        max_keys: u32,
        sharing: Sharing,
    ) -> Result<Arc<SharedFleetKeyedBreakers<O>>, SharedKeyedError> {
        sharing.check(&config)?;
        let breakers = KeyedBreakers::shared(name, config, max_keys)?;
        Ok(Arc::new(FleetKeyedBreakers::of(breakers, sharing)))
    }
}

impl<O, const SLOTS: usize> FleetKeyedBreakers<KeyedBreakers<O, DefaultClock, Sliding<SLOTS>>> {
    /// Breakers by hand that trip by rate. They do not enter the registry.
    ///
    /// # Errors
    /// [`ConfigError::TooFewSlots`] where the window needs more than `SLOTS` slots.
    ///
    /// # Panics
    /// If the options can't work: see [`Sharing::check`].
    pub fn by_rate(
        name: &'static str,
        config: RateConfig,
        sharing: Sharing,
    ) -> Result<Self, ConfigError> {
        sharing.must(config.config());
        Ok(FleetKeyedBreakers::of(
            KeyedBreakers::by_rate(name, config)?,
            sharing,
        ))
    }
}

/// Why breakers by key can't be made: [`FleetKeyedBreakers::shared`].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SharedKeyedError {
    /// The breakers' own settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// How they are shared.
    #[error(transparent)]
    Sharing(#[from] SharingError),
}

impl FleetKeyedBreakers {
    /// Breakers that are made already, as they are, by reference or in an `Arc`.
    ///
    /// Whether their leases can work with the breakers' settings is looked at when they are
    /// [shared](crate::Fleet::share_keyed).
    ///
    /// # Panics
    /// If the options can't work, whatever the breakers: see [`Sharing::check`]. In a `static` that is
    /// an error of the compiler. For options that are read at run time there is
    /// [`try_of`](Self::try_of).
    #[must_use]
    #[track_caller]
    pub const fn of<B>(breakers: B, sharing: Sharing) -> B::Fleet
    where
        B: KeptKeyed<Fleet = FleetKeyedBreakers<B>>,
    {
        sharing.must_by_itself();
        FleetKeyedBreakers::made(breakers, sharing)
    }

    /// [`of`](Self::of) with options that are read at run time.
    ///
    /// # Errors
    /// [`SharingError`], which says what to set instead.
    pub fn try_of<B>(breakers: B, sharing: Sharing) -> Result<B::Fleet, SharingError>
    where
        B: KeptKeyed<Fleet = FleetKeyedBreakers<B>>,
    {
        sharing.check_by_itself()?;
        Ok(FleetKeyedBreakers::made(breakers, sharing))
    }
}

impl<B> FleetKeyedBreakers<B> {
    const fn made(breakers: B, sharing: Sharing) -> Self {
        Self {
            breakers,
            sharing,
            membership: Membership::none(),
        }
    }

    /// How they are shared.
    #[must_use]
    pub const fn sharing(&self) -> &Sharing {
        &self.sharing
    }
}

impl<O, C, P> Deref for FleetKeyedBreakers<KeyedBreakers<O, C, P>> {
    type Target = KeyedBreakers<O, C, P>;

    #[inline]
    fn deref(&self) -> &KeyedBreakers<O, C, P> {
        &self.breakers
    }
}

impl<O, C, P> Deref for FleetKeyedBreakers<&KeyedBreakers<O, C, P>> {
    type Target = KeyedBreakers<O, C, P>;

    #[inline]
    fn deref(&self) -> &KeyedBreakers<O, C, P> {
        self.breakers
    }
}

impl<O, C, P> Deref for FleetKeyedBreakers<Arc<KeyedBreakers<O, C, P>>> {
    type Target = KeyedBreakers<O, C, P>;

    #[inline]
    fn deref(&self) -> &KeyedBreakers<O, C, P> {
        &self.breakers
    }
}

/// What can stand in `breaker = ..` beside `key` as such can also as the fleet's.
impl<B: KeyedGuard> KeyedGuard for FleetKeyedBreakers<B> {
    type Key = B::Key;
    type Clock = B::Clock;
    type Policy = B::Policy;

    #[inline]
    fn breakers(&self) -> &KeyedBreakers<B::Key, B::Clock, B::Policy> {
        self.breakers.breakers()
    }
}

impl<B> fmt::Debug for FleetKeyedBreakers<B>
where
    B: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetKeyedBreakers")
            .field("breakers", &self.breakers)
            .field("sharing", &self.sharing)
            .finish_non_exhaustive()
    }
}
