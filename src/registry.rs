//! Every breaker of the process, by name.

use crate::breaker::Breaker;
use crate::keyed::{KeyedBreaker, KeyedBreakers};
use crate::name::{KeyLabel, Name};
use breaker_core::{Change, Clock, Config, Generation, Policy, Snapshot, SnapshotError, State};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
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
///
/// Inside a test scope, shared breakers that were made in it are found first.
#[must_use]
pub fn find(name: &str) -> Option<Found> {
    #[cfg(feature = "test-util")]
    if let Some(found) = crate::test::current().and_then(|scope| find_among(|| scope.names(), name))
    {
        return Some(found);
    }
    find_among(names, name)
}

/// By name, or by name and key: `hosts[a.example]`. Either may have brackets in it.
///
/// The names are locked only to look: a key's label is the user's code, and the
/// last that has breakers may be this one, when it drops them.
fn find_among<N>(names: impl Fn() -> N, name: &str) -> Option<Found>
where
    N: Deref<Target = Names>,
{
    let found = names().find(name);
    if found.is_some() {
        return found;
    }
    let name = name.strip_suffix(']')?;
    name.match_indices('[').find_map(|(at, _)| {
        let keyed = names().find_keyed(&name[..at]);
        keyed?.find(&name[at + 1..])
    })
}

/// The breakers by key of that name, if they are known: those of an attribute
/// with `key` from the first call on, those of
/// [`KeyedBreakers::shared`](crate::KeyedBreakers::shared) until they are dropped.
///
/// ```
/// use breakerbox::{CallError, circuit_breaker};
///
/// #[circuit_breaker(name = "rates", key = host)]
/// fn rates(host: &str) -> Result<u32, CallError<&'static str>> {
///     Ok(7)
/// }
///
/// # let _scope = breakerbox::test::scope();
/// assert!(breakerbox::find_keyed("rates").is_none());
/// let _ = rates("a.example");
/// let hosts = breakerbox::find_keyed("rates").unwrap();
/// assert_eq!(hosts.len(), 1);
/// for host in hosts.breakers() {
///     println!("{}: {}", host.key().unwrap(), host.state());
/// }
/// ```
#[must_use]
pub fn find_keyed(name: &str) -> Option<FoundKeyed> {
    #[cfg(feature = "test-util")]
    if let Some(found) = crate::test::current().and_then(|scope| scope.names().find_keyed(name)) {
        return Some(found);
    }
    names().find_keyed(name)
}

/// Breakers by key that [`find_keyed`] found. Keeps shared ones alive.
pub struct FoundKeyed(KeyedHandle);

enum KeyedHandle {
    Static(&'static dyn AnyKeyed),
    Shared(Arc<dyn AnyKeyed>),
}

impl FoundKeyed {
    fn keyed(&self) -> &dyn AnyKeyed {
        match &self.0 {
            KeyedHandle::Static(keyed) => *keyed,
            KeyedHandle::Shared(keyed) => &**keyed,
        }
    }

    /// The name, without a key.
    #[must_use]
    pub fn name(&self) -> &str {
        self.keyed().name()
    }

    /// The configuration of each breaker.
    #[must_use]
    pub fn config(&self) -> &Config {
        self.keyed().config()
    }

    /// How many keys are kept at most.
    #[must_use]
    pub fn max_keys(&self) -> usize {
        self.keyed().max_keys()
    }

    /// How many keys are kept now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keyed().len()
    }

    /// Whether no key is kept now.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The breakers of all keys that are kept now, in no order.
    #[must_use]
    pub fn breakers(&self) -> Vec<Found> {
        let found = |breaker| Found(Handle::Shared(breaker));
        self.keyed().any_breakers().into_iter().map(found).collect()
    }

    /// The breaker of the key with this label; of one of them, if several keys
    /// have it.
    #[must_use]
    pub fn find(&self, label: &str) -> Option<Found> {
        let breaker = self.keyed().find(label)?;
        Some(Found(Handle::Shared(breaker)))
    }
}

impl fmt::Debug for FoundKeyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoundKeyed")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

