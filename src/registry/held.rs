//! What leads to a breaker: for ever, or as long as somebody has it.

use std::ops::Deref;
use std::sync::{Arc, Weak};

/// As the registry keeps it: a shared one is not kept alive.
pub(super) enum Kept<T: ?Sized + 'static> {
    Static(&'static T),
    Shared(Weak<T>),
}

impl<T: ?Sized> Kept<T> {
    pub(super) fn held(&self) -> Option<Held<T>> {
        Some(match self {
            Self::Static(it) => Held::Static(it),
            Self::Shared(it) => Held::Shared(it.upgrade()?),
        })
    }

    /// One that is just being dropped is not.
    pub(super) fn is_there(&self) -> bool {
        match self {
            Self::Static(_) => true,
            Self::Shared(it) => it.strong_count() > 0,
        }
    }

    pub(super) fn is_static(&self) -> bool {
        matches!(self, Self::Static(_))
    }
}

impl<T: ?Sized> Clone for Kept<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Static(it) => Self::Static(it),
            Self::Shared(it) => Self::Shared(Weak::clone(it)),
        }
    }
}

/// As it was found: a shared one is kept alive.
pub(super) enum Held<T: ?Sized + 'static> {
    Static(&'static T),
    Shared(Arc<T>),
}

impl<T: ?Sized> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Static(it) => it,
            Self::Shared(it) => it,
        }
    }
}

impl<T: ?Sized> Clone for Held<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Static(it) => Self::Static(it),
            Self::Shared(it) => Self::Shared(Arc::clone(it)),
        }
    }
}
