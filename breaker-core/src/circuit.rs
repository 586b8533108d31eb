//! A circuit: its two words, what its policy keeps, and its settings.

use crate::clock::{Clock, Reading};
use crate::config::{Config, RateConfig};
#[cfg(not(one_thread))]
use crate::config::{Overrides, Reconfiguration, ReconfigureError};
use crate::error::{ConfigError, Rejected, SnapshotError};
use crate::live::LiveConfig;
use crate::outcome::{Change, Effect, Outcome};
use crate::permit::Permit;
use crate::policy::{Consecutive, Counted, Policy};
use crate::sliding::Sliding;
use crate::snapshot::Snapshot;
use crate::state::{Generation, State};
use crate::sync::{AtomicU64, const_fn};
use crate::word::Word;
use core::fmt;
use core::time::Duration;

/// A circuit breaker without a name or a clock: the state machine itself.
///
/// A `Circuit` can be a plain `static`; all methods take `&self` and none
/// blocks.
///
/// ```
/// use breaker_core::{Circuit, Settings};
///
/// static PMS: Circuit = Circuit::new(Settings::new().threshold(3).must());
/// assert_eq!(PMS.config().threshold(), 3);
/// ```
pub struct Circuit<P = Consecutive> {
    pub(crate) bare: BareCircuit<P>,
    pub(crate) live: LiveConfig,
}

/// A circuit without its settings, for many that share them: two words, and
/// what the policy keeps.
///
/// ```
/// use breaker_core::{Circuit, Config, ManualClock, State};
///
/// let (hosts, clock) = (Circuit::new(Config::DEFAULT), ManualClock::new(0));
/// let (one, other) = (hosts.fresh_bare(), hosts.fresh_bare());
/// one.with(hosts.live()).force_open(&clock);
/// assert_eq!(one.with(hosts.live()).state(), State::ForcedOpen);
/// assert_eq!(other.with(hosts.live()).state(), State::Closed);
/// ```
#[repr(C)] // The word first: JavaScript looks at it in the memory of a module.
pub struct BareCircuit<P = Consecutive> {
    pub(crate) word: AtomicU64,
    pub(crate) stamp: AtomicU64,
    pub(crate) policy: P,
}

/// A [`Circuit`], or a [`BareCircuit`] with the settings it is used with, by
/// reference: the methods of a circuit.
pub struct CircuitRef<'a, P = Consecutive> {
    pub(crate) bare: &'a BareCircuit<P>,
    pub(crate) live: &'a LiveConfig,
}

impl<P> Clone for CircuitRef<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for CircuitRef<'_, P> {}

/// A call was admitted, and what that did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admission {
    /// The generation that admitted it: hand it to [`Circuit::settle`].
    pub generation: Generation,
    /// The call is the first probe of a trial: the breaker became half-open.
    pub change: Option<Change>,
}

impl<P> BareCircuit<P> {
    const_fn! {
        /// Closed, with nothing counted.
        pub(crate) const fn new(policy: P) -> Self {
            Self {
                word: AtomicU64::new(Word::NEW.raw()),
                stamp: AtomicU64::new(0),
                policy,
            }
        }
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> State {
        self.load().state()
    }

    /// Whether it is closed, with no failure in a row before. (A window may hold
    /// some.)
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let word = self.load();
        word == Word::idle(word.generation())
    }

    /// The circuit with these settings. Always the same ones that its
    /// [`Circuit`] had: a policy holds a copy of what it needs of the declared ones.
    #[inline]
    pub const fn with<'a>(&'a self, live: &'a LiveConfig) -> CircuitRef<'a, P> {
        CircuitRef { bare: self, live }
    }
}

impl Circuit<Consecutive> {
    const_fn! {
        /// A closed circuit that trips after `threshold` failures in a row.
        #[must_use]
        pub const fn new(config: Config) -> Self {
            Self {
                bare: BareCircuit::new(Consecutive),
                live: LiveConfig::new(config.in_a_row()),
            }
        }
    }
}

impl<const SLOTS: usize> Circuit<Sliding<SLOTS>> {
    const_fn! {
        /// A closed circuit that trips by rate.
        ///
        /// # Errors
        /// [`ConfigError::TooFewSlots`] where the window needs more than `SLOTS`
        /// slots.
        pub const fn by_rate(config: RateConfig) -> Result<Self, ConfigError> {
            match Sliding::new(&config) {
                Err(error) => Err(error),
                Ok(policy) => Ok(Self {
                    bare: BareCircuit::new(policy),
                    live: LiveConfig::new(config.config),
                }),
            }
        }
    }
}

