//! What the registry knows: of the process, and of each test scope.

use super::all::Registered;
use super::found::{Found, FoundKeyed};
use super::names::Names;
use super::overrides::LayersOfBook;
use super::problems::Problems;
use super::waiting::Waiting;
#[cfg(feature = "test-util")]
use super::watch::Happened;
use super::watch::Watchers;
use crate::name::Name;
use crate::notify::Audience;
use std::ops::Deref;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The breakers of the process, or those of a test scope.
///
/// No code of a user's runs while it is locked: a key's label, an observer, a clock, or
/// what a breaker drops.
pub(crate) struct Book {
    names: RwLock<Names>,
    watchers: Watchers,
    waiting: Waiting,
    problems: Problems,
    layers: LayersOfBook,
    /// In a test scope: breakers of the process that a call used in it.
    #[cfg(feature = "test-util")]
    called: RwLock<Names>,
}

/// That of the process.
static PROCESS: Book = Book::new();

impl Book {
    const fn new() -> Self {
        Self {
            names: RwLock::new(Names::new()),
            watchers: Watchers::new(),
            waiting: Waiting::new(),
            problems: Problems::new(),
            layers: LayersOfBook::new(),
            #[cfg(feature = "test-util")]
            called: RwLock::new(Names::new()),
        }
    }

    pub(super) fn names(&self) -> RwLockReadGuard<'_, Names> {
        read(&self.names)
    }

    pub(super) fn change_names(&self) -> RwLockWriteGuard<'_, Names> {
        self.names.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find(&self, name: &str) -> Option<Found> {
        let found = self.names().find(name);
        #[cfg(feature = "test-util")]
        let found = found.or_else(|| read(&self.called).find(name));
        found
    }

    pub(super) fn find_keyed(&self, name: &str) -> Option<FoundKeyed> {
        let found = self.names().find_keyed(name);
        #[cfg(feature = "test-util")]
        let found = found.or_else(|| read(&self.called).find_keyed(name));
        found
    }

    /// All of them, by name.
    pub(super) fn all(&self) -> Vec<Registered> {
        #[allow(unused_mut)]
        let mut all = self.names().all();
        #[cfg(feature = "test-util")]
        {
            let called = read(&self.called).all();
            if !called.is_empty() {
                all.extend(called);
                all.sort_by(|one, other| one.name().cmp(other.name()));
            }
        }
        all
    }

    /// All of them, each with the name it asked for. None may be dropped while anything is
    /// locked that a configuration locks.
    pub(super) fn listed(&self) -> Vec<(Registered, Name)> {
        #[allow(unused_mut)]
        let mut listed = self.names().all_as_asked();
        #[cfg(feature = "test-util")]
        listed.extend(read(&self.called).all_as_asked());
        listed
    }

    pub(super) fn listed_as(&self, name: &str) -> Option<(Registered, Name)> {
        let listed = self.names().as_asked(name);
        #[cfg(feature = "test-util")]
        let listed = listed.or_else(|| read(&self.called).as_asked(name));
        listed
    }

    pub(super) fn layers(&self) -> &LayersOfBook {
        &self.layers
    }

    pub(super) fn watchers(&self) -> &Watchers {
        &self.watchers
    }

    pub(super) fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    pub(super) fn problems(&self) -> &Problems {
        &self.problems
    }

    /// A call uses a breaker in this test scope that is another book's. If it is the first:
    /// the name it asked for.
    #[cfg(feature = "test-util")]
    pub(super) fn note(&self, name: &str, id: u64) -> Option<Name> {
        if read(&self.called).has(name, id) || self.names().has(name, id) {
            return None;
        }
        let entry = PROCESS.names().entry(name, id)?;
        let wanted = entry.wanted().clone();
        let mut called = self.called.write().unwrap_or_else(PoisonError::into_inner);
        called.add(name, entry);
        let wake = self.watchers.tell(name, None, Happened::Entered);
        drop(called);
        drop(wake);
        Some(wanted)
    }
}

impl Default for Book {
    fn default() -> Self {
        Self::new()
    }
}

fn read(names: &RwLock<Names>) -> RwLockReadGuard<'_, Names> {
    names.read().unwrap_or_else(PoisonError::into_inner)
}

/// The book of this thread's test scope, or that of the process.
pub(super) enum Here {
    Process,
    #[cfg(feature = "test-util")]
    Scope(crate::test::Scope),
}

impl Deref for Here {
    type Target = Book;

    fn deref(&self) -> &Book {
        match self {
            Self::Process => &PROCESS,
            #[cfg(feature = "test-util")]
            Self::Scope(scope) => scope.book(),
        }
    }
}

impl Here {
    /// Who hears of what happens here.
    pub(super) fn audience(&self) -> Audience<'_> {
        match self {
            Self::Process => Audience::of_process(),
            #[cfg(feature = "test-util")]
            Self::Scope(scope) => Audience::of_scope(scope),
        }
    }

    /// Nanoseconds of the clock by which states wait.
    pub(super) fn now(&self) -> u64 {
        match self {
            Self::Process => process_now(),
            #[cfg(feature = "test-util")]
            Self::Scope(scope) => scope.now(),
        }
    }
}

#[cfg(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
fn process_now() -> u64 {
    use breaker_core::Clock as _;

    crate::clock::DEFAULT.exact()
}

/// There is no clock here: what waits stays as it is.
#[cfg(not(any(
    feature = "js",
    not(all(target_family = "wasm", target_os = "unknown"))
)))]
fn process_now() -> u64 {
    0
}

/// Whose book it is, without keeping a test scope.
pub(super) enum Home {
    Process,
    #[cfg(feature = "test-util")]
    Scope(crate::test::WeakScope),
}

impl Home {
    pub(super) fn of(here: &Here) -> Self {
        match here {
            Here::Process => Self::Process,
            #[cfg(feature = "test-util")]
            Here::Scope(scope) => Self::Scope(scope.downgrade()),
        }
    }

    /// `None`: the scope has ended.
    pub(super) fn here(&self) -> Option<Here> {
        match self {
            Self::Process => Some(Here::Process),
            #[cfg(feature = "test-util")]
            Self::Scope(scope) => scope.upgrade().map(Here::Scope),
        }
    }
}

pub(super) fn here() -> Here {
    #[cfg(feature = "test-util")]
    if let Some(scope) = crate::test::current() {
        return Here::Scope(scope);
    }
    Here::Process
}

/// This thread's, and, from a test scope, that of the process.
pub(super) fn here_and_around() -> impl Iterator<Item = Here> {
    let here = here();
    let around = match &here {
        Here::Process => None,
        #[cfg(feature = "test-util")]
        Here::Scope(_) => Some(Here::Process),
    };
    [Some(here), around].into_iter().flatten()
}
