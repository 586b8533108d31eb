//! Sharing a circuit with other processes: what a breaker tells and asks, and how it follows.
//!
//! A [`Link`] is what a breaker is shared through: the crate `breaker-redis` has one. A breaker asks it
//! before it lets a probe through, and tells it what happens to its circuit; the link brings back what
//! others did by [`AnyBreaker::follow`]. A closed breaker's calls have nothing to do with it, but for
//! those that fail.
//!
//! ```
//! use breakerbox::link::{Follow, Link, Linked};
//! use breakerbox::{AnyBreaker, Breaker, Change, Effect, Generation, Outcome, Settings, State};
//! use std::sync::{Arc, Mutex};
//! use std::time::Duration;
//!
//! /// Two breakers of one process that do as the other does.
//! #[derive(Default)]
//! struct Other(Mutex<Option<Arc<Breaker>>>);
//! impl Link for Other {
//!     fn changed(&self, circuit: &Linked<'_>, change: &Change) {
//!         let other = self.0.lock().unwrap().clone();
//!         if change.to != State::HalfOpen
//!             && let Some(other) = other
//!         {
//!             let (to, only_in) = (circuit.breaker().snapshot(), None);
//!             let _ = other.follow(&Follow { to, only_in });
//!         }
//!     }
//!     fn settled(&self, _: &Linked<'_>, _: Generation, _: &Outcome, _: &Effect) {}
//!     fn may_probe(&self, _: &Linked<'_>) -> Result<(), Duration> {
//!         Ok(())
//!     }
//!     fn key_added(&self, _: &Linked<'_>) {}
//! }
//!
//! let once = Settings::new().threshold(1).must();
//! let (here, there) = (Breaker::shared("here", once), Breaker::shared("there", once));
//! for (from, to) in [(&here, &there), (&there, &here)] {
//!     from.link(Arc::new(Other(Mutex::new(Some(to.clone())))))?;
//! }
//! let _ = here.call_sync(|| Err::<(), _>("no answer"));
//! assert_eq!(there.state(), State::Open);
//! assert_eq!(there.last_change().unwrap().to_string(), "was opened by the fleet");
//! there.close();
//! assert_eq!(here.state(), State::Closed);
//! # Ok::<(), breakerbox::link::AlreadyLinked>(())
//! ```

mod hooks;
mod kept;

pub use breaker_core::Counted;
pub use kept::Kept;

pub(crate) use kept::{Keep, Keeping};

use crate::AnyBreaker;
use crate::name::KeyLabel;
use crate::observe;
use breaker_core::{Change, Effect, Generation, Outcome, Snapshot};
use std::error::Error;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What a breaker shares its circuit through: given to it by [`Breaker::link`](crate::Breaker::link) or
/// [`KeyedBreakers::link`](crate::KeyedBreakers::link).
///
/// It is called within calls, outside any lock of the breaker's: nothing here may wait, and what panics
/// costs nobody a slot or an answer. Several threads may be in it at once, and may come with what they
/// did in another order than they did it: generations say which was later.
///
/// Inside a test scope (`breakerbox::test`) nothing is shared; nor is a key for which there was no room
/// ([`keys_full`](observe::Observer::keys_full)).
pub trait Link: Send + Sync {
    /// The circuit entered a state by what happened in this process: also by an operator, a restored
    /// snapshot, and a probe that was let through; not by [`follow`](AnyBreaker::follow). Told before
    /// observers are.
    fn changed(&self, circuit: &Linked<'_>, change: &Change);

    /// An outcome was more than the common success of a closed breaker: a failure, a slow call where
    /// slow calls count, a success that ends a row of failures, the end of a probe. What it changed was
    /// told before, by [`changed`](Self::changed). Not told is what came too late to count, or was
    /// neutral to a circuit that isn't probing; and of one in shadow only that it would have tripped.
    fn settled(
        &self,
        circuit: &Linked<'_>,
        generation: Generation,
        outcome: &Outcome,
        effect: &Effect,
    );

    /// The wait is over, or a trial has room for more, and a call asks to probe. `Err`: not now; after what
    /// time to ask again, which is what callers are told as `retry_after`. Where this panics, the breaker
    /// decides by itself: `Ok`.
    ///
    /// With `Ok` a probe is let through, unless [`probe_withdrawn`](Self::probe_withdrawn) follows.
    ///
    /// # Errors
    /// After what time to ask again: how long it takes until a probe may be let through, if that is known.
    fn may_probe(&self, circuit: &Linked<'_>) -> Result<(), Duration>;

    /// How long it takes until [`may_probe`](Self::may_probe) may say `Ok`, as far as is known, where the
    /// wait of the circuit itself is over: which is what [`time_left`](AnyBreaker::time_left) says then.
    /// Zero: a call may ask now. Nobody asks to probe by it.
    fn time_left(&self, circuit: &Linked<'_>) -> Duration {
        let _ = circuit;
        Duration::ZERO
    }

    /// What [`may_probe`](Self::may_probe) just allowed in this thread comes to nothing, and the call is
    /// refused: another thread has taken its place, or it was only asked how long a call would be refused.
    fn probe_withdrawn(&self, circuit: &Linked<'_>) {
        let _ = circuit;
    }

    /// A key's breaker was made: nothing is known of it here yet. Told of each key that is there
    /// already when the link is given, too; what happens to it may be told before this, and this
    /// twice, where several threads use the key at once.
    fn key_added(&self, circuit: &Linked<'_>);

    /// A key was given up for a new one: what is kept for it can be dropped. Should the key be seen
    /// again, it gets a new breaker.
    fn key_given_up(&self, circuit: &Linked<'_>) {
        let _ = circuit;
    }
}

/// The circuit that a [`Link`] hears of.
pub struct Linked<'a> {
    breaker: &'a dyn AnyBreaker,
    key: Option<(KeyLabel<'a>, &'a dyn Keep)>,
}

impl<'a> Linked<'a> {
    pub(crate) fn one(breaker: &'a dyn AnyBreaker) -> Self {
        Self { breaker, key: None }
    }

    pub(crate) fn of_key(breaker: &'a (impl AnyBreaker + Keep), key: KeyLabel<'a>) -> Self {
        Self {
            breaker,
            key: Some((key, breaker)),
        }
    }

    /// The breaker: for what it is now. [`circuit_id`](AnyBreaker::circuit_id) tells it from all others
    /// that there are.
    #[must_use]
    pub fn breaker(&self) -> &'a dyn AnyBreaker {
        self.breaker
    }

    /// Its key, if it is one of several by key.
    #[must_use]
    pub fn key(&self) -> Option<KeyLabel<'a>> {
        self.key.map(|(label, _)| label)
    }

