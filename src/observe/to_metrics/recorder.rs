//! Which recorder numbers go to.

use metrics::{Recorder, with_recorder};
use std::ptr;
use std::sync::Arc;

pub(super) enum To {
    /// What the `metrics` crate's macros would write to, here and now.
    Current,
    This(Arc<dyn Recorder + Send + Sync>),
}

/// Tells recorders apart: where one stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity(usize);

impl To {
    pub(super) fn with<T>(&self, act: impl FnOnce(&dyn Recorder) -> T) -> T {
        match self {
            Self::Current => with_recorder(act),
            Self::This(recorder) => act(&**recorder),
        }
    }

    /// Of the recorder as it is now: one of the process may come later.
    #[inline]
    pub(super) fn identity(&self) -> Identity {
        Identity(match self {
            Self::Current => with_recorder(|recorder| ptr::from_ref(recorder).addr()),
            Self::This(_) => 0,
        })
    }
}
