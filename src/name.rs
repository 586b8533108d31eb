//! What a breaker is called.

use core::fmt;
#[cfg(feature = "std")]
use std::sync::Arc;

/// A breaker's name, cheap to copy into an error.
#[derive(Clone)]
pub(crate) enum Name {
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

#[cfg(feature = "std")]
impl From<String> for Name {
    fn from(name: String) -> Self {
        Self::Owned(name.into())
    }
}
