//! What an operator can do with a breaker, of whatever type.

use crate::bound::Bound;
#[cfg(all(
    feature = "status-page",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
use crate::bound::InGeneration;
use crate::breaker::Breaker;
use crate::keyed::KeyedBreaker;
use crate::last_change::LastChange;
use crate::link::{Counted, Follow};
use crate::name::KeyLabel;
use crate::observe::CircuitId;
use crate::subject::Subject;
use breaker_core::{
    Change, Clock, Config, Generation, Overrides, Policy, Reconfiguration, ReconfigureError,
    Snapshot, SnapshotError, State,
};
use std::time::Duration;

pub(crate) mod sealed {
    use crate::name::KeyLabel;
    use breaker_core::Config;

    /// What the breaker itself lends: a call's subject is a reference of its own.
    #[derive(Debug)]
    pub struct Known<'a> {
        pub(crate) name: &'a str,
        pub(crate) key: Option<KeyLabel<'a>>,
        pub(crate) declared: &'a Config,
    }

    pub trait Lends: Send + Sync {
        fn known(&self) -> Known<'_>;
    }
}

use sealed::{Known, Lends};

/// A breaker of whatever clock and policy ([`Breaker`]), or that of a key
/// ([`KeyedBreaker`]): what an operator can do with it. Each method is that of
/// [`Breaker`]. Sealed.
pub trait AnyBreaker: Lends + Send + Sync {
    /// See [`Breaker::name`].
    fn name(&self) -> &str;
    /// The key, of the breaker of one.
    fn key(&self) -> Option<KeyLabel<'_>>;
    /// Which circuit this is, as events name it.
    fn circuit_id(&self) -> CircuitId;
    /// See [`Breaker::state`].
    fn state(&self) -> State;
    /// See [`Breaker::generation`].
    fn generation(&self) -> Generation;
    /// See [`Breaker::config`].
    fn config(&self) -> Config;
    /// See [`Breaker::declared`].
    fn declared(&self) -> &Config;
    /// See [`Breaker::overrides`]. Those of a key are all keys'.
    fn overrides(&self) -> Overrides;
    /// See [`Breaker::reconfigure`].
    ///
    /// # Errors
    /// [`ReconfigureError`]: nothing has changed. That of a key is always
    /// [`OneKey`](ReconfigureError::OneKey): all keys have one configuration, and
    /// [`FoundKeyed::reconfigure`](super::FoundKeyed::reconfigure) changes it.
    fn reconfigure(&self, overrides: &Overrides) -> Result<Reconfiguration, ReconfigureError>;
    /// Where observers can't be told yet.
    #[doc(hidden)]
    fn reconfigure_quietly(
        &self,
        overrides: &Overrides,
    ) -> Result<Reconfiguration, ReconfigureError>;
    #[doc(hidden)]
    fn tell_reconfigured(&self, change: &Reconfiguration);
    /// See [`Breaker::snapshot`].
    fn snapshot(&self) -> Snapshot;
    /// While it is open: how long until a call may be admitted as a probe. Of a circuit that is shared
    /// also, as far as is known, how long others keep it from that: while another process probes, or where
    /// it follows a recovery only in a while. What a call that is refused says as `retry_after`, but that
    /// nobody asks for a probe by it.
    ///
    /// ```
    /// use breakerbox::{AnyBreaker, Breaker, Config};
    /// use std::time::Duration;
    ///
    /// # let scope = breakerbox::test::scope();
    /// let pms = Breaker::new("pms", Config::DEFAULT);
    /// assert_eq!(pms.time_left(), None);
    /// pms.open_for(Duration::from_secs(60));
    /// # scope.advance(Duration::from_secs(20));
    /// // 20 seconds later:
    /// assert_eq!(pms.time_left(), Some(Duration::from_secs(40)));
    /// ```
    fn time_left(&self) -> Option<Duration>;
    /// Why it is in its state, and since when. `None`: it is as it was made; or it is just being
    /// changed, and who does so has yet to note it.
    ///
    /// It is noted whether or not there are observers, in one word, by who changes a state. Whoever
    /// wants to know more of the past [watches](super::watch()).
    ///
    /// ```
    /// use breakerbox::{AnyBreaker, Breaker, Settings, State, Trigger};
    /// use std::time::Duration;
    ///
    /// # let scope = breakerbox::test::scope();
    /// let pms = Breaker::new("pms", Settings::new().threshold(2).must());
    /// assert_eq!(pms.last_change(), None);
    /// for _ in 0..2 {
    ///     let _ = pms.call_sync(|| Err::<(), _>("no answer"));
    /// }
    /// # scope.advance(Duration::from_secs(20));
    /// // 20 seconds later:
    /// let why = pms.last_change().unwrap();
    /// assert_eq!((why.from, why.to), (State::Closed, State::Open));
    /// assert_eq!((why.trigger, why.failures), (Trigger::Failures, 2));
    /// assert_eq!(why.ago, Duration::from_secs(20));
    /// assert_eq!(why.to_string(), "opened after 2 failures");
    /// ```
    fn last_change(&self) -> Option<LastChange>;
    /// See [`Breaker::restore`].
    ///
    /// # Errors
    /// [`SnapshotError`] for nonsense; the breaker stays as it was.
    fn restore(&self, snapshot: &Snapshot) -> Result<Change, SnapshotError>;
    /// Takes over what others did to a circuit that is shared with them: a restored snapshot, but that
    /// observers are told that the fleet did it ([`Trigger::Fleet`](breaker_core::Trigger::Fleet)), and
    /// the breaker's [link](crate::link) is not told. `None`, and nothing is done, where the circuit is
    /// in another generation than [`only_in`](Follow::only_in): what happened here since stays.
    ///
    /// ```
    /// use breakerbox::link::Follow;
    /// use breakerbox::{AnyBreaker, Breaker, Config, State, Trigger};
    /// use std::time::Duration;
    ///
    /// let (here, there) = (Breaker::new("pms", Config::DEFAULT), Breaker::new("pms", Config::DEFAULT));
    /// let only_in = Some(here.generation());
    /// there.open_for(Duration::from_secs(60));
    ///
    /// let follow = Follow { to: there.snapshot(), only_in };
    /// let change = here.follow(&follow)?.unwrap();
    /// assert_eq!((change.to, change.trigger), (State::Open, Trigger::Fleet));
    /// assert_eq!(here.follow(&follow)?, None, "it is in another generation now");
    /// # Ok::<(), breakerbox::SnapshotError>(())
    /// ```
    ///
    /// # Errors
    /// [`SnapshotError`] for nonsense; the breaker stays as it was.
    fn follow(&self, follow: &Follow) -> Result<Option<Change>, SnapshotError>;
    /// What it has counted while it is closed, as a window has it now; nothing in any other state.
    ///
    /// ```
    /// use breakerbox::{AnyBreaker, Breaker, Config};
    ///
    /// let pms = Breaker::new("pms", Config::DEFAULT);
    /// let _ = pms.call_sync(|| Err::<(), _>("no answer"));
    /// assert_eq!(pms.counted().failures, 1);
    /// ```
    fn counted(&self) -> Counted;
    /// See [`Breaker::close`].
    fn close(&self) -> Change;
    /// See [`Breaker::clear`]. That of a key leaves the configuration, which is all keys', as it
    /// is.
    fn clear(&self) -> Change;
    /// See [`Breaker::force_open`].
    fn force_open(&self) -> Change;
    /// See [`Breaker::disable`].
    fn disable(&self) -> Change;
    /// See [`Breaker::shadow`].
    fn shadow(&self) -> Change;
    /// See [`Breaker::open_for`].
    fn open_for(&self, wait: Duration) -> Change;
    /// One of these, as long as it is in this generation; `None`, and nothing is done, once it is
    /// in another.
    #[cfg(all(
        feature = "status-page",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    #[doc(hidden)]
    fn operate_in(&self, generation: Generation, order: InGeneration) -> Option<Change>;
}

