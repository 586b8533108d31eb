//! A breaker whose circuit is the fleet's.

use crate::kept::Kept;
use crate::membership::Membership;
use crate::sharing::{Sharing, SharingError};
use breakerbox::{
    Breaker, Config, ConfigError, DefaultClock, Guard, RateConfig, Sliding, SystemClock,
};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A breaker whose circuit a fleet shares: a [`Breaker`] (to which it dereferences) and how it is
/// shared.
///
/// Until it is given to a [`Fleet`](crate::Fleet), and whenever Redis can't be had, it is a plain
/// breaker. Its calls cost what those of a plain breaker do: they read what is known here.
///
/// | made by | for | found by [`find`](breakerbox::find) |
/// | --- | --- | --- |
/// | [`FleetBreaker::of`]`(&PMS, ..)` | a breaker of [`breaker!`](breakerbox::breaker), with the attribute's own words | as that one |
/// | [`FleetBreaker::declared`] | a `static` | from its first call, or from when it is shared |
/// | [`FleetBreaker::new`] | a `static`, by hand | never |
/// | [`FleetBreaker::shared`] | one client object | until it is dropped |
///
/// The type of one says what it keeps the breaker by, for a `static` above all, where it has to be written:
///
/// | type | of |
/// | --- | --- |
/// | `FleetBreaker` | `FleetBreaker::of(&PMS, ..)` |
/// | `FleetBreaker<Breaker>` | [`FleetBreaker::new`], [`FleetBreaker::declared`] |
/// | [`SharedFleetBreaker`] | [`FleetBreaker::shared`], in an `Arc` |
/// | [`RateFleetBreaker<8>`](RateFleetBreaker) | `FleetBreaker::of(&PMS, ..)` of a breaker that trips by rate |
/// | `SharedFleetBreaker<DefaultClock, Sliding<8>>` | the same of [`Breaker::shared_by_rate`] |
///
/// The name is what instances share the circuit by: all of them declare the same, and no two breakers
/// of one program have the same.
///
/// ```
/// use breaker_redis::{Fleet, FleetBreaker, Sharing};
/// use breakerbox::{breaker, circuit_breaker, CircuitOpenError};
///
/// breaker! { static PMS = { name: "pms", threshold: 5, reset: "30s" } }
/// static PMS_FLEET: FleetBreaker = FleetBreaker::of(&PMS, Sharing::new());
///
/// #[derive(Debug)]
/// enum PmsError { Down, Refused }
/// impl From<CircuitOpenError> for PmsError {
///     fn from(_: CircuitOpenError) -> Self { Self::Refused }
/// }
///
/// fn cached(_: &str) -> Option<Result<u32, PmsError>> { Some(Ok(7)) }
///
/// #[circuit_breaker(breaker = PMS_FLEET, classify = |e: &PmsError| matches!(e, PmsError::Down), fallback = cached)]
/// fn rooms(hotel: &str) -> Result<u32, PmsError> {
///     if hotel == "Ritz" { Ok(12) } else { Err(PmsError::Down) }
/// }
///
/// # fn main() -> Result<(), breaker_redis::FleetError> {
/// // Starts at once, also while Redis can't be reached.
/// let fleet = Fleet::builder("redis://127.0.0.1:6379").start()?;
/// fleet.share(&PMS_FLEET)?;
/// assert_eq!(rooms("Ritz").unwrap(), 12);
/// assert_eq!(rooms("Adlon").unwrap(), 7);
/// # Ok(())
/// # }
/// ```
pub struct FleetBreaker<B = &'static Breaker> {
    breaker: B,
    sharing: Sharing,
    pub(crate) membership: Membership,
}

/// One for a client object: see [`FleetBreaker::shared`].
pub type SharedFleetBreaker<C = DefaultClock, P = breakerbox::Consecutive> =
    FleetBreaker<Arc<Breaker<C, P>>>;

/// One that trips by rate, of [`breaker!`](breakerbox::breaker), whose window has so many slots: 8 for the
/// last 100 calls, 10 for a window of time (see [`Window::slots`](breakerbox::Window::slots)).
pub type RateFleetBreaker<const SLOTS: usize> =
    FleetBreaker<&'static Breaker<DefaultClock, Sliding<SLOTS>>>;

impl FleetBreaker<Breaker> {
    /// A `static` by hand. It does not enter the registry: [`find`](breakerbox::find) does not know
    /// it.
    ///
    /// # Panics
    /// If the options can't work: see [`Sharing::check`]. In a `static` that is an error of the
    /// compiler.
    #[must_use]
    #[track_caller]
    pub const fn new(name: &'static str, config: Config, sharing: Sharing) -> Self {
        sharing.must(&config);
        Self::made(Breaker::new(name, config), sharing)
    }

