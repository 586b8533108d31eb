//! One breaker per key.

#[cfg(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
mod by_default;
#[cfg(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
mod declared;
mod entry;
mod key;
mod map;
mod one;

pub use key::Key;
pub use one::KeyedBreaker;

#[cfg(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
pub use declared::Declared;

use crate::bound::Bound;
use crate::breaker::Breaker;
use crate::clock::DefaultClock;
use crate::link::{self, AlreadyLinked, Link};
use crate::name::{KeyLabel, Name};
use crate::notify::Audience;
use crate::observe::CircuitId;
use crate::reconfigure::one_at_a_time;
use crate::registry::{AnyBreaker, AnyKeyed, Declaration, Listing, NewKey};
use breaker_core::{
    Circuit, Clock, Config, ConfigError, Consecutive, Overrides, Policy, RateConfig,
    Reconfiguration, ReconfigureError, Sliding,
};
use core::fmt;
use entry::Group;
use map::{Added, Kept, Map};
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, OnceLock};

/// How many keys are kept where nothing else is said: 10,000.
pub const DEFAULT_MAX_KEYS: u32 = 10_000;

/// One breaker per key, made when the key is seen for the first time: for calls
/// that go to several hosts, accounts or regions, of which one may be down and
/// the others not.
///
/// ```
/// use breakerbox::{CallError, KeyedBreakers, Settings, State};
///
/// static HOSTS: KeyedBreakers<String> =
///     KeyedBreakers::new("hosts", Settings::new().threshold(1).must()).max_keys(1_000);
///
/// let failed = HOSTS.get("a.example").call_sync(|| Err::<(), _>("no answer"));
/// assert_eq!(failed, Err(CallError::Call("no answer")));
/// assert_eq!(HOSTS.get("a.example").state(), State::Open);
/// assert_eq!(HOSTS.get("b.example").state(), State::Closed);
///
/// let refused = HOSTS.get("a.example").admit().unwrap_err();
/// assert_eq!(refused.name(), "hosts");
/// assert_eq!(refused.key().unwrap().to_string(), "a.example");
/// ```
///
/// # Which keys are kept
/// At most [`max_keys`](Self::max_keys), 10,000 if nothing is said. Where a new
/// one needs the place of another, that is one whose breaker is closed and not in
/// use, that is, nobody has it, nor a permit, a guarded future or an error of it.
/// Rather one that was not used lately, and of which no failure is counted.
/// Observers are told ([`key_evicted`](crate::observe::Observer::key_evicted)). A
/// breaker that is open is never given up, nor one that an operator set: where
/// all that were looked at are such or in use, the new key's calls are made, but
/// what comes of them is not remembered, and observers are told that too
/// ([`keys_full`](crate::observe::Observer::keys_full)).
///
/// A key takes 40 bytes of state, itself, and its place in the table: some 80
/// bytes for a number, some 110 for a text of 16 letters (by rate, the window
/// besides). A known key is found without allocating.
///
/// A test scope (`breakerbox::test::scope`) has keys of its own, none at first, room for
/// as many, and the declared configuration. A [`KeyedBreaker`] belongs to the scope that it was got in,
/// wherever it is used.
///
/// `O` is the key as it is kept: [`Key::Owned`]. All text is kept as [`String`].
pub struct KeyedBreakers<O, C = DefaultClock, P = Consecutive>
where
    O: 'static,
    C: 'static,
    P: 'static,
{
    name: Name,
    keys: Keys<O, C, P>,
    clock: C,
    max_keys: u32,
    listing: Listing<Self>,
    /// What they are shared through; that of the group, once there is one.
    link: link::Slot,
    #[cfg(feature = "test-util")]
    id: OnceLock<u64>,
}

/// The keys of the process, or those of a test scope.
struct Keys<O, C: 'static, P: 'static> {
    /// What they have their configuration of, until there are any. Never used itself.
    circuit: Circuit<P>,
    /// Made when the first key is seen. From then on the circuits look at its group's
    /// configuration, which is kept the same.
    map: OnceLock<Map<O, C, P>>,
}

impl<O, C, P> Keys<O, C, P> {
    const fn none(circuit: Circuit<P>) -> Self {
        Self {
            circuit,
            map: OnceLock::new(),
        }
    }
}

