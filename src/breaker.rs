//! A breaker: a circuit with a name and a clock.

#[cfg(all(
    feature = "std",
    any(
        feature = "js",
        not(all(target_family = "wasm", target_os = "unknown"))
    )
))]
mod by_default;

use crate::bound::{Bound, Given};
use crate::clock::DefaultClock;
use crate::error::{CallError, CircuitOpenError};
use crate::name::Name;
use crate::permit::{Permit, admit};
use breaker_core::{
    Change, Circuit, Clock, Config, ConfigError, Consecutive, Generation, Overrides, Policy,
    RateConfig, Reconfiguration, ReconfigureError, Sliding, Snapshot, SnapshotError, State,
};
use core::fmt;
use core::time::Duration;

/// A circuit breaker, bound to a clock.
///
/// | made by | for | found by [`find`](crate::find) |
/// | --- | --- | --- |
/// | [`#[circuit_breaker]`](crate::circuit_breaker) | one function | from its first call |
/// | [`breaker!`](crate::breaker) | several functions | from its first call |
/// | [`Breaker::declared_with_clock`] | a `static` with a clock of one's own | from its first call |
/// | [`Breaker::shared`] | one client object | until it is dropped |
/// | [`Breaker::new`], [`Breaker::with_clock`] | a breaker by hand | never |
///
/// ```
/// use breakerbox::{Breaker, CallError, Settings, State};
///
/// static PMS: Breaker = Breaker::new("pms", Settings::new().threshold(1).must());
///
/// let failed = PMS.call_sync(|| Err::<(), _>("no answer"));
/// assert_eq!(failed, Err(CallError::Call("no answer")));
/// assert_eq!(PMS.state(), State::Open);
/// let refused = PMS.call_sync(|| Ok::<_, &str>("never run"));
/// assert!(matches!(refused, Err(CallError::Open(_))));
/// ```
pub struct Breaker<C = DefaultClock, P = Consecutive>
where
    C: 'static,
    P: 'static,
{
    circuit: Circuit<P>,
    clock: C,
    name: Name,
    #[cfg(feature = "std")]
    noted: crate::last_change::Noted,
    #[cfg(feature = "std")]
    listing: crate::registry::Listing<Self>,
    #[cfg(feature = "std")]
    link: crate::link::Slot,
    #[cfg(feature = "test-util")]
    id: std::sync::OnceLock<u64>,
}

impl<C> Breaker<C> {
    /// A breaker by hand, with a clock of one's own. It does not enter the
    /// registry: [`find`](crate::find) does not know it.
    #[must_use]
    pub const fn with_clock(name: &'static str, config: Config, clock: C) -> Self {
        Self::unlisted(name, Circuit::new(config), clock)
    }
}

impl<C, const SLOTS: usize> Breaker<C, Sliding<SLOTS>> {
    /// A breaker by hand that trips by rate, with a clock of one's own. It does
    /// not enter the registry: [`find`](crate::find) does not know it.
    ///
    /// # Errors
    /// [`ConfigError::TooFewSlots`] where the window needs more than `SLOTS`
    /// slots.
    pub const fn by_rate_with_clock(
        name: &'static str,
        config: RateConfig,
        clock: C,
    ) -> Result<Self, ConfigError>
    where
        C: Copy,
    {
        match Circuit::by_rate(config) {
            Err(error) => Err(error),
            Ok(circuit) => Ok(Self::unlisted(name, circuit, clock)),
        }
    }

    /// [`by_rate_with_clock`](Self::by_rate_with_clock), for `static`s.
    ///
    /// # Panics
    /// If the window needs more than `SLOTS` slots.
    #[cfg(not(all(
        feature = "std",
        any(
            feature = "js",
            not(all(target_family = "wasm", target_os = "unknown"))
        )
    )))]
    pub(crate) const fn must_by_rate(name: &'static str, config: RateConfig, clock: C) -> Self
    where
        C: Copy,
    {
        match Circuit::by_rate(config) {
            Err(error) => panic!("{}", error.message()),
            Ok(circuit) => Self::unlisted(name, circuit, clock),
        }
    }
}

