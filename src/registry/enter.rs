//! How a breaker, or breakers by key, come to the registry, and leave it.

use super::any::AnyBreaker;
use super::any_keyed::AnyKeyed;
use super::book::{Here, here};
use super::held::Kept;
use super::names::What;
use super::origin::Place;
use crate::breaker::Breaker;
use crate::keyed::KeyedBreakers;
use crate::name::Name;
use breaker_core::{Clock, Policy};
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Where a declared breaker stands (or breakers by key), and where it was declared.
pub(crate) struct Declaration<T: 'static> {
    pub(crate) place: fn() -> &'static T,
    pub(crate) file: &'static str,
    pub(crate) line: u32,
}

impl<T> Declaration<T> {
    fn declared_at(&self) -> Place {
        let (file, line) = (self.file, self.line);
        Place { file, line }
    }
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

struct Listed {
    id: u64,
    /// `None` where the declared name stands.
    name: Option<Name>,
    home: Home,
}

/// Whose book it is in.
enum Home {
    Process,
    #[cfg(feature = "test-util")]
    Scope(crate::test::WeakScope),
}

impl Home {
    fn of(here: &Here) -> Self {
        match here {
            Here::Process => Self::Process,
            #[cfg(feature = "test-util")]
            Here::Scope(scope) => Self::Scope(scope.downgrade()),
        }
    }

    /// `None`: the scope has ended.
    fn here(&self) -> Option<Here> {
        match self {
            Self::Process => Some(Here::Process),
            #[cfg(feature = "test-util")]
            Self::Scope(scope) => scope.upgrade().map(Here::Scope),
        }
    }
}

impl<T> Listing<T> {
    pub(crate) const fn unlisted() -> Self {
        Self::of(Kind::Unlisted)
    }

    pub(crate) const fn declared(declaration: Declaration<T>) -> Self {
        Self::of(Kind::Declared(declaration))
    }

    pub(crate) const fn shared() -> Self {
        Self::of(Kind::Shared)
    }

    const fn of(kind: Kind<T>) -> Self {
        Self {
            kind,
            listed: OnceLock::new(),
        }
    }

    pub(crate) fn name(&self) -> Option<&Name> {
        self.listed.get()?.name.as_ref()
    }

    /// Leaves the registry: what is listed is being dropped.
    pub(crate) fn leave(&mut self) {
        if let (Kind::Shared, Some(listed)) = (&self.kind, self.listed.get())
            && let (Some(name), Some(here)) = (&listed.name, listed.home.here())
        {
            here.change_names().leave(name.as_str(), listed.id);
        }
    }

    /// A call in a test scope uses it.
    #[cfg(feature = "test-util")]
    pub(crate) fn note_in(&self, scope: &crate::test::Scope) {
        if let Some(listed) = self.listed.get()
            && let Some(name) = &listed.name
        {
            scope.book().note(name.as_str(), listed.id);
        }
    }
}

/// What can be listed.
trait Listable: Sized + 'static {
    fn listing(&self) -> &Listing<Self>;
    fn declared_name(&self) -> &Name;
    fn kept(kept: Kept<Self>) -> What;
}

impl<C, P> Listable for Breaker<C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    fn listing(&self) -> &Listing<Self> {
        self.listing()
    }

    fn declared_name(&self) -> &Name {
        self.declared_name()
    }

    fn kept(kept: Kept<Self>) -> What {
        What::One(match kept {
            Kept::Static(breaker) => Kept::Static(breaker),
            Kept::Shared(breaker) => Kept::Shared(breaker as Weak<dyn AnyBreaker>),
        })
    }
}

impl<O, C, P> Listable for KeyedBreakers<O, C, P>
where
    Self: AnyKeyed,
{
    fn listing(&self) -> &Listing<Self> {
        self.listing()
    }

    fn declared_name(&self) -> &Name {
        self.declared_name()
    }

    fn kept(kept: Kept<Self>) -> What {
        What::Keyed(match kept {
            Kept::Static(keyed) => Kept::Static(keyed),
            Kept::Shared(keyed) => Kept::Shared(keyed as Weak<dyn AnyKeyed>),
        })
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
        enter_declared(breaker, None);
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
        enter_declared(breaker, Some(method_name(type_name, function)));
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
fn enter_declared<C, P>(breaker: &Breaker<C, P>, name: Option<String>)
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    let listing = breaker.listing();
    match &listing.kind {
        Kind::Declared(declaration) => {
            let kept = Kept::Static((declaration.place)());
            list(
                breaker,
                name,
                declaration.declared_at(),
                kept,
                Here::Process,
            );
        }
        // A shared one is listed as it is made.
        Kind::Unlisted | Kind::Shared => {
            listing.listed.get_or_init(|| Listed {
                id: next_id(),
                name: None,
                home: Home::Process,
            });
        }
    }
}

#[track_caller]
pub(crate) fn enter_shared<C, P>(breaker: &Arc<Breaker<C, P>>)
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    list_shared(breaker);
}

#[track_caller]
pub(crate) fn enter_shared_keyed<O, C, P>(keyed: &Arc<KeyedBreakers<O, C, P>>)
where
    KeyedBreakers<O, C, P>: AnyKeyed,
{
    list_shared(keyed);
}

#[track_caller]
fn list_shared<T: Listable>(shared: &Arc<T>) {
    let caller = Location::caller();
    let place = Place {
        file: caller.file(),
        line: caller.line(),
    };
    let kept = Kept::Shared(Arc::downgrade(shared));
    list(&**shared, None, place, kept, here());
}

/// Enters declared breakers by key at their first call.
#[inline]
pub(crate) fn enter_keyed<O, C, P>(keyed: &KeyedBreakers<O, C, P>)
where
    KeyedBreakers<O, C, P>: AnyKeyed,
{
    let listing = keyed.listing();
    if let Kind::Declared(declaration) = &listing.kind
        && listing.listed.get().is_none()
    {
        let (keyed, place) = ((declaration.place)(), declaration.declared_at());
        enter_static_keyed(keyed, place.file, place.line);
    }
}

/// Enters breakers by key that stand where they are for ever.
#[cold]
pub(crate) fn enter_static_keyed<O, C, P>(
    keyed: &'static KeyedBreakers<O, C, P>,
    file: &'static str,
    line: u32,
) where
    KeyedBreakers<O, C, P>: AnyKeyed,
{
    let place = Place { file, line };
    list(keyed, None, place, Kept::Static(keyed), Here::Process);
}

/// Enters it, unless another thread was quicker.
fn list<T: Listable>(it: &T, name: Option<String>, place: Place, kept: Kept<T>, here: Here) {
    let (what, listed) = (T::kept(kept), &it.listing().listed);
    let mut names = here.change_names();
    if listed.get().is_some() {
        return;
    }
    let wanted = match name {
        Some(name) => what.name(name),
        None => it.declared_name().clone(),
    };
    let id = next_id();
    let name = names.list(id, &wanted, place, what);
    // Still locked: who finds it by its name finds it with its name.
    let _ = listed.set(Listed {
        id,
        name: Some(name),
        home: Home::of(&here),
    });
}

pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
