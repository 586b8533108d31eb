//! The two-step form: a permit now, an outcome later.

#[cfg(feature = "std")]
mod owned;

use crate::bound::{Bound, Given};
use crate::error::CircuitOpenError;
use crate::subject::Subject;
use crate::ticket::Ticket;
use breaker_core::{Effect, Generation, Outcome};
use core::fmt;
use core::mem::ManuallyDrop;
use core::time::Duration;

#[cfg(feature = "std")]
pub use owned::OwnedPermit;
#[cfg(feature = "std")]
pub(crate) use owned::admit_owned;

/// The right to make one call, given by [`Breaker::admit`].
///
/// Each method settles the call and says what that did. A permit that is
/// dropped settles as [`Outcome::Dropped`], or, where a panic unwinds through
/// its owner, as [`Outcome::Panicked`].
///
/// [`Breaker::admit`]: crate::Breaker::admit
#[must_use = "a permit that is dropped at once is a call that was given up"]
pub struct Permit<S: Subject> {
    ticket: Ticket<S>,
    given: Given,
}

/// The outcomes of a permit, by name.
macro_rules! outcomes {
    () => {
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
    };
}
#[cfg(feature = "std")]
use outcomes;

/// Asks for a permit. Always inlined: else each goes through memory.
#[inline(always)]
pub(crate) fn admit<S: Subject>(subject: S, given: Given) -> Result<Permit<S>, CircuitOpenError> {
    let mut ticket = Ticket::new(Bound::new(subject));
    match ticket.admit(given) {
        Ok(()) => Ok(Permit::new(ticket, given)),
        Err(refused) => Err(CircuitOpenError::new(subject.name(), refused)),
    }
}

impl<S: Subject> Permit<S> {
    #[inline]
    pub(crate) fn new(
        #[cfg_attr(not(feature = "std"), allow(unused_mut))] mut ticket: Ticket<S>,
        given: Given,
    ) -> Self {
        #[cfg(feature = "std")]
        ticket.note_unwinding();
        Self { ticket, given }
    }

    /// The generation that admitted the call.
    pub fn generation(&self) -> Generation {
        self.ticket.generation()
    }

    outcomes!();

    /// Any outcome.
    #[inline(always)]
    pub fn settle(self, outcome: Outcome) -> Effect {
        // Else the compiler looks once more whether it is settled.
        let mut settled = ManuallyDrop::new(self);
        let given = settled.given;
        settled.ticket.settle_for_good(outcome, given)
    }

    /// Any outcome, at an explicit time in nanoseconds since the origin of the
    /// breaker's clock.
    pub fn settle_at(mut self, outcome: Outcome, now: u64) -> Effect {
        self.ticket.settle_at(outcome, now, self.given)
    }

    /// Out of line, so that the drop of a refusal, which has no permit, is looked through.
    #[cold]
    #[inline(never)]
    fn give_up(&mut self) {
        let outcome = self.outcome_of_drop();
        self.ticket.settle(outcome, self.given);
    }

    // Of each permit's own type, not shared with other permits: so the compiler sees
    // through it where a permit is used, and the common call never drops one.
    #[cfg(feature = "std")]
    fn outcome_of_drop(&self) -> Outcome {
        if std::thread::panicking() && !self.ticket.was_unwinding() {
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

impl<S: Subject> Drop for Permit<S> {
    #[inline]
    fn drop(&mut self) {
        if self.ticket.is_admitted() {
            self.give_up();
        }
    }
}

impl<S: Subject> fmt::Debug for Permit<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("breaker", &self.ticket.subject().name())
            .field("generation", &self.ticket.generation())
            .finish_non_exhaustive()
    }
}
