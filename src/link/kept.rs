//! What a link keeps of a key's breaker.

use crate::AnyBreaker;
use std::fmt;
use std::sync::Arc;

/// What leads to a key's breaker, as long as its key is kept: given by
/// [`Linked::keep`](super::Linked::keep). It doesn't keep the key from being given up.
#[derive(Clone)]
pub struct Kept(Arc<dyn Keeping>);

impl Kept {
    pub(crate) fn new(keeping: impl Keeping + 'static) -> Self {
        Self(Arc::new(keeping))
    }

    /// The breaker; as long as it is held, its key is not given up. `None`: the key was given up, or
    /// all breakers of its group were dropped.
    #[must_use]
    pub fn get(&self) -> Option<Arc<dyn AnyBreaker>> {
        self.0.get()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}

/// What leads to a key's breaker, of whatever type.
pub(crate) trait Keeping: Send + Sync {
    fn get(&self) -> Option<Arc<dyn AnyBreaker>>;
}

/// A key's breaker that can be kept.
pub(crate) trait Keep {
    fn keep(&self) -> Kept;
}