impl<P: Policy> Circuit<P> {
    /// A closed circuit with the same declared configuration and nothing counted.
    #[must_use]
    pub fn fresh(&self) -> Self {
        Self {
            bare: self.fresh_bare(),
            live: LiveConfig::new(*self.declared()),
        }
    }

    /// [`fresh`](Self::fresh), to be used with this one's configuration.
    #[must_use]
    pub fn fresh_bare(&self) -> BareCircuit<P> {
        self.bare.fresh()
    }
}

impl<P: Policy> BareCircuit<P> {
    /// A closed circuit of the same policy with nothing counted.
    #[must_use]
    pub fn fresh(&self) -> Self {
        Self::new(self.policy.fresh())
    }
}

impl<P> Circuit<P> {
    /// The circuit without its settings, and these, to be used with it.
    #[must_use]
    pub fn into_parts(self) -> (BareCircuit<P>, LiveConfig) {
        (self.bare, self.live)
    }

    /// The configuration: declared, and as it is now.
    #[inline]
    pub const fn live(&self) -> &LiveConfig {
        &self.live
    }

    /// The configuration that was declared.
    #[must_use]
    #[inline]
    pub const fn declared(&self) -> &Config {
        self.live.declared()
    }

    /// The circuit by reference.
    #[inline]
    pub const fn by_ref(&self) -> CircuitRef<'_, P> {
        self.bare.with(&self.live)
    }
}

// For callers
impl<P: Policy> Circuit<P> {
    /// Asks whether a call may be made now.
    ///
    /// The permit settles the call when it is dropped, as
    /// [`Outcome::Dropped`], so a slot is never lost.
    ///
    /// # Errors
    /// [`Rejected`]: the call must not be made.
    #[inline]
    pub fn admit<C: Clock>(&self, clock: C) -> Result<Permit<'_, C, P>, Rejected> {
        self.by_ref().admit(clock)
    }

    /// [`admit`](Self::admit) at an explicit time, in nanoseconds since the
    /// origin of the caller's clock.
    ///
    /// ```
    /// use breaker_core::{Circuit, Outcome, Settings, State};
    ///
    /// let circuit = Circuit::new(Settings::new().threshold(1).jitter(0.0).must());
    /// let permit = circuit.admit_at(1_000).unwrap();
    /// permit.settle_at(Outcome::Failure, 2_000);
    /// assert_eq!(circuit.state(), State::Open);
    /// assert!(circuit.admit_at(3_000).is_err());
    /// assert!(circuit.admit_at(30_000_010_000).is_ok());
    /// ```
    ///
    /// # Errors
    /// As for `admit`.
    #[inline]
    pub fn admit_at(&self, now: u64) -> Result<Permit<'_, Reading, P>, Rejected> {
        self.by_ref().admit_at(now)
    }

    /// Admits a call if the breaker is closed: the answer of the common case,
    /// without a clock. `None` means: ask [`try_admit`](Self::try_admit).
    #[inline]
    pub fn admit_if_closed(&self) -> Option<Generation> {
        self.by_ref().admit_if_closed()
    }

    /// Asks whether a call may be made now, without a permit: the caller must
    /// hand the generation to [`settle`](Self::settle) when the call has ended,
    /// however it ended.
    ///
    /// # Errors
    /// [`Rejected`]: the call must not be made.
    #[inline]
    pub fn try_admit<C: Clock>(&self, clock: &C) -> Result<Admission, Rejected> {
        self.by_ref().try_admit(clock)
    }

    /// [`try_admit`](Self::try_admit) for a breaker whose probes somebody else
    /// must grant: one that shares its circuit with others. `granted` is asked
    /// where the call would be a probe, and at most once. If it says no, the call
    /// is refused, with nothing to wait for (`retry_after` is zero), and nothing
    /// changes. A call that was granted may still be refused, where another
    /// thread was quicker.
    ///
    /// ```
    /// use breaker_core::{Circuit, Config, ManualClock, Outcome, State};
    /// use std::time::Duration;
    ///
    /// let (circuit, clock) = (Circuit::new(Config::DEFAULT), ManualClock::new(0));
    /// circuit.open_for(Duration::from_secs(1), &clock);
    /// clock.advance(Duration::from_secs(1));
    ///
    /// let refused = circuit.try_admit_if_granted(&clock, || false).unwrap_err();
    /// assert_eq!(refused.retry_after, Some(Duration::ZERO));
    /// assert_eq!(circuit.state(), State::Open);
    ///
    /// let probe = circuit.try_admit_if_granted(&clock, || true)?;
    /// circuit.settle(probe.generation, Outcome::Success, &clock);
    /// assert_eq!(circuit.state(), State::Closed);
    /// # Ok::<(), breaker_core::Rejected>(())
    /// ```
    ///
    /// # Errors
    /// As for `try_admit`.
    #[inline]
    pub fn try_admit_if_granted<C: Clock>(
        &self,
        clock: &C,
        granted: impl FnOnce() -> bool,
    ) -> Result<Admission, Rejected> {
        self.by_ref().try_admit_if_granted(clock, granted)
    }

    /// Reports how a call ended that `generation` admitted, where it doesn't
    /// matter how long it took. Each admitted call is settled once.
    #[inline]
    pub fn settle<C: Clock>(&self, generation: Generation, outcome: Outcome, clock: &C) -> Effect {
        self.by_ref().settle(generation, outcome, clock)
    }

    /// [`settle`](Self::settle) for a call that took so long.
    #[inline]
    pub fn settle_after<C: Clock>(
        &self,
        generation: Generation,
        outcome: Outcome,
        took: Duration,
        clock: &C,
    ) -> Effect {
        self.by_ref().settle_after(generation, outcome, took, clock)
    }
}