#[cfg(feature = "std")]
impl<C> Breaker<C> {
    /// A `static` by hand, with a clock of one's own, that enters the registry
    /// at its first call, as those of [`breaker!`](crate::breaker) do. `place`
    /// gives the static itself.
    ///
    /// ```
    /// use breakerbox::{Breaker, Config, ExactClock};
    ///
    /// static PMS: Breaker<ExactClock> =
    ///     Breaker::declared_with_clock("exact-pms", Config::DEFAULT, ExactClock, || &PMS);
    /// assert!(PMS.admit().is_ok());
    /// assert!(breakerbox::find("exact-pms").is_some());
    /// ```
    #[must_use]
    #[track_caller]
    pub const fn declared_with_clock(
        name: &'static str,
        config: Config,
        clock: C,
        place: fn() -> &'static Self,
    ) -> Self {
        let declared = std::panic::Location::caller();
        let (file, line) = (declared.file(), declared.line());
        let declaration = crate::registry::Declaration { place, file, line };
        let listing = crate::registry::Listing::declared(declaration);
        Self::listed(Circuit::new(config), clock, Name::Static(name), listing)
    }
}

#[cfg(feature = "std")]
impl<C, P> Breaker<C, P> {
    const fn listed(
        circuit: Circuit<P>,
        clock: C,
        name: Name,
        listing: crate::registry::Listing<Self>,
    ) -> Self {
        Self {
            circuit,
            clock,
            name,
            noted: crate::last_change::Noted::new(),
            listing,
            link: crate::link::Slot::empty(),
            #[cfg(feature = "test-util")]
            id: std::sync::OnceLock::new(),
        }
    }

    const fn unlisted(name: &'static str, circuit: Circuit<P>, clock: C) -> Self {
        Self::unlisted_named(Name::Static(name), circuit, clock)
    }

    pub(crate) const fn unlisted_named(name: Name, circuit: Circuit<P>, clock: C) -> Self {
        let listing = crate::registry::Listing::unlisted();
        Self::listed(circuit, clock, name, listing)
    }
}

#[cfg(not(feature = "std"))]
impl<C, P> Breaker<C, P> {
    const fn unlisted(name: &'static str, circuit: Circuit<P>, clock: C) -> Self {
        Self {
            circuit,
            clock,
            name: Name::Static(name),
        }
    }
}

#[cfg(feature = "std")]
impl<C, P> Breaker<C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    #[track_caller]
    fn share(name: String, circuit: Circuit<P>, clock: C) -> std::sync::Arc<Self> {
        let listing = crate::registry::Listing::shared();
        let breaker = Self::listed(circuit, clock, Name::from(name), listing);
        let breaker = std::sync::Arc::new(breaker);
        crate::registry::enter_shared(&breaker);
        breaker
    }
}

#[cfg(feature = "std")]
impl<C: Clock + Send + Sync + 'static> Breaker<C> {
    /// [`Breaker::shared`] with a clock of one's own.
    ///
    /// ```
    /// use breakerbox::{Breaker, Config, ExactClock};
    ///
    /// let pms = Breaker::shared_with_clock("pms", Config::DEFAULT, ExactClock);
    /// assert!(pms.admit().is_ok());
    /// ```
    #[must_use]
    #[track_caller]
    pub fn shared_with_clock(
        name: impl Into<String>,
        config: Config,
        clock: C,
    ) -> std::sync::Arc<Self> {
        Self::share(name.into(), Circuit::new(config), clock)
    }
}

// For callers
impl<C, P> Breaker<C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    /// Asks whether a call may be made now: the two-step form. The permit
    /// settles the call, also when it is just dropped.
    ///
    /// ```
    /// use breakerbox::{Breaker, Config, Effect};
    ///
    /// let pms = Breaker::new("pms", Config::DEFAULT);
    /// let permit = pms.admit()?;
    /// // .. the call ..
    /// assert_eq!(permit.success(), Effect::Counted);
    /// # Ok::<(), breakerbox::CircuitOpenError>(())
    /// ```
    ///
    /// # Errors
    /// [`CircuitOpenError`]: the call must not be made.
    #[inline]
    pub fn admit(&self) -> Result<Permit<&Self>, CircuitOpenError> {
        admit(self, Given::NONE)
    }

    /// [`admit`](Self::admit) at an explicit time, in nanoseconds since the
    /// origin of the breaker's clock, which is then not read. The permit settles
    /// at that time too, unless [`Permit::settle_at`] says otherwise.
    ///
    /// # Errors
    /// [`CircuitOpenError`]: the call must not be made.
    pub fn admit_at(&self, now: u64) -> Result<Permit<&Self>, CircuitOpenError> {
        admit(self, Given::at(now))
    }

    /// [`admit`](Self::admit) where the permit outlives the caller: it keeps the
    /// breaker. (That of a `static` may be kept anyway: `&'static Breaker` gives a
    /// `Permit<&'static Breaker>`.)
    ///
    /// ```
    /// use breakerbox::{Breaker, Config, OwnedPermit};
    /// use std::sync::Arc;
    ///
    /// /// A body that is read long after its head.
    /// struct Body {
    ///     permit: OwnedPermit<Arc<Breaker>>,
    /// }
    ///
    /// let pms = Breaker::shared("pms-of-bodies", Config::DEFAULT);
    /// let body = Body { permit: pms.admit_owned()? };
    /// drop(pms);
    /// std::thread::spawn(move || body.permit.success()).join().unwrap();
    /// # Ok::<(), breakerbox::CircuitOpenError>(())
    /// ```
    ///
    /// # Errors
    /// [`CircuitOpenError`]: the call must not be made.
    #[cfg(feature = "std")]
    #[inline]
    pub fn admit_owned(
        self: &std::sync::Arc<Self>,
    ) -> Result<crate::OwnedPermit<std::sync::Arc<Self>>, CircuitOpenError> {
        crate::permit::admit_owned(std::sync::Arc::clone(self))
    }

    /// Guards a plain call. Every `Err` counts as a failure; to choose, see
    /// [`Breaker::classify`]. A panic counts as a failure and goes on.
    ///
    /// # Errors
    /// [`CallError::Call`] with the call's own error, [`CallError::Open`] if it
    /// was refused and not made.
    #[inline]
    pub fn call_sync<T, E>(&self, call: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>> {
        self.every_err().call_sync(call)
    }
}

