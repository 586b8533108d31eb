//! The two-step form: a permit now, an outcome later.

use crate::ticket::Ticket;
use breaker_core::{Clock, Effect, Generation, Outcome, Policy};
use core::fmt;
use core::time::Duration;

/// The right to make one call, given by [`Breaker::admit`].
///
/// Each method settles the call and says what that did. A permit that is
/// dropped settles as [`Outcome::Dropped`], or, where a panic unwinds through
/// its owner, as [`Outcome::Panicked`].
///
/// [`Breaker::admit`]: crate::Breaker::admit
#[must_use = "a permit that is dropped at once is a call that was given up"]
pub struct Permit<'b, C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    ticket: Ticket<'b, C, P>,
    given: Option<u64>,
    /// Whether a panic unwound before. A whole word: a byte that is copied as part
    /// of a word makes the processor wait.
    #[cfg(feature = "std")]
    unwinding_before: usize,
}

impl<'b, C, P> Permit<'b, C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    #[inline]
    pub(crate) fn new(ticket: Ticket<'b, C, P>, given: Option<u64>) -> Self {
        Self {
            ticket,
            given,
            #[cfg(feature = "std")]
            unwinding_before: usize::from(std::thread::panicking()),
        }
    }

    /// The generation that admitted the call.
    pub fn generation(&self) -> Generation {
        self.ticket.generation()
    }

    /// The dependency answered.
    #[inline]
    pub fn success(self) -> Effect {
        self.settle(Outcome::Success)
    }

    /// The dependency failed.
    pub fn failure(self) -> Effect {
        self.settle(Outcome::Failure)
    }

    /// An answer that says nothing about the dependency's health.
    pub fn ignore(self) -> Effect {
        self.settle(Outcome::Ignored)
    }

    /// The dependency asked to be left alone for `wait`.
    pub fn overloaded(self, wait: Duration) -> Effect {
        self.settle(Outcome::Overloaded(wait))
    }

    /// Any outcome.
    #[inline]
    pub fn settle(mut self, outcome: Outcome) -> Effect {
        self.ticket.settle(outcome, self.given)
    }

    /// Any outcome, at an explicit time in nanoseconds since the origin of the
    /// breaker's clock.
    pub fn settle_at(mut self, outcome: Outcome, now: u64) -> Effect {
        self.ticket.settle(outcome, Some(now))
    }

    #[cfg(feature = "std")]
    fn outcome_of_drop(&self) -> Outcome {
        if std::thread::panicking() && self.unwinding_before == 0 {
            Outcome::Panicked
        } else {
            Outcome::Dropped
        }
    }

    #[cfg(not(feature = "std"))]
    fn outcome_of_drop(&self) -> Outcome {
        Outcome::Dropped
    }
}

impl<C, P> Drop for Permit<'_, C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    #[inline]
    fn drop(&mut self) {
        if self.ticket.is_admitted() {
            let outcome = self.outcome_of_drop();
            self.ticket.settle(outcome, self.given);
        }
    }
}

impl<C, P> fmt::Debug for Permit<'_, C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("breaker", self.ticket.breaker().label())
            .field("generation", &self.ticket.generation())
            .finish_non_exhaustive()
    }
}