    /// A `static` that enters the registry at its first call, or when it is shared. `place` gives the
    /// static itself.
    ///
    /// ```
    /// use breaker_redis::{FleetBreaker, Sharing};
    /// use breakerbox::{Breaker, Config};
    ///
    /// static PMS: FleetBreaker<Breaker> =
    ///     FleetBreaker::declared("pms", Config::DEFAULT, Sharing::new(), || &PMS);
    /// assert!(PMS.admit().is_ok());
    /// assert!(breakerbox::find("pms").is_some());
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
        place: fn() -> &'static Breaker,
    ) -> Self {
        sharing.must(&config);
        let breaker = Breaker::declared_with_clock(name, config, SystemClock, place);
        Self::made(breaker, sharing)
    }

    /// A breaker for one client object, in the registry until the last `Arc` is dropped. A name that
    /// is already taken in this process gets the place of this call, `@file:line`: such a breaker can't be
    /// shared ([`FleetError::Renamed`](crate::FleetError::Renamed)), and works by itself.
    ///
    /// ```
    /// use breaker_redis::{FleetBreaker, SharedFleetBreaker, Sharing};
    /// use breakerbox::Config;
    /// use std::sync::Arc;
    ///
    /// struct Client {
    ///     breaker: Arc<SharedFleetBreaker>,
    /// }
    /// let breaker = FleetBreaker::shared("pms-of-h1", Config::DEFAULT, Sharing::new())?;
    /// let client = Client { breaker };
    /// assert!(client.breaker.admit().is_ok());
    /// # Ok::<(), breaker_redis::SharingError>(())
    /// ```
    ///
    /// # Errors
    /// [`SharingError`], which says what to set instead.
    #[track_caller]
    pub fn shared(
        name: impl Into<String>,
        config: Config,
        sharing: Sharing,
    ) -> Result<Arc<SharedFleetBreaker>, SharingError> {
        sharing.check(&config)?;
        Ok(Arc::new(FleetBreaker::made(
            Breaker::shared(name, config),
            sharing,
        )))
    }

    /// A breaker that is made already: that of [`breaker!`](breakerbox::breaker) by reference, one by
    /// hand as it is, or an `Arc`.
    ///
    /// Whether its lease can work with the breaker's settings is looked at when it is
    /// [shared](crate::Fleet::share).
    ///
    /// One that trips by rate has the slots of its window in its type:
    /// ```
    /// use breaker_redis::{FleetBreaker, RateFleetBreaker, Sharing};
    /// use breakerbox::breaker;
    ///
    /// // The last 100 calls need 8 slots, a window of time 10.
    /// breaker! { static PMS = { name: "pms-by-rate", failure_rate: 0.5, window: 100 } }
    /// static PMS_FLEET: RateFleetBreaker<8> = FleetBreaker::of(&PMS, Sharing::new().counting());
    /// assert!(PMS_FLEET.admit().is_ok());
    /// assert!(breakerbox::find("pms-by-rate").is_some());
    /// ```
    /// (Of another type the compiler says which it is: `found struct FleetBreaker<&Breaker<SystemClock, Sliding<8>>>`.)
    ///
    /// The same for a client object:
    /// ```
    /// use breaker_redis::{Fleet, FleetBreaker, SharedFleetBreaker, Sharing};
    /// use breakerbox::{Breaker, DefaultClock, Settings, Sliding, Window};
    ///
    /// struct Client {
    ///     breaker: SharedFleetBreaker<DefaultClock, Sliding<8>>,
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let settings = Settings::new().failure_rate(0.5).window(Window::calls(100)).min_calls(20);
    /// let breaker = Breaker::shared_by_rate("pms-of-h3", settings.build_rate()?)?;
    /// let client = Client { breaker: FleetBreaker::of(breaker, Sharing::new().counting()) };
    ///
    /// let fleet = Fleet::builder("redis://127.0.0.1:6379").start()?;
    /// fleet.share(&client.breaker)?;
    /// assert_eq!(client.breaker.call_sync(|| "7".parse::<u32>())?, 7);
    /// assert!(breakerbox::find("pms-of-h3").is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// If the options can't work, whatever the breaker: see [`Sharing::check`]. In a `static` that is an
    /// error of the compiler:
    /// ```compile_fail,E0080
    /// # use breaker_redis::{FleetBreaker, Sharing};
    /// # use breakerbox::breaker;
    /// breaker! { static PMS = { name: "pms" } }
    /// static PMS_FLEET: FleetBreaker = FleetBreaker::of(&PMS, Sharing::new().quorum(0));
    /// # assert!(PMS_FLEET.admit().is_ok());
    /// ```
    /// For options that are read at run time there is [`try_of`](Self::try_of).
    #[must_use]
    #[track_caller]
    pub const fn of<B>(breaker: B, sharing: Sharing) -> B::Fleet
    where
        B: Kept<Fleet = FleetBreaker<B>>,
    {
        sharing.must_by_itself();
        FleetBreaker::made(breaker, sharing)
    }

    /// [`of`](Self::of) with options that are read at run time.
    ///
    /// ```
    /// use breaker_redis::{FleetBreaker, Sharing, SharingError};
    /// use breakerbox::{Breaker, Config};
    ///
    /// let quorum: u32 = "0".parse().unwrap();
    /// let pms = Breaker::shared("pms-of-h2", Config::DEFAULT);
    /// let refused = FleetBreaker::try_of(pms, Sharing::new().quorum(quorum)).unwrap_err();
    /// assert_eq!(refused, SharingError::NoQuorum);
    /// ```
    ///
    /// # Errors
    /// [`SharingError`], which says what to set instead.
    pub fn try_of<B>(breaker: B, sharing: Sharing) -> Result<B::Fleet, SharingError>
    where
        B: Kept<Fleet = FleetBreaker<B>>,
    {
        sharing.check_by_itself()?;
        Ok(FleetBreaker::made(breaker, sharing))
    }
}