impl<T> AnyBreaker for T
where
    T: Lends,
    for<'a> &'a T: Subject,
{
    fn name(&self) -> &str {
        self.known().name
    }

    fn key(&self) -> Option<KeyLabel<'_>> {
        self.known().key
    }

    fn circuit_id(&self) -> CircuitId {
        CircuitId(Bound::new(self).lent().circuit().identity())
    }

    fn state(&self) -> State {
        Bound::new(self).lent().circuit().state()
    }

    fn generation(&self) -> Generation {
        Bound::new(self).lent().circuit().generation()
    }

    fn config(&self) -> Config {
        Bound::new(self).config()
    }

    fn declared(&self) -> &Config {
        self.known().declared
    }

    fn overrides(&self) -> Overrides {
        Bound::new(self).overrides()
    }

    fn reconfigure(&self, overrides: &Overrides) -> Result<Reconfiguration, ReconfigureError> {
        Bound::new(self).reconfigure(overrides)
    }

    fn reconfigure_quietly(
        &self,
        overrides: &Overrides,
    ) -> Result<Reconfiguration, ReconfigureError> {
        Bound::new(self).reconfigure_quietly(overrides)
    }

    fn tell_reconfigured(&self, change: &Reconfiguration) {
        Bound::new(self).lent().tell_reconfigured(change);
    }

    fn snapshot(&self) -> Snapshot {
        Bound::new(self).snapshot()
    }

    fn time_left(&self) -> Option<Duration> {
        Bound::new(self).time_left()
    }

    fn last_change(&self) -> Option<LastChange> {
        Bound::new(self).last_change()
    }

    fn restore(&self, snapshot: &Snapshot) -> Result<Change, SnapshotError> {
        Bound::new(self).restore(snapshot)
    }

    fn follow(&self, follow: &Follow) -> Result<Option<Change>, SnapshotError> {
        Bound::new(self).follow(follow)
    }

    fn counted(&self) -> Counted {
        Bound::new(self).counted()
    }

    fn close(&self) -> Change {
        Bound::new(self).operate(|circuit, clock| circuit.close(clock))
    }

    fn clear(&self) -> Change {
        Bound::new(self).clear()
    }

    fn force_open(&self) -> Change {
        Bound::new(self).operate(|circuit, clock| circuit.force_open(clock))
    }

    fn disable(&self) -> Change {
        Bound::new(self).operate(|circuit, clock| circuit.disable(clock))
    }

    fn shadow(&self) -> Change {
        Bound::new(self).operate(|circuit, clock| circuit.shadow(clock))
    }

    fn open_for(&self, wait: Duration) -> Change {
        Bound::new(self).operate(|circuit, clock| circuit.open_for(wait, clock))
    }

    #[cfg(all(
        feature = "status-page",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    fn operate_in(&self, generation: Generation, order: InGeneration) -> Option<Change> {
        Bound::new(self).operate_in(generation, order)
    }
}

impl<C, P> Lends for Breaker<C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    fn known(&self) -> Known<'_> {
        Known {
            name: self.name(),
            key: None,
            declared: self.declared(),
        }
    }
}

impl<O, C, P> Lends for KeyedBreaker<O, C, P>
where
    O: Send + Sync,
    C: Clock + Send + Sync,
    P: Policy + Send + Sync,
{
    fn known(&self) -> Known<'_> {
        Known {
            name: self.name(),
            key: Some(KeyLabel::of(self.of_key())),
            declared: self.declared_config(),
        }
    }
}