impl<O, C, P: Policy> Keys<O, C, P> {
    fn reconfigure(&self, overrides: &Overrides) -> Result<Reconfiguration, ReconfigureError> {
        one_at_a_time(|| {
            let changed = self.circuit.reconfigure(overrides)?;
            self.lay_over_group(overrides)?;
            Ok(changed)
        })
    }

    fn clear_overrides(&self) -> Option<Reconfiguration> {
        one_at_a_time(|| {
            let changed = self.circuit.clear_overrides();
            // What lies over nothing is never refused.
            let _ = self.lay_over_group(&Overrides::new());
            changed
        })
    }

    fn lay_over_group(&self, overrides: &Overrides) -> Result<(), ReconfigureError> {
        match self.map.get() {
            Some(map) => map.group().reconfigure(overrides),
            None => Ok(()),
        }
    }
}

impl<O, C> KeyedBreakers<O, C> {
    /// Breakers by hand, with a clock of one's own. They do not enter the
    /// registry: [`find`](crate::find) does not know them.
    #[must_use]
    pub const fn with_clock(name: &'static str, config: Config, clock: C) -> Self {
        Self::by_hand(Name::Static(name), Circuit::new(config), clock)
    }

    /// A `static` by hand, with a clock of one's own, that enters the registry at
    /// its first call, as those of an attribute with `key` do. `place` gives the
    /// static itself.
    ///
    /// ```
    /// use breakerbox::{Config, ExactClock, KeyedBreakers};
    ///
    /// static HOSTS: KeyedBreakers<String, ExactClock> =
    ///     KeyedBreakers::declared_with_clock("exact-hosts", Config::DEFAULT, ExactClock, || &HOSTS)
    ///         .max_keys(1_000);
    /// assert!(HOSTS.get("a.example").admit().is_ok());
    /// assert!(breakerbox::find("exact-hosts[a.example]").is_some());
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
        let listing = Listing::declared(Declaration {
            place,
            file: declared.file(),
            line: declared.line(),
        });
        Self::listed(listing, Name::Static(name), Circuit::new(config), clock)
    }
}

impl<O, C> KeyedBreakers<O, C>
where
    O: Send + Sync,
    C: Clock + Clone + Send + Sync,
{
    /// [`shared`](KeyedBreakers::shared) with a clock of one's own.
    ///
    /// # Errors
    /// [`ConfigError::ZeroMaxKeys`].
    #[track_caller]
    pub fn shared_with_clock(
        name: impl Into<String>,
        config: Config,
        clock: C,
        max_keys: u32,
    ) -> Result<Arc<Self>, ConfigError> {
        Self::share(name.into(), Circuit::new(config), clock, max_keys)
    }
}

impl<O, C, const SLOTS: usize> KeyedBreakers<O, C, Sliding<SLOTS>> {
    /// Breakers by hand that trip by rate, with a clock of one's own. They do not
    /// enter the registry: [`find`](crate::find) does not know them.
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
            Ok(circuit) => Ok(Self::by_hand(Name::Static(name), circuit, clock)),
        }
    }
}

impl<O, C, P> KeyedBreakers<O, C, P> {
    const fn by_hand(name: Name, circuit: Circuit<P>, clock: C) -> Self {
        Self::listed(Listing::unlisted(), name, circuit, clock)
    }

    const fn listed(listing: Listing<Self>, name: Name, circuit: Circuit<P>, clock: C) -> Self {
        Self {
            name,
            keys: Keys::none(circuit),
            clock,
            max_keys: DEFAULT_MAX_KEYS,
            listing,
            link: link::Slot::empty(),
            #[cfg(feature = "test-util")]
            id: OnceLock::new(),
        }
    }

    /// How many keys are kept at most.
    ///
    /// # Panics
    /// If it is 0. In a `const` or `static` that is an error of the compiler.
    #[must_use]
    pub const fn max_keys(mut self, max_keys: u32) -> Self {
        assert!(max_keys > 0, "{}", ConfigError::ZeroMaxKeys.message());
        self.max_keys = max_keys;
        self
    }

    pub(crate) fn label(&self) -> &Name {
        self.listing.name().unwrap_or(&self.name)
    }

    pub(crate) fn listing(&self) -> &Listing<Self> {
        &self.listing
    }

    /// The name that was asked for.
    pub(crate) fn declared_name(&self) -> &Name {
        &self.name
    }

    /// The name in errors, events and the registry, without a key.
    #[must_use]
    pub fn name(&self) -> &str {
        self.label().as_str()
    }
}

