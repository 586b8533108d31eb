//! Where a breaker comes from.

use std::fmt;

/// How a breaker came to the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A `static` (of the attribute, of [`breaker!`](crate::breaker), of
    /// [`declared_with_clock`](crate::Breaker::declared_with_clock)): known from its
    /// first call on, for ever.
    Declared,
    /// Of [`Breaker::shared`](crate::Breaker::shared) or
    /// [`KeyedBreakers::shared`](crate::KeyedBreakers::shared): known from its making
    /// until it is dropped.
    Shared,
}

impl Kind {
    /// Its name in pages and logs: `declared` or `shared`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Shared => "shared",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place in the source. Displays as `src/pms.rs:12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The file, as the compiler names it.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What the registry keeps of it.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    /// The number of its entry: never another's.
    #[cfg_attr(
        not(all(
            feature = "status-page",
            not(all(target_family = "wasm", target_os = "unknown"))
        )),
        allow(dead_code)
    )]
    pub(super) id: u64,
    pub(super) kind: Kind,
    pub(super) place: Place,
}