impl<const SLOTS: usize> FleetBreaker<Breaker<DefaultClock, Sliding<SLOTS>>> {
    /// [`new`](FleetBreaker::new) for a breaker that trips by rate. It does not enter the registry. For
    /// a `static` that does, or a client object, see [`of`](FleetBreaker::of).
    ///
    /// ```
    /// use breaker_redis::{FleetBreaker, Sharing};
    /// use breakerbox::{Breaker, DefaultClock, Settings, Sliding, Window};
    ///
    /// // The last 100 calls need 8 slots: see `Window::slots`.
    /// let settings = Settings::new().failure_rate(0.5).window(Window::calls(100)).min_calls(20);
    /// let config = settings.build_rate()?;
    /// let pms = FleetBreaker::<Breaker<DefaultClock, Sliding<8>>>::by_rate(
    ///     "pms",
    ///     config,
    ///     Sharing::new().counting(),
    /// )?;
    /// assert!(pms.admit().is_ok());
    /// # Ok::<(), breakerbox::ConfigError>(())
    /// ```
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
        Ok(Self::made(Breaker::by_rate(name, config)?, sharing))
    }
}

impl<B> FleetBreaker<B> {
    const fn made(breaker: B, sharing: Sharing) -> Self {
        Self {
            breaker,
            sharing,
            membership: Membership::none(),
        }
    }

    /// How it is shared.
    #[must_use]
    pub const fn sharing(&self) -> &Sharing {
        &self.sharing
    }

    pub(crate) const fn inner(&self) -> &B {
        &self.breaker
    }
}

impl<C, P> Deref for FleetBreaker<Breaker<C, P>> {
    type Target = Breaker<C, P>;

    #[inline]
    fn deref(&self) -> &Breaker<C, P> {
        &self.breaker
    }
}

impl<C, P> Deref for FleetBreaker<&Breaker<C, P>> {
    type Target = Breaker<C, P>;

    #[inline]
    fn deref(&self) -> &Breaker<C, P> {
        self.breaker
    }
}

impl<C, P> Deref for FleetBreaker<Arc<Breaker<C, P>>> {
    type Target = Breaker<C, P>;

    #[inline]
    fn deref(&self) -> &Breaker<C, P> {
        &self.breaker
    }
}

/// What can stand in `breaker = ..` as such can also as the fleet's.
impl<B: Guard> Guard for FleetBreaker<B> {
    type Subject<'a>
        = B::Subject<'a>
    where
        Self: 'a;

    #[inline]
    fn subject(&self) -> B::Subject<'_> {
        self.breaker.subject()
    }
}

impl<B> fmt::Debug for FleetBreaker<B>
where
    B: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetBreaker")
            .field("breaker", &self.breaker)
            .field("sharing", &self.sharing)
            .finish_non_exhaustive()
    }
}