/// Breakers by key, of whatever key, clock and policy.
pub(crate) trait AnyKeyed: Send + Sync {
    fn name(&self) -> &str;
    fn config(&self) -> &Config;
    fn max_keys(&self) -> usize;
    fn len(&self) -> usize;
    fn any_breakers(&self) -> Vec<Arc<dyn AnyBreaker>>;
    fn find(&self, label: &str) -> Option<Arc<dyn AnyBreaker>>;
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
impl<O, C, P> sealed::Sealed for KeyedBreaker<O, C, P> {}

/// A breaker of whatever clock and policy, or that of a key: what an operator can
/// do with it. Each method is that of [`Breaker`]. Sealed.
pub trait AnyBreaker: sealed::Sealed + Send + Sync {
    /// See [`Breaker::name`].
    fn name(&self) -> &str;
    /// The key, of the breaker of one.
    fn key(&self) -> Option<KeyLabel<'_>> {
        None
    }
    /// See [`Breaker::state`].
    fn state(&self) -> State;
    /// See [`Breaker::generation`].
    fn generation(&self) -> Generation;
    /// See [`Breaker::config`].
    fn config(&self) -> &Config;
    /// See [`Breaker::snapshot`].
    fn snapshot(&self) -> Snapshot;
    /// See [`Breaker::restore`].
    ///
    /// # Errors
    /// [`SnapshotError`] for nonsense; the breaker stays as it was.
    fn restore(&self, snapshot: &Snapshot) -> Result<Change, SnapshotError>;
    /// See [`Breaker::close`].
    fn close(&self) -> Change;
    /// See [`Breaker::clear`].
    fn clear(&self) -> Change;
    /// See [`Breaker::force_open`].
    fn force_open(&self) -> Change;
    /// See [`Breaker::disable`].
    fn disable(&self) -> Change;
    /// See [`Breaker::shadow`].
    fn shadow(&self) -> Change;
    /// See [`Breaker::open_for`].
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
    StaticKeyed(&'static dyn AnyKeyed),
    SharedKeyed(Weak<dyn AnyKeyed>),
}

impl Place {
    /// A name made for a breaker here. A static's is kept for ever, as the
    /// static is, so that an error costs no reference count.
    fn name(&self, name: String) -> Name {
        match self {
            Self::Static(_) | Self::StaticKeyed(_) => Name::Static(name.leak()),
            Self::Shared(_) | Self::SharedKeyed(_) => Name::from(name),
        }
    }
}

/// Breakers by name.
#[derive(Default)]
pub(crate) struct Names {
    entries: BTreeMap<String, Entry>,
}

/// Those of the process.
static NAMES: RwLock<Names> = RwLock::new(Names {
    entries: BTreeMap::new(),
});

impl Names {
    pub(crate) fn find(&self, name: &str) -> Option<Found> {
        Some(Found(match &self.entries.get(name)?.place {
            Place::Static(breaker) => Handle::Static(*breaker),
            Place::Shared(breaker) => Handle::Shared(breaker.upgrade()?),
            Place::StaticKeyed(_) | Place::SharedKeyed(_) => return None,
        }))
    }

    pub(crate) fn find_keyed(&self, name: &str) -> Option<FoundKeyed> {
        Some(FoundKeyed(match &self.entries.get(name)?.place {
            Place::StaticKeyed(keyed) => KeyedHandle::Static(*keyed),
            Place::SharedKeyed(keyed) => KeyedHandle::Shared(keyed.upgrade()?),
            Place::Static(_) | Place::Shared(_) => return None,
        }))
    }

    /// A breaker that is just being dropped has left its name.
    fn is_taken(&self, name: &str) -> bool {
        self.entries
            .get(name)
            .is_some_and(|entry| match &entry.place {
                Place::Static(_) | Place::StaticKeyed(_) => true,
                Place::Shared(breaker) => breaker.strong_count() > 0,
                Place::SharedKeyed(keyed) => keyed.strong_count() > 0,
            })
    }

    /// Enters a breaker by the name it wants, or, where that is taken, the name
    /// with its place, or, where that is taken too, with a number.
    fn list(&mut self, wanted: &Name, file: &str, line: u32, place: Place) -> Listed {
        let id = next_id();
        let name = if self.is_taken(wanted.as_str()) {
            let wanted = wanted.as_str();
            let placed = format!("{wanted}@{file}:{line}");
            let free = if self.is_taken(&placed) {
                format!("{placed}#{id}")
            } else {
                placed
            };
            place.name(free)
        } else {
            wanted.clone()
        };
        self.entries
            .insert(name.as_str().to_owned(), Entry { id, place });
        Listed {
            id,
            name: Some(name),
        }
    }