// For operators
impl<P: Policy> Circuit<P> {
    /// Closes the breaker; counters and backoff are forgotten.
    #[inline]
    pub fn close<C: Clock>(&self, clock: &C) -> Change {
        self.by_ref().close(clock)
    }

    /// [`close`](Self::close), and the configuration is again what was
    /// declared.
    #[inline]
    pub fn clear<C: Clock>(&self, clock: &C) -> Change {
        self.by_ref().clear(clock)
    }

    /// Refuses every call until another operator call.
    #[inline]
    pub fn force_open<C: Clock>(&self, clock: &C) -> Change {
        self.by_ref().force_open(clock)
    }

    /// Admits every call and records nothing until another operator call.
    #[inline]
    pub fn disable<C: Clock>(&self, clock: &C) -> Change {
        self.by_ref().disable(clock)
    }

    /// Admits every call, records, and reports once when it would have tripped,
    /// until another operator call.
    #[inline]
    pub fn shadow<C: Clock>(&self, clock: &C) -> Change {
        self.by_ref().shadow(clock)
    }

    /// Opens for `wait`, without jitter, backoff or cap. Exact to 10 us up to
    /// 83 s, to 1 ms up to 9.3 h, and coarser above; rounded up.
    #[inline]
    pub fn open_for<C: Clock>(&self, wait: Duration, clock: &C) -> Change {
        self.by_ref().open_for(wait, clock)
    }

    /// The state. Reading it changes nothing: an open breaker whose wait is over
    /// is open until a call asks.
    #[must_use]
    #[inline]
    pub fn state(&self) -> State {
        self.by_ref().state()
    }

    /// The present generation.
    #[must_use]
    #[inline]
    pub fn generation(&self) -> Generation {
        self.by_ref().generation()
    }

    /// The configuration that holds now: the declared one, or what an operator made of it.
    #[must_use]
    #[inline]
    pub fn config(&self) -> Config {
        self.live.config()
    }

    /// The breaker's state, to be restored in another process, isolate or run.
    /// Changes nothing.
    #[must_use]
    #[inline]
    pub fn snapshot<C: Clock>(&self, clock: &C) -> Snapshot {
        self.by_ref().snapshot(clock)
    }

    /// Puts the breaker into the state of a snapshot. Calls in flight are late.
    /// Time left is clamped to the configured wait, and to 24 h where an
    /// overload or `open_for` had set it.
    ///
    /// # Errors
    /// [`SnapshotError`] for nonsense; the breaker stays as it was.
    #[inline]
    pub fn restore<C: Clock>(
        &self,
        snapshot: &Snapshot,
        clock: &C,
    ) -> Result<Change, SnapshotError> {
        self.by_ref().restore(snapshot, clock)
    }

