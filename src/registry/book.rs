//! What the registry knows: of the process, and of each test scope.

use super::all::Registered;
use super::found::{Found, FoundKeyed};
use super::names::Names;
use std::ops::Deref;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The breakers of the process, or those of a test scope.
///
/// No code of a user's runs while it is locked: a key's label, an observer, a clock, or
/// what a breaker drops.
pub(crate) struct Book {
    names: RwLock<Names>,
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
        self.names().find(name)
    }

    pub(super) fn find_keyed(&self, name: &str) -> Option<FoundKeyed> {
        self.names().find_keyed(name)
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

    /// A call uses a breaker in this test scope that is another book's.
    #[cfg(feature = "test-util")]
    pub(super) fn note(&self, name: &str, id: u64) {
        if read(&self.called).has(name, id) || self.names().has(name, id) {
            return;
        }
        let entry = PROCESS.names().entry(name, id);
        if let Some(entry) = entry {
            let mut called = self.called.write().unwrap_or_else(PoisonError::into_inner);
            called.add(name, entry);
        }
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
