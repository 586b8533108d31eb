//! Every breaker of the process, by name.

use crate::breaker::Breaker;
use crate::name::Name;
use breaker_core::{Change, Clock, Config, Generation, Policy, Snapshot, SnapshotError, State};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;

/// The breaker of that name, if it is known.
///
/// Breakers of [`#[circuit_breaker]`](crate::circuit_breaker) and
/// [`breaker!`](crate::breaker) are known from their first call on, those of
/// [`Breaker::shared`] until they are dropped. One made by hand is never known.
///
/// ```
/// use breakerbox::{CallError, State, circuit_breaker};
///
/// #[circuit_breaker(name = "pms", threshold = 1)]
/// fn rooms() -> Result<u32, CallError<&'static str>> {
///     Err(CallError::Call("no answer"))
/// }
///
/// # let _scope = breakerbox::test::scope();
/// assert!(breakerbox::find("pms").is_none());
/// let _ = rooms();
/// let pms = breakerbox::find("pms").unwrap();
/// assert_eq!(pms.state(), State::Open);
/// pms.close();
/// assert_eq!(pms.state(), State::Closed);
/// ```
#[must_use]
pub fn find(name: &str) -> Option<Found> {
    let entries = ENTRIES.read().unwrap_or_else(PoisonError::into_inner);
    let found = match &entries.get(name)?.place {
        Place::Static(breaker) => Handle::Static(*breaker),
        Place::Shared(breaker) => Handle::Shared(breaker.upgrade()?),
    };
    drop(entries);
    Some(Found(found))
}

/// A breaker that [`find`] found. Keeps a shared one alive.
pub struct Found(Handle);

enum Handle {
    Static(&'static dyn AnyBreaker),
    Shared(Arc<dyn AnyBreaker>),
}

impl Deref for Found {
    type Target = dyn AnyBreaker;

    fn deref(&self) -> &Self::Target {
        match &self.0 {
            Handle::Static(breaker) => *breaker,
            Handle::Shared(breaker) => &**breaker,
        }
    }
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

mod sealed {
    pub trait Sealed {}
}

impl<C, P> sealed::Sealed for Breaker<C, P> {}

/// A breaker of whatever clock and policy: what an operator can do with it.
/// Each method is that of [`Breaker`]. Sealed.
#[allow(missing_docs, reason = "each is documented at `Breaker`")]
pub trait AnyBreaker: sealed::Sealed + Send + Sync {
    fn name(&self) -> &str;
    fn state(&self) -> State;
    fn generation(&self) -> Generation;
    fn config(&self) -> &Config;
    fn snapshot(&self) -> Snapshot;
    /// # Errors
    /// [`SnapshotError`] for nonsense; the breaker stays as it was.
    fn restore(&self, snapshot: &Snapshot) -> Result<Change, SnapshotError>;
    fn close(&self) -> Change;
    fn clear(&self) -> Change;
    fn force_open(&self) -> Change;
    fn disable(&self) -> Change;
    fn shadow(&self) -> Change;
    fn open_for(&self, wait: Duration) -> Change;
}

impl<C, P> AnyBreaker for Breaker<C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    fn name(&self) -> &str {
        Self::name(self)
    }

    fn state(&self) -> State {
        Self::state(self)
    }

    fn generation(&self) -> Generation {
        Self::generation(self)
    }

    fn config(&self) -> &Config {
        Self::config(self)
    }

    fn snapshot(&self) -> Snapshot {
        Self::snapshot(self)
    }

    fn restore(&self, snapshot: &Snapshot) -> Result<Change, SnapshotError> {
        Self::restore(self, snapshot)
    }

    fn close(&self) -> Change {
        Self::close(self)
    }

    fn clear(&self) -> Change {
        Self::clear(self)
    }

    fn force_open(&self) -> Change {
        Self::force_open(self)
    }

    fn disable(&self) -> Change {
        Self::disable(self)
    }

    fn shadow(&self) -> Change {
        Self::shadow(self)
    }

