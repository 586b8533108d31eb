//! What a breaker is called.

use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
#[cfg(feature = "std")]
use std::sync::Arc;

/// A breaker's name, cheap to copy into an error.
#[derive(Clone)]
pub enum Name {
    Static(&'static str),
    #[cfg(feature = "std")]
    Owned(Arc<str>),
}

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Static(name) => name,
            #[cfg(feature = "std")]
            Self::Owned(name) => name,
        }
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Name {}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

#[cfg(feature = "std")]
impl From<String> for Name {
    fn from(name: String) -> Self {
        Self::Owned(name.into())
    }
}