    /// [`restore`](Self::restore) of what others did to a circuit that is shared with them: the change
    /// says so ([`Trigger::Fleet`](crate::Trigger::Fleet)). With `only_in` only while it is in that
    /// generation: `None`, and nothing is done, once it is in another, so that nothing is undone that
    /// happened here since. `HalfOpen` is followed as open with no time left: whether a call may probe
    /// is then to be asked by [`try_admit_if_granted`](Self::try_admit_if_granted).
    ///
    /// ```
    /// use breaker_core::{Circuit, Config, ManualClock, SnapshotError, State, Trigger};
    /// use core::time::Duration;
    ///
    /// let (here, there) = (Circuit::new(Config::DEFAULT), Circuit::new(Config::DEFAULT));
    /// let (clock, seen) = (ManualClock::new(0), here.generation());
    /// there.open_for(Duration::from_secs(60), &clock);
    ///
    /// let change = here.follow(&there.snapshot(&clock), Some(seen), &clock)?.unwrap();
    /// assert_eq!((change.to, change.trigger), (State::Open, Trigger::Fleet));
    /// here.force_open(&clock);
    /// let closed = Circuit::new(Config::DEFAULT).snapshot(&clock);
    /// assert_eq!(here.follow(&closed, Some(change.generation), &clock)?, None);
    /// assert_eq!(here.state(), State::ForcedOpen);
    /// # Ok::<(), SnapshotError>(())
    /// ```
    ///
    /// # Errors
    /// [`SnapshotError`] for nonsense; the breaker stays as it was.
    #[inline]
    pub fn follow<C: Clock>(
        &self,
        snapshot: &Snapshot,
        only_in: Option<Generation>,
        clock: &C,
    ) -> Result<Option<Change>, SnapshotError> {
        self.by_ref().follow(snapshot, only_in, clock)
    }

    /// What it has counted while it is closed, as a window has it at this moment; nothing in any other
    /// state.
    ///
    /// ```
    /// use breaker_core::{Circuit, Counted, ManualClock, Settings, Window};
    ///
    /// let settings = Settings::new().failure_rate(0.5).window(Window::calls(10));
    /// let circuit: Circuit<breaker_core::Sliding<1>> = Circuit::by_rate(settings.build_rate()?)?;
    /// let clock = ManualClock::new(0);
    /// circuit.admit(&clock).unwrap().failure();
    /// circuit.admit(&clock).unwrap().success();
    /// let counted = Counted { calls: 2, failures: 1, slow: 0 };
    /// assert_eq!(circuit.counted(&clock), counted);
    /// # Ok::<(), breaker_core::ConfigError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn counted<C: Clock>(&self, clock: &C) -> Counted {
        self.by_ref().counted(clock)
    }
}

// For operators, at run time
#[cfg(not(one_thread))]
impl<P: Policy> Circuit<P> {
    /// What an operator laid over the declared configuration.
    #[inline]
    pub fn overrides(&self) -> Overrides {
        self.live.overrides()
    }

    /// Lays settings over the declared ones, instead of those that lay there before. They are
    /// checked by the same rules, together with what was declared, and what follows from another
    /// setting follows again.
    ///
    /// State, generation and counts stay, and nothing is tripped or closed by it: it holds from
    /// the next event on. What is left of an opening is measured by the new `reset` too; a wait
    /// that was set by an overload or [`open_for`](Self::open_for) stays as it is. Calls on a
    /// closed breaker cost what they cost before.
    ///
    /// ```
    /// use breaker_core::{Circuit, Config, ManualClock, Outcome, Overrides, ReconfigureError, State};
    ///
    /// let (circuit, clock) = (Circuit::new(Config::DEFAULT), ManualClock::new(0));
    /// let changed = circuit.reconfigure(&Overrides::new().threshold(1))?;
    /// assert_eq!((changed.from.threshold(), changed.to.threshold()), (5, 1));
    ///
    /// circuit.admit(&clock).unwrap().settle(Outcome::Failure);
    /// assert_eq!(circuit.state(), State::Open);
    /// circuit.clear(&clock);
    /// assert_eq!(circuit.config().threshold(), 5);
    /// # Ok::<(), ReconfigureError>(())
    /// ```
    ///
    /// # Errors
    /// [`ReconfigureError`]: nothing has changed.
    pub fn reconfigure(&self, overrides: &Overrides) -> Result<Reconfiguration, ReconfigureError> {
        self.live.reconfigure(overrides)
    }

    /// The configuration is again what was declared; the state stays. `None`: it was. Waits for
    /// nobody: a [`reconfigure`](Self::reconfigure) that is under way counts as before.
    pub fn clear_overrides(&self) -> Option<Reconfiguration> {
        self.live.clear_overrides()
    }
}

impl<P: Policy> fmt::Debug for Circuit<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.by_ref().fmt(f)
    }
}

impl<P: Policy> fmt::Debug for CircuitRef<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bare.fmt(f)
    }
}

impl<P: Policy> fmt::Debug for BareCircuit<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.load();
        f.debug_struct("Circuit")
            .field("state", &word.state())
            .field("generation", &word.generation().get())
            .field("reopenings", &word.reopenings())
            .finish_non_exhaustive()
    }
}