// For operators
impl<C, P> Breaker<C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    /// The name in errors, events and the registry. A generated breaker's is
    /// final from its first call on.
    #[must_use]
    pub fn name(&self) -> &str {
        self.label().as_str()
    }

    /// The state. Reading it changes nothing: a breaker whose wait is over is
    /// open until a call asks.
    #[must_use]
    pub fn state(&self) -> State {
        Bound::new(self).lent().circuit().state()
    }

    /// The number of the last entry into a state.
    #[must_use]
    pub fn generation(&self) -> Generation {
        Bound::new(self).lent().circuit().generation()
    }

    /// The configuration that holds now: the declared one, or what
    /// [`reconfigure`](Self::reconfigure) made of it.
    #[must_use]
    pub fn config(&self) -> Config {
        Bound::new(self).config()
    }

    /// The configuration that was declared.
    #[must_use]
    pub fn declared(&self) -> &Config {
        self.circuit.declared()
    }

    /// What lies over the declared configuration.
    pub fn overrides(&self) -> Overrides {
        Bound::new(self).overrides()
    }

    /// Lays settings over the declared ones, instead of those that lay there before: all of
    /// them, or, on an error, none. What isn't set is as declared; to keep what lies there, lay
    /// the new ones [over](Overrides::over) the present [`overrides`](Self::overrides).
    ///
    /// State, generation and counts stay, and nothing opens or closes by it: it holds from the
    /// next event on. A lowered `threshold` trips at the next counted failure. What is left of
    /// an opening is measured by the new `reset` as well; a wait that was set by an overload or
    /// by [`open_for`](Self::open_for) stays as it is. Calls on a closed breaker cost what they
    /// did. Inside a test scope it is the scope's, and gone with it.
    ///
    /// ```
    /// use breakerbox::{Breaker, Config, Overrides, ReconfigureError};
    /// use std::time::Duration;
    ///
    /// static PMS: Breaker = Breaker::new("pms", Config::DEFAULT);
    ///
    /// PMS.reconfigure(&Overrides::new().threshold(20))?;
    /// assert_eq!(PMS.config().threshold(), 20);
    ///
    /// let too = Overrides::new().reset(Duration::from_secs(5)).over(PMS.overrides());
    /// PMS.reconfigure(&too)?;
    /// assert_eq!(PMS.config().threshold(), 20);
    ///
    /// let refused = PMS.reconfigure(&Overrides::new().failure_rate(0.5)).unwrap_err();
    /// assert_eq!(
    ///     refused.to_string(),
    ///     "`failure_rate` is for a breaker that trips by rate, and this one counts failures in a \
    ///      row: set `threshold`, or declare it with `failure_rate`"
    /// );
    /// assert_eq!(PMS.overrides(), too);
    ///
    /// PMS.clear_overrides();
    /// assert_eq!(PMS.config(), *PMS.declared());
    /// # Ok::<(), ReconfigureError>(())
    /// ```
    ///
    /// # Errors
    /// [`ReconfigureError`], which says what to set instead. Nothing has changed.
    pub fn reconfigure(&self, overrides: &Overrides) -> Result<Reconfiguration, ReconfigureError> {
        Bound::new(self).reconfigure(overrides)
    }

    /// The configuration is again what was declared; the state stays as it is. `None`: nothing
    /// lay over it.
    pub fn clear_overrides(&self) -> Option<Reconfiguration> {
        Bound::new(self).clear_overrides()
    }

    /// The state, to be restored in another process or run.
    ///
    /// ```
    /// use breakerbox::{Breaker, Config, State};
    ///
    /// let before = Breaker::new("pms", Config::DEFAULT);
    /// before.open_for(std::time::Duration::from_secs(60));
    /// let snapshot = before.snapshot();
    ///
    /// let after = Breaker::new("pms", Config::DEFAULT);
    /// after.restore(&snapshot)?;
    /// assert_eq!(after.state(), State::Open);
    /// # Ok::<(), breakerbox::SnapshotError>(())
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Bound::new(self).snapshot()
    }

    /// Takes over the state of a snapshot; calls in flight are late.
    ///
    /// # Errors
    /// [`SnapshotError`] for nonsense; the breaker stays as it was.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<Change, SnapshotError> {
        Bound::new(self).restore(snapshot)
    }

    /// Closes the breaker; counters and backoff are forgotten.
    pub fn close(&self) -> Change {
        Bound::new(self).operate(|circuit, clock| circuit.close(clock))
    }

    /// [`close`](Self::close), and the configuration is again what was
    /// declared.
    pub fn clear(&self) -> Change {
        Bound::new(self).clear()
    }

    /// Refuses every call until another operator call.
    pub fn force_open(&self) -> Change {
        Bound::new(self).operate(|circuit, clock| circuit.force_open(clock))
    }

    /// Admits every call and records nothing until another operator call.
    pub fn disable(&self) -> Change {
        Bound::new(self).operate(|circuit, clock| circuit.disable(clock))
    }

    /// Admits every call and reports what the breaker would have done, until
    /// another operator call: for rolling a breaker out.
    pub fn shadow(&self) -> Change {
        Bound::new(self).operate(|circuit, clock| circuit.shadow(clock))
    }

    /// Opens for `wait`, without jitter, backoff or cap. Exact to 10 us up to
    /// 83 s, to 1 ms up to 9.3 h, and coarser above; rounded up.
    pub fn open_for(&self, wait: Duration) -> Change {
        Bound::new(self).operate(|circuit, clock| circuit.open_for(wait, clock))
    }

    /// Shares the circuit with other processes through `link`, from now on and for ever: see
    /// [`link`](crate::link). A closed breaker's calls cost what they did. A declared breaker enters
    /// the registry, as at its first call.
    ///
    /// # Errors
    /// [`AlreadyLinked`](crate::link::AlreadyLinked): it has one, and keeps it.
    #[cfg(feature = "std")]
    pub fn link(
        &self,
        link: std::sync::Arc<dyn crate::link::Link>,
    ) -> Result<(), crate::link::AlreadyLinked> {
        crate::registry::enter(self);
        self.link.fill(link)
    }
}

