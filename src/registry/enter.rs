//! How a breaker, or breakers by key, come to the registry, and leave it.

use super::any::AnyBreaker;
use super::any_keyed::AnyKeyed;
use super::arrive::{Moment, refuse_unfit, take_state};
use super::book::{Here, Home, here};
use super::held::Kept;
use super::names::What;
use super::origin::Place;
use super::overrides::{Called, lay_over};
use super::watch::Happened;
use crate::bound::Bound;
use crate::breaker::Breaker;
use crate::keyed::KeyedBreakers;
use crate::name::Name;
#[cfg(feature = "test-util")]
use crate::subject::Subject;
use breaker_core::{Change, Clock, Config, Overrides, Policy, ReconfigureError};
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
            let mut names = here.change_names();
            let has_left = names.leave(name.as_str(), listed.id);
            let wake = has_left.then(|| here.watchers().tell(name.as_str(), None, Happened::Left));
            drop(names);
            drop(wake);
            if has_left {
                here.audience().left(name);
            }
        }
    }

    /// A call in a test scope uses it. If it is the first, and it is listed: its name, and the
    /// one it asked for.
    #[cfg(feature = "test-util")]
    fn note_in(&self, scope: &crate::test::Scope) -> Option<(&Name, Name)> {
        let listed = self.listed.get()?;
        let name = listed.name.as_ref()?;
        let wanted = scope.book().note(name.as_str(), listed.id)?;
        Some((name, wanted))
    }
}

/// What can be listed.
trait Listable: Sized + 'static {
    fn listing(&self) -> &Listing<Self>;
    fn declared_name(&self) -> &Name;
    fn kept(kept: Kept<Self>) -> What;

    /// Its clock's reading.
    fn moment(&self, here: &Here) -> Moment;

    fn declared(&self) -> &Config;

    /// Before its first call. Nothing of a user's runs.
    fn reconfigure_in(&self, here: &Here, overrides: &Overrides) -> Result<(), ReconfigureError>;

    /// Takes the state that waits for it, before its first call. Nothing of a user's runs.
    fn restore_in(&self, here: &Here, name: &Name, moment: &Moment) -> Option<Change>;

    /// Tells the observers what it took.
    fn announce(&self, here: &Here, change: &Change);
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

    fn moment(&self, here: &Here) -> Moment {
        match here {
            Here::Process => Moment::of(self.own_clock()),
            #[cfg(feature = "test-util")]
            Here::Scope(scope) => Moment::of(scope.clock()),
        }
    }

    fn declared(&self) -> &Config {
        self.declared()
    }

    fn reconfigure_in(&self, here: &Here, overrides: &Overrides) -> Result<(), ReconfigureError> {
        bound_in(here, self)
            .reconfigure_quietly(overrides)
            .map(drop)
    }

    fn restore_in(&self, here: &Here, name: &Name, moment: &Moment) -> Option<Change> {
        take_state(here, name.as_str(), |snapshot| match here {
            Here::Process => self.own_circuit().restore(snapshot, moment),
            #[cfg(feature = "test-util")]
            Here::Scope(_) => Bound::new(self).restore_quietly(snapshot),
        })
    }

    fn announce(&self, here: &Here, change: &Change) {
        bound_in(here, self).lent().tell_change(change);
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

    /// Their keys are only to come.
    fn moment(&self, here: &Here) -> Moment {
        Moment::of(&breaker_core::Reading(here.now()))
    }

    fn declared(&self) -> &Config {
        AnyKeyed::declared(self)
    }

    fn reconfigure_in(&self, here: &Here, overrides: &Overrides) -> Result<(), ReconfigureError> {
        match here {
            Here::Process => self.reconfigure_outside(overrides),
            #[cfg(feature = "test-util")]
            Here::Scope(_) => self.reconfigure_quietly(overrides).map(drop),
        }
    }

    fn restore_in(&self, here: &Here, name: &Name, _: &Moment) -> Option<Change> {
        refuse_unfit(here, name.as_str(), true);
        None
    }

    fn announce(&self, _: &Here, _: &Change) {}
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
    // Asked for at once only where it is wanted.
    let mut moment = None;
    let mut names = here.change_names();
    while here.waiting().are_any() && moment.is_none() {
        drop(names);
        moment = Some(it.moment(&here));
        names = here.change_names();
    }
    if listed.get().is_some() {
        return;
    }
    let wanted = match name {
        Some(name) => what.name(name),
        None => it.declared_name().clone(),
    };
    let id = next_id();
    let (name, one_is_gone) = names.list(id, &wanted, place, what);
    let tell = |happened| here.watchers().tell(name.as_str(), None, happened);
    let left = one_is_gone.then(|| tell(Happened::Left));
    let entered = tell(Happened::Entered);
    // Before anybody can call it. What is brought from now on finds it in the list.
    let called = Called::new(&name, &wanted);
    let reconfigure = |overrides: &Overrides| it.reconfigure_in(&here, overrides);
    let problem = lay_over(&here, it.declared(), &called, reconfigure);
    let change = moment.and_then(|moment| it.restore_in(&here, &name, &moment));
    // Still locked: who finds it by its name finds it with its name.
    let home = Home::of(&here);
    let name = Some(name);
    let _ = listed.set(Listed { id, name, home });
    drop(names);
    drop((left, entered, problem));
    if one_is_gone && let Some(name) = it.listing().name() {
        here.audience().left(name);
    }
    if let Some(change) = change {
        it.announce(&here, &change);
    }
}

fn bound_in<'b, C, P>(here: &Here, breaker: &'b Breaker<C, P>) -> Bound<&'b Breaker<C, P>>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    match here {
        Here::Process => Bound::of_process(breaker),
        #[cfg(feature = "test-util")]
        Here::Scope(_) => Bound::new(breaker),
    }
}

/// The first call of a breaker in a test scope: it takes what waits for it there.
#[cfg(feature = "test-util")]
pub(crate) fn arrive_in<S: Subject>(scope: &crate::test::Scope, bound: &Bound<S>) {
    let subject = bound.subject();
    let breaker = subject.breaker();
    let Some((name, wanted)) = breaker.listing().note_in(scope) else {
        return;
    };
    let here = Here::Scope(scope.clone());
    let called = Called::new(name, &wanted);
    let reconfigure = |overrides: &Overrides| bound.reconfigure_quietly(overrides).map(drop);
    drop(lay_over(&here, breaker.declared(), &called, reconfigure));
    if let Some(change) = take_state(&here, called.name, |state| bound.restore_quietly(state)) {
        bound.lent().tell_change(&change);
    }
}

/// [`arrive_in`] of breakers by key: their keys take their states as they come.
#[cfg(feature = "test-util")]
pub(crate) fn arrive_keyed_in<O, C, P>(scope: &crate::test::Scope, keyed: &KeyedBreakers<O, C, P>)
where
    KeyedBreakers<O, C, P>: AnyKeyed,
{
    let Some((name, wanted)) = keyed.listing().note_in(scope) else {
        return;
    };
    let here = Here::Scope(scope.clone());
    let called = Called::new(name, &wanted);
    let reconfigure = |overrides: &Overrides| keyed.reconfigure_quietly(overrides).map(drop);
    drop(lay_over(
        &here,
        AnyKeyed::declared(keyed),
        &called,
        reconfigure,
    ));
    refuse_unfit(&here, called.name, true);
}

pub(crate) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
