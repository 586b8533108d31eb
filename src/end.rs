//! How a call ended.

use breaker_core::Outcome;

/// How a call ended: what it counts as, and whether its time limit ended it.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Of(Outcome),
    /// A failure, to the breaker.
    TimedOut,
}

impl End {
    #[inline]
    pub(crate) const fn outcome(self) -> Outcome {
        match self {
            Self::Of(outcome) => outcome,
            Self::TimedOut => Outcome::Failure,
        }
    }
}