    fn leave(&mut self, name: &str, id: u64) {
        if self.entries.get(name).is_some_and(|entry| entry.id == id) {
            self.entries.remove(name);
        }
    }
}

/// Where a declared breaker stands (or breakers by key), and where it was declared.
pub(crate) struct Declaration<T: 'static> {
    pub(crate) place: fn() -> &'static T,
    pub(crate) file: &'static str,
    pub(crate) line: u32,
}

/// How a breaker, or breakers by key, come to the registry, and what they got
/// there.
pub(crate) struct Listing<T: 'static> {
    kind: Kind<T>,
    listed: OnceLock<Listed>,
}

enum Kind<T: 'static> {
    Unlisted,
    Declared(Declaration<T>),
    Shared,
}

pub(crate) struct Listed {
    id: u64,
    /// `None` where the declared name stands.
    name: Option<Name>,
}

impl Listed {
    pub(crate) fn name(&self) -> Option<&Name> {
        self.name.as_ref()
    }

    /// Leaves the registry.
    pub(crate) fn leave(&self) {
        if let Some(name) = &self.name {
            process_names().leave(name.as_str(), self.id);
        }
    }
}

impl<T> Listing<T> {
    pub(crate) const fn unlisted() -> Self {
        Self {
            kind: Kind::Unlisted,
            listed: OnceLock::new(),
        }
    }

    pub(crate) const fn declared(declaration: Declaration<T>) -> Self {
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
        self.listed.get()?.name()
    }

    /// Leaves the registry: what is listed is being dropped.
    pub(crate) fn leave(&mut self) {
        if let (Kind::Shared, Some(listed)) = (&self.kind, self.listed.get()) {
            listed.leave();
        }
    }
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
        listed(breaker, Some(method_name(type_name, function)));
    }
}

/// The default name of a method's breaker: the type's without its arguments, and
/// the method's.
pub(crate) fn method_name(type_name: fn() -> &'static str, function: &str) -> String {
    let type_name = type_name();
    let type_name = type_name
        .split_once('<')
        .map_or(type_name, |(path, _)| path);
    format!("{type_name}::{function}")
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
            process_names().list(&wanted, file, *line, place)
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
    let place = Place::Shared(Arc::downgrade(breaker) as Weak<dyn AnyBreaker>);
    let (wanted, caller) = (breaker.declared_name(), Location::caller());
    breaker
        .listing()
        .listed
        .get_or_init(|| list_shared(wanted, caller, place));
}

#[track_caller]
pub(crate) fn enter_shared_keyed<O, C, P>(keyed: &Arc<KeyedBreakers<O, C, P>>)
where
    KeyedBreakers<O, C, P>: AnyKeyed,
{
    let place = Place::SharedKeyed(Arc::downgrade(keyed) as Weak<dyn AnyKeyed>);
    let (wanted, caller) = (keyed.declared_name(), Location::caller());
    keyed
        .listing()
        .listed
        .get_or_init(|| list_shared(wanted, caller, place));
}

fn list_shared(wanted: &Name, caller: &Location<'_>, place: Place) -> Listed {
    let (file, line) = (caller.file(), caller.line());
    #[cfg(feature = "test-util")]
    if let Some(scope) = crate::test::current() {
        return scope.names().list(wanted, file, line, place);
    }
    process_names().list(wanted, file, line, place)
}

/// Enters declared breakers by key at their first call.
#[inline]
pub(crate) fn enter_keyed<O, C, P>(keyed: &KeyedBreakers<O, C, P>)
where
    KeyedBreakers<O, C, P>: AnyKeyed,
{
    let listing = keyed.listing();
    if let Kind::Declared(Declaration { place, file, line }) = &listing.kind
        && listing.listed.get().is_none()
    {
        enter_static_keyed(place(), file, *line);
    }
}

/// Enters breakers by key that stand where they are for ever.
#[cold]
pub(crate) fn enter_static_keyed<O, C, P>(
    keyed: &'static KeyedBreakers<O, C, P>,
    file: &str,
    line: u32,
) where
    KeyedBreakers<O, C, P>: AnyKeyed,
{
    keyed.listing().listed.get_or_init(|| {
        let (wanted, place) = (keyed.declared_name(), Place::StaticKeyed(keyed));
        process_names().list(wanted, file, line, place)
    });
}

fn names() -> RwLockReadGuard<'static, Names> {
    NAMES.read().unwrap_or_else(PoisonError::into_inner)
}

fn process_names() -> RwLockWriteGuard<'static, Names> {
    NAMES.write().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
