//! How a call ended.

use breaker_core::Outcome;

/// How a call ended: what it counts as, and whether its time limit ended it.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Of(Outcome),
    /// A failure, to the breaker.
    TimedOut,
    /// None was made: it counts as nothing, and nobody hears of it.
    #[cfg(feature = "tower")]
    NotMade,
}

impl End {
    #[inline]
    pub(crate) const fn outcome(self) -> Outcome {
        match self {
            Self::Of(outcome) => outcome,
            Self::TimedOut => Outcome::Failure,
            #[cfg(feature = "tower")]
            Self::NotMade => Outcome::Ignored,
        }
    }

    /// Of a call that was made.
    #[cfg(feature = "std")]
    pub(crate) const fn is_made(self) -> bool {
        match self {
            Self::Of(_) | Self::TimedOut => true,
            #[cfg(feature = "tower")]
            Self::NotMade => false,
        }
    }
}