impl<O, C, P> KeyedBreakers<O, C, P>
where
    O: Send + Sync,
    C: Clock + Clone + Send + Sync,
    P: Policy + Send + Sync,
{
    #[track_caller]
    fn share(
        name: String,
        circuit: Circuit<P>,
        clock: C,
        max_keys: u32,
    ) -> Result<Arc<Self>, ConfigError> {
        if max_keys == 0 {
            return Err(ConfigError::ZeroMaxKeys);
        }
        let mut breakers = Self::listed(Listing::shared(), Name::from(name), circuit, clock);
        breakers.max_keys = max_keys;
        let breakers = Arc::new(breakers);
        crate::registry::enter_shared_keyed(&breakers);
        Ok(breakers)
    }

    /// The breaker of a key.
    #[inline]
    pub fn get<K: Key<Owned = O> + ?Sized>(&self, key: &K) -> KeyedBreaker<O, C, P> {
        crate::registry::enter_keyed(self);
        self.get_from(self.map(K::label), key)
    }

    /// The breaker of a key, from this map or, in a test scope, from the scope's.
    #[inline]
    fn get_from<K: Key<Owned = O> + ?Sized>(
        &self,
        map: &Map<O, C, P>,
        key: &K,
    ) -> KeyedBreaker<O, C, P> {
        #[cfg(feature = "test-util")]
        if let Some(scope) = crate::test::current() {
            crate::registry::arrive_keyed_in(&scope, self);
            let keys = self.keys_in(&scope);
            return Self::find_or_add(self.map_of(&keys, K::label), key, Some(scope));
        }
        Self::find_or_add(map, key, None)
    }

    /// Out of line, so that it is once in a program for each kind of key, and what it
    /// keeps in registers costs an annotated function none of its own.
    #[inline(never)]
    fn find_or_add<K: Key<Owned = O> + ?Sized>(
        map: &Map<O, C, P>,
        key: &K,
        scope: ScopeOf,
    ) -> KeyedBreaker<O, C, P> {
        let hash = map.hash(key);
        match map.find(key, hash) {
            Some(entry) => KeyedBreaker::new(entry, scope),
            None => Self::add_to(map, key, hash, scope),
        }
    }

    #[cold]
    fn add_to<K: Key<Owned = O> + ?Sized>(
        map: &Map<O, C, P>,
        key: &K,
        hash: u32,
        scope: ScopeOf,
    ) -> KeyedBreaker<O, C, P> {
        let audience = audience(&scope);
        let mut new = new_key(&scope);
        let restore = |entry: &Arc<_>| {
            let breaker = KeyedBreaker::new(Arc::clone(entry), scope.clone());
            let bound = Bound::new(&breaker);
            new.take_state(&breaker.full_name(), |state| bound.restore_quietly(state));
        };
        let Added { entry, kept } = map.add(key, hash, restore, |evicted| {
            let breaker = KeyedBreaker::new(evicted, scope.clone());
            Bound::new(&breaker).lent().tell_link_that_given_up();
            audience.key_evicted(&breaker.full_name(), breaker.circuit_id());
        });
        let breaker = KeyedBreaker::new(entry, scope.clone());
        match kept {
            Kept::ByAnother => {}
            Kept::Now => {
                // Who gives them a link either finds this key, or is seen here.
                fence(Ordering::SeqCst);
                Bound::new(&breaker).lent().tell_link_of_key();
                let key = KeyLabel::of(breaker.of_key());
                if let Some(change) = new.kept(breaker.name(), key) {
                    Bound::new(&breaker).lent().tell_change(&change);
                }
            }
            Kept::Not => audience.keys_full(&breaker.full_name(), breaker.circuit_id()),
        }
        breaker
    }

    #[inline]
    fn map(&self, label: entry::Label<O>) -> &Map<O, C, P> {
        self.map_of(&self.keys, label)
    }

    #[inline]
    fn map_of<'k>(&self, keys: &'k Keys<O, C, P>, label: entry::Label<O>) -> &'k Map<O, C, P> {
        match keys.map.get() {
            Some(map) => map,
            None => self.make_map(keys, label),
        }
    }

    #[cold]
    fn make_map<'k>(&self, keys: &'k Keys<O, C, P>, label: entry::Label<O>) -> &'k Map<O, C, P> {
        let (name, clock) = (self.label().clone(), self.clock.clone());
        let template = Breaker::unlisted_named(name, keys.circuit.fresh(), clock);
        let group = Arc::new(Group::new(template, label));
        // Nobody reconfigures between the look at the overrides and the moment from which on the
        // map is seen.
        one_at_a_time(|| {
            keys.map.get_or_init(|| {
                // What was not refused before isn't now.
                let _ = group.reconfigure(&keys.circuit.overrides());
                if std::ptr::eq(keys, &self.keys)
                    && let Some(link) = self.link.get()
                {
                    let _ = group.template.link_slot().fill(Arc::clone(link));
                }
                Map::new(Arc::clone(&group), self.max_keys)
            })
        })
    }

    #[cfg(feature = "test-util")]
    fn keys_in(&self, scope: &crate::test::Scope) -> Arc<Keys<O, C, P>> {
        let id = *self.id.get_or_init(crate::registry::next_id);
        scope.own(id, || Keys::none(self.keys.circuit.fresh()))
    }

    /// Those of the test scope around it, or of the process.
    fn with_keys<R>(&self, ask: impl FnOnce(&Keys<O, C, P>) -> R) -> R {
        #[cfg(feature = "test-util")]
        if let Some(scope) = crate::test::current() {
            return ask(&self.keys_in(&scope));
        }
        ask(&self.keys)
    }

    /// The configuration of each breaker that holds now: the declared one, or what
    /// [`reconfigure`](Self::reconfigure) made of it.
    #[must_use]
    pub fn config(&self) -> Config {
        self.with_keys(|keys| keys.circuit.config())
    }

    /// The configuration that was declared.
    #[must_use]
    pub fn declared(&self) -> &Config {
        self.keys.circuit.declared()
    }

    /// What lies over the declared configuration.
    pub fn overrides(&self) -> Overrides {
        self.with_keys(|keys| keys.circuit.overrides())
    }

    /// [`Breaker::reconfigure`], for the breakers of all keys, those that are known and those
    /// to come. One key has no configuration of its own.
    ///
    /// ```
    /// use breakerbox::{Config, KeyedBreakers, Overrides, ReconfigureError};
    ///
    /// static HOSTS: KeyedBreakers<String> = KeyedBreakers::new("hosts", Config::DEFAULT);
    ///
    /// let known = HOSTS.get("a.example");
    /// HOSTS.reconfigure(&Overrides::new().threshold(1))?;
    /// for host in [known, HOSTS.get("b.example")] {
    ///     let _ = host.call_sync(|| Err::<(), _>("no answer"));
    ///     assert!(host.admit().is_err());
    /// }
    /// # Ok::<(), ReconfigureError>(())
    /// ```
    ///
    /// # Errors
    /// [`ReconfigureError`], which says what to set instead. Nothing has changed.
    pub fn reconfigure(&self, overrides: &Overrides) -> Result<Reconfiguration, ReconfigureError> {
        let changed = self.reconfigure_quietly(overrides)?;
        self.tell_reconfigured(&changed);
        Ok(changed)
    }

    /// The configuration is again what was declared; the states stay as they are. `None`:
    /// nothing lay over it.
    pub fn clear_overrides(&self) -> Option<Reconfiguration> {
        let changed = self.with_keys(Keys::clear_overrides)?;
        self.tell_reconfigured(&changed);
        Some(changed)
    }

    /// [`Breaker::link`], of the breakers of all keys, those that are known and those to come.
    ///
    /// # Errors
    /// [`AlreadyLinked`]: they have one, and keep it.
    pub fn link(&self, link: Arc<dyn Link>) -> Result<(), AlreadyLinked> {
        crate::registry::enter_keyed(self);
        one_at_a_time(|| {
            self.link.fill(Arc::clone(&link))?;
            match self.keys.map.get() {
                Some(map) => map.group().template.link_slot().fill(link),
                None => Ok(()),
            }
        })?;
        fence(Ordering::SeqCst);
        let known = self.keys.map.get().map(Map::entries);
        for entry in known.unwrap_or_default() {
            let breaker = KeyedBreaker::new(entry, None);
            Bound::new(&breaker).lent().tell_link_of_key();
        }
        Ok(())
    }

    /// How many keys are kept now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.with_map(Map::len).unwrap_or(0)
    }

    /// Whether no key is kept now.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The breakers of all keys that are kept now, in no order.
    #[must_use]
    pub fn breakers(&self) -> Vec<KeyedBreaker<O, C, P>> {
        let scope = current_scope();
        self.with_map(Map::entries)
            .unwrap_or_default()
            .into_iter()
            .map(|entry| KeyedBreaker::new(entry, scope.clone()))
            .collect()
    }

    /// What a map says, if there is one yet.
    fn with_map<R>(&self, ask: impl FnOnce(&Map<O, C, P>) -> R) -> Option<R> {
        self.with_keys(|keys| keys.map.get().map(ask))
    }
}

