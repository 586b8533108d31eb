//! A call that is admitted before it is made.
//!
//! For what serves refused calls alone: it may want a parameter that the call
//! consumes, and only one of the two ever has it.

use crate::bound::{Bound, Given};
use crate::call::{Ended, end};
use crate::error::CircuitOpenError;
use crate::limit::Never;
use crate::subject::Subject;
use crate::ticket::Ticket;
use crate::verdict::Classify;

/// An admitted call, yet to be made. Dropped before, it was given up.
#[derive(Debug)]
pub struct Entered<S: Subject>(Ticket<S>);

impl<S: Subject> Entered<S> {
    #[inline]
    pub(crate) fn ticket(mut self) -> Ticket<S> {
        self.0.made_now();
        self.0
    }
}

/// Asks for admission. Always inlined: else each call goes through memory.
#[inline(always)]
pub fn enter<S: Subject>(subject: S) -> Result<Entered<S>, CircuitOpenError> {
    let mut ticket = Ticket::new(Bound::new(subject));
    match ticket.admit(Given::NONE) {
        Ok(()) => Ok(Entered(ticket)),
        Err(refused) => Err(CircuitOpenError::new(subject.name(), refused)),
    }
}

/// A plain call that was admitted.
#[inline]
pub fn run_entered_sync<O, S, K>(
    entered: Entered<S>,
    classify: K,
    call: impl FnOnce() -> O,
) -> Ended<O, Never, Never>
where
    S: Subject,
    K: Classify<O>,
{
    let mut ticket = entered.ticket();
    let output = ticket.watch(call);
    end(&mut ticket, classify, output)
}