    fn open_for(&self, wait: Duration) -> Change {
        Self::open_for(self, wait)
    }
}

struct Entry {
    id: u64,
    place: Place,
}

enum Place {
    Static(&'static dyn AnyBreaker),
    Shared(Weak<dyn AnyBreaker>),
}

impl Place {
    /// A name made for a breaker here. A static's is kept for ever, as the
    /// static is, so that an error costs no reference count.
    fn name(&self, name: String) -> Name {
        match self {
            Self::Static(_) => Name::Static(name.leak()),
            Self::Shared(_) => Name::from(name),
        }
    }
}

static ENTRIES: RwLock<BTreeMap<Name, Entry>> = RwLock::new(BTreeMap::new());

/// Where a declared breaker stands, and where it was declared.
pub(crate) struct Declaration<C: 'static, P: 'static> {
    pub(crate) place: fn() -> &'static Breaker<C, P>,
    pub(crate) file: &'static str,
    pub(crate) line: u32,
}

/// How a breaker comes to the registry, and what it got there.
pub(crate) struct Listing<C: 'static, P: 'static> {
    kind: Kind<C, P>,
    listed: OnceLock<Listed>,
}

enum Kind<C: 'static, P: 'static> {
    Unlisted,
    Declared(Declaration<C, P>),
    Shared,
}

struct Listed {
    id: u64,
    /// `None` where the declared name stands.
    name: Option<Name>,
}

impl<C, P> Listing<C, P> {
    pub(crate) const fn unlisted() -> Self {
        Self {
            kind: Kind::Unlisted,
            listed: OnceLock::new(),
        }
    }

    pub(crate) const fn declared(declaration: Declaration<C, P>) -> Self {
        Self {
            kind: Kind::Declared(declaration),
            listed: OnceLock::new(),
        }
    }

    pub(crate) const fn shared() -> Self {
        Self {
            kind: Kind::Shared,
            listed: OnceLock::new(),
        }
    }

    pub(crate) fn name(&self) -> Option<&Name> {
        self.listed.get()?.name.as_ref()
    }

    /// Leaves the registry: the breaker is being dropped.
    pub(crate) fn leave(&mut self) {
        let (
            Kind::Shared,
            Some(Listed {
                id,
                name: Some(name),
            }),
        ) = (&self.kind, self.listed.get())
        else {
            return;
        };
        let mut entries = ENTRIES.write().unwrap_or_else(PoisonError::into_inner);
        if entries
            .get(name.as_str())
            .is_some_and(|entry| entry.id == *id)
        {
            entries.remove(name.as_str());
        }
    }
}

/// A number of the breaker's own, by which it is known to test scopes.
#[cfg(feature = "test-util")]
pub(crate) fn id_of<C, P>(breaker: &Breaker<C, P>) -> u64
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    listed(breaker, None).id
}

/// Enters a declared breaker at its first call. One branch at all others.
#[inline]
pub(crate) fn enter<C, P>(breaker: &Breaker<C, P>)
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    if breaker.listing().listed.get().is_none() {
        listed(breaker, None);
    }
}

/// [`enter`], and the default name gets the type that the function belongs to.
#[inline]
pub(crate) fn enter_method<C, P>(
    breaker: &Breaker<C, P>,
    type_name: fn() -> &'static str,
    function: &str,
) where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    if breaker.listing().listed.get().is_none() {
        let type_name = type_name();
        let type_name = type_name
            .split_once('<')
            .map_or(type_name, |(path, _)| path);
        listed(breaker, Some(format!("{type_name}::{function}")));
    }
}

#[cold]
fn listed<C, P>(breaker: &Breaker<C, P>, name: Option<String>) -> &Listed
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    let listing = breaker.listing();
    listing.listed.get_or_init(|| match &listing.kind {
        Kind::Declared(Declaration { place, file, line }) => {
            let place = Place::Static(place());
            let wanted = match name {
                Some(name) => place.name(name),
                None => breaker.declared_name().clone(),
            };
            list(&wanted, file, *line, place)
        }
        // A shared one is listed as it is made.
        Kind::Unlisted | Kind::Shared => Listed {
            id: next_id(),
            name: None,
        },
    })
}

#[track_caller]
pub(crate) fn enter_shared<C, P>(breaker: &Arc<Breaker<C, P>>)
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    let weak = Arc::downgrade(breaker);
    let caller = Location::caller();
    breaker.listing().listed.get_or_init(|| {
        list(
            breaker.declared_name(),
            caller.file(),
            caller.line(),
            Place::Shared(weak),
        )
    });
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Enters a breaker by the name it wants, or, where that is taken, the name
/// with its place, or, where that is taken too, with a number.
fn list(wanted: &Name, file: &str, line: u32, place: Place) -> Listed {
    let id = next_id();
    let mut entries = ENTRIES.write().unwrap_or_else(PoisonError::into_inner);
    let name = if !entries.contains_key(wanted.as_str()) {
        wanted.clone()
    } else {
        let wanted = wanted.as_str();
        let placed = format!("{wanted}@{file}:{line}");
        let free = if entries.contains_key(placed.as_str()) {
            format!("{placed}#{id}")
        } else {
            placed
        };
        place.name(free)
    };
    entries.insert(name.clone(), Entry { id, place });
    Listed {
        id,
        name: Some(name),
    }
}