// For the rest of the crate
impl<C, P> Breaker<C, P> {
    pub(crate) fn own_circuit(&self) -> &Circuit<P> {
        &self.circuit
    }

    pub(crate) fn own_clock(&self) -> &C {
        &self.clock
    }

    #[cfg(feature = "std")]
    pub(crate) fn noted(&self) -> &crate::last_change::Noted {
        &self.noted
    }

    #[cfg(feature = "std")]
    pub(crate) fn link_slot(&self) -> &crate::link::Slot {
        &self.link
    }

    #[cfg(feature = "std")]
    pub(crate) fn declared_name(&self) -> &Name {
        &self.name
    }

    #[inline]
    pub(crate) fn label(&self) -> &Name {
        #[cfg(feature = "std")]
        if let Some(name) = self.listing.name() {
            return name;
        }
        &self.name
    }

    /// A number of the breaker's own, by which test scopes know it.
    #[cfg(feature = "test-util")]
    pub(crate) fn id(&self) -> u64 {
        *self.id.get_or_init(crate::registry::next_id)
    }

    #[cfg(feature = "std")]
    pub(crate) fn listing(&self) -> &crate::registry::Listing<Self> {
        &self.listing
    }
}

#[cfg(feature = "std")]
impl<C, P> Drop for Breaker<C, P> {
    fn drop(&mut self) {
        self.listing.leave();
    }
}

impl<C, P: Policy> fmt::Debug for Breaker<C, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker")
            .field("name", self.label())
            .field("circuit", &self.circuit)
            .finish_non_exhaustive()
    }
}