/// The test scope that a key's breaker was got in.
#[cfg(feature = "test-util")]
type ScopeOf = Option<crate::test::Scope>;

/// The test scope that a key's breaker was got in: there is none.
#[cfg(not(feature = "test-util"))]
type ScopeOf = Option<NoScope>;

/// There is none.
#[cfg(not(feature = "test-util"))]
#[derive(Clone, Debug)]
enum NoScope {}

#[cfg(feature = "test-util")]
fn current_scope() -> ScopeOf {
    crate::test::current()
}

#[cfg(not(feature = "test-util"))]
fn current_scope() -> ScopeOf {
    None
}

#[cfg(feature = "test-util")]
fn new_key(scope: &ScopeOf) -> NewKey {
    NewKey::new(scope.as_ref())
}

#[cfg(not(feature = "test-util"))]
fn new_key(_: &ScopeOf) -> NewKey {
    NewKey::new()
}

#[cfg(feature = "test-util")]
fn audience(scope: &ScopeOf) -> Audience<'_> {
    match scope {
        Some(scope) => Audience::of_scope(scope),
        None => Audience::of_process(),
    }
}

#[cfg(not(feature = "test-util"))]
fn audience(_: &ScopeOf) -> Audience<'_> {
    Audience::of_process()
}

impl<O, C, P> AnyKeyed for KeyedBreakers<O, C, P>
where
    O: Send + Sync,
    C: Clock + Clone + Send + Sync,
    P: Policy + Send + Sync,
{
    fn name(&self) -> &str {
        Self::name(self)
    }

    fn config(&self) -> Config {
        Self::config(self)
    }

    fn declared(&self) -> &Config {
        Self::declared(self)
    }

    fn overrides(&self) -> Overrides {
        Self::overrides(self)
    }

    fn reconfigure_outside(&self, overrides: &Overrides) -> Result<(), ReconfigureError> {
        self.keys.reconfigure(overrides).map(drop)
    }

    fn reconfigure_quietly(
        &self,
        overrides: &Overrides,
    ) -> Result<Reconfiguration, ReconfigureError> {
        self.with_keys(|keys| keys.reconfigure(overrides))
    }

    fn tell_reconfigured(&self, change: &Reconfiguration) {
        let circuit = self.with_keys(|keys| keys.circuit.by_ref().identity());
        audience(&current_scope()).reconfigured(self.label(), CircuitId(circuit), change);
    }

    fn reconfigure(&self, overrides: &Overrides) -> Result<Reconfiguration, ReconfigureError> {
        Self::reconfigure(self, overrides)
    }

    fn clear_overrides(&self) -> Option<Reconfiguration> {
        Self::clear_overrides(self)
    }

    fn max_keys(&self) -> usize {
        self.max_keys as usize
    }

    fn len(&self) -> usize {
        Self::len(self)
    }

    fn any_breakers(&self) -> Vec<Arc<dyn AnyBreaker>> {
        let any = |breaker| Arc::new(breaker) as Arc<dyn AnyBreaker>;
        self.breakers().into_iter().map(any).collect()
    }

    fn find(&self, label: &str) -> Option<Arc<dyn AnyBreaker>> {
        let is = |breaker: &KeyedBreaker<O, C, P>| KeyLabel::of(breaker.of_key()).is(label);
        let found = self.breakers().into_iter().find(is)?;
        Some(Arc::new(found))
    }
}

impl<O, C, P> Drop for KeyedBreakers<O, C, P> {
    fn drop(&mut self) {
        self.listing.leave();
    }
}

impl<O, C, P> fmt::Debug for KeyedBreakers<O, C, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedBreakers")
            .field("name", self.label())
            .field("max_keys", &self.max_keys)
            .finish_non_exhaustive()
    }
}