    /// What leads to a key's breaker later, and doesn't keep its key from being given up. `None`: it is
    /// of no key, and whoever linked it has it.
    #[must_use]
    pub fn keep(&self) -> Option<Kept> {
        self.key.map(|(_, breaker)| breaker.keep())
    }
}

impl fmt::Debug for Linked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linked")
            .field("breaker", &self.breaker.name())
            .field("key", &self.key())
            .finish_non_exhaustive()
    }
}

/// What others did to a circuit, to be followed: [`AnyBreaker::follow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follow {
    /// The state that it has elsewhere. `HalfOpen` is open here with no time left: whether a call may
    /// probe is then asked of the link.
    pub to: Snapshot,
    /// Only while the circuit is in this generation: what happened here since is not undone.
    pub only_in: Option<Generation>,
}

/// The breaker has a [`Link`] already: it is shared through one, for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the breaker is shared already, and through one link only: link it once")]
pub struct AlreadyLinked;

/// What a breaker is shared through, if it is.
#[derive(Default)]
pub(crate) struct Slot(OnceLock<Arc<dyn Link>>);

impl Slot {
    pub(crate) const fn empty() -> Self {
        Self(OnceLock::new())
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&Arc<dyn Link>> {
        self.0.get()
    }

    pub(crate) fn fill(&self, link: Arc<dyn Link>) -> Result<(), AlreadyLinked> {
        self.0.set(link).map_err(|_| AlreadyLinked)
    }
}

// A link that panics is asked again, and what it then is, is its own affair, as of an observer.
impl UnwindSafe for Slot {}
impl RefUnwindSafe for Slot {}

/// Tells observers that circuits are shared with nobody for now
/// ([`sharing_lost`](observe::Observer::sharing_lost)): for who makes a [`Link`]. Those of the process,
/// or of the test scope that this thread is in. `losses`: how many
/// times that happened since it was told last, so that what comes and goes makes no flood.
///
/// ```
/// use breakerbox::link;
/// use breakerbox::observe::{self, Observer, SharingLost};
/// use std::sync::{Arc, Mutex};
///
/// #[derive(Default)]
/// struct Lines(Mutex<Vec<String>>);
/// impl Observer for Lines {
///     fn sharing_lost(&self, event: &SharingLost<'_>) {
///         self.0.lock().unwrap().push(event.to_string());
///     }
/// }
///
/// let lines = Arc::new(Lines::default());
/// let _installed = observe::install(lines.clone());
/// let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
/// link::sharing_lost("booking", &refused, 1);
/// assert_eq!(
///     *lines.0.lock().unwrap(),
///     ["fleet `booking` can't be reached, each process is on its own: connection refused"]
/// );
/// ```
pub fn sharing_lost(fleet: &str, error: &(dyn Error + 'static), losses: u64) {
    observe::sharing_lost(fleet, error, losses, None, false);
}

/// The same, where a part of the circuits is concerned, and the others are still shared.
///
/// ```
/// use breakerbox::link;
/// use breakerbox::observe::{self, Observer, Part, SharingLost};
/// use std::sync::{Arc, Mutex};
///
/// #[derive(Default)]
/// struct Lines(Mutex<Vec<String>>);
/// impl Observer for Lines {
///     fn sharing_lost(&self, event: &SharingLost<'_>) {
///         self.0.lock().unwrap().push(event.to_string());
///     }
/// }
///
/// let lines = Arc::new(Lines::default());
/// let _installed = observe::install(lines.clone());
/// let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
/// link::sharing_lost_in_part("booking", &refused, 1, Part::new(2, 6));
/// assert_eq!(
///     *lines.0.lock().unwrap(),
///     [
///         "2 of 6 circuits of fleet `booking` can't be shared, each process is on its own with these: \
///          connection refused"
///     ]
/// );
/// ```
pub fn sharing_lost_in_part(
    fleet: &str,
    error: &(dyn Error + 'static),
    losses: u64,
    part: observe::Part,
) {
    observe::sharing_lost(fleet, error, losses, Some(part), false);
}

/// Tells observers, likewise, that this process shares nothing any more by its own doing, and that something
/// was left to be told.
///
/// ```
/// use breakerbox::link;
/// use breakerbox::observe::{self, Observer, SharingLost};
/// use std::sync::{Arc, Mutex};
///
/// #[derive(Default)]
/// struct Lines(Mutex<Vec<String>>);
/// impl Observer for Lines {
///     fn sharing_lost(&self, event: &SharingLost<'_>) {
///         assert!(event.is_ended);
///         self.0.lock().unwrap().push(event.to_string());
///     }
/// }
///
/// let lines = Arc::new(Lines::default());
/// let _installed = observe::install(lines.clone());
/// link::sharing_ended("booking", &std::io::Error::other("an order was not told"));
/// let line = "fleet `booking` was left by this process: an order was not told";
/// assert_eq!(*lines.0.lock().unwrap(), [line]);
/// ```
pub fn sharing_ended(fleet: &str, error: &(dyn Error + 'static)) {
    observe::sharing_lost(fleet, error, 1, None, true);
}

/// Tells the same observers that circuits are shared again, after so much time
/// ([`sharing_restored`](observe::Observer::sharing_restored)): for who makes a [`Link`].
pub fn sharing_restored(fleet: &str, after: Duration) {
    observe::sharing_restored(fleet, after);
}

/// Tells the same observers that another process of the fleet declares a breaker otherwise than this one
/// ([`sharing_differs`](observe::Observer::sharing_differs)): for who makes a [`Link`], who tells it once.
///
/// ```
/// use breakerbox::link;
/// use breakerbox::observe::{self, Difference, Observer, SharingDiffers};
/// use std::sync::{Arc, Mutex};
///
/// #[derive(Default)]
/// struct Lines(Mutex<Vec<String>>);
/// impl Observer for Lines {
///     fn sharing_differs(&self, event: &SharingDiffers<'_>) {
///         self.0.lock().unwrap().push(event.to_string());
///     }
/// }
///
/// let lines = Arc::new(Lines::default());
/// let _installed = observe::install(lines.clone());
/// let reset = Difference::new("reset", "30s".to_owned(), "10s".to_owned());
/// link::sharing_differs("booking", "pms", &[reset]);
/// assert_eq!(
///     *lines.0.lock().unwrap(),
///     [
///         "breaker `pms` of fleet `booking` is declared otherwise elsewhere: reset 30s here, 10s there: \
///          each process goes by its own until all declare the same"
///     ]
/// );
/// ```
pub fn sharing_differs(fleet: &str, breaker: &str, differences: &[observe::Difference]) {
    observe::sharing_differs(fleet, breaker, differences);
}

/// The name that a breaker, or breakers by key, asked for and didn't get, as another one of this process has
/// it: of the name that it got instead (`pms@src/client.rs:40`). `None`: it is called as it asked, or not in
/// the [registry](crate::registry). For who makes a [`Link`]: by such a name nobody elsewhere knows it.
///
/// ```
/// use breakerbox::{Breaker, Config, link};
///
/// # let _scope = breakerbox::test::scope();
/// let [first, second] = [(); 2].map(|()| Breaker::shared("pms", Config::DEFAULT));
/// assert_eq!(link::asked_name(first.name()), None);
/// assert_eq!(link::asked_name(second.name()).as_deref(), Some("pms"));
/// ```
#[must_use]
pub fn asked_name(name: &str) -> Option<String> {
    crate::registry::asked_name(name)
}
