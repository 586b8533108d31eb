//! A [`Ticket`] that may be kept for any time: it owns what leads to its breaker.

use crate::bound::Given;
use crate::error::Refused;
use crate::owner::Owner;
#[cfg(feature = "tower")]
use crate::ticket::Unheard;
use crate::ticket::{LaidDown, Ticket};
use breaker_core::{Effect, Generation, Outcome};
use core::fmt;

/// One call's claim on a breaker, between two steps of the call. Settles it as
/// dropped when it is dropped in between.
#[cfg_attr(not(feature = "tower"), allow(unreachable_pub))]
pub struct Claim<G: Owner> {
    owner: G,
    ticket: LaidDown<G::Policy>,
}

impl<G: Owner> Claim<G> {
    #[inline]
    pub(crate) fn new(owner: G) -> Self {
        Self {
            owner,
            ticket: LaidDown::default(),
        }
    }

    /// Asks for admission, in the test scope that is around it now.
    #[inline]
    pub(crate) fn admit(&mut self, given: Given) -> Result<(), Refused> {
        self.ticket = Ticket::admitted(self.owner.subject(), given)?.lay_down();
        Ok(())
    }

    #[inline]
    pub(crate) fn owner(&self) -> &G {
        &self.owner
    }

    #[inline]
    pub(crate) fn generation(&self) -> Generation {
        self.ticket.generation()
    }

    #[inline]
    pub(crate) fn is_admitted(&self) -> bool {
        self.generation() != Generation::NONE
    }

    /// A step of the call, by its ticket. Where the step panics without the ticket's
    /// watching, the call settles as dropped.
    #[inline]
    pub(crate) fn step<R>(&mut self, step: impl FnOnce(&mut Ticket<G::Subject<'_>>) -> R) -> R {
        let laid_down = core::mem::take(&mut self.ticket);
        let mut ticket = Ticket::taken_up(self.owner.subject(), laid_down);
        let result = step(&mut ticket);
        self.ticket = ticket.lay_down();
        result
    }

    /// Of a call that may be made later: see [`Ticket::reserved`].
    #[cfg(feature = "tower")]
    pub(crate) fn reserve(&mut self) -> Result<(), Unheard> {
        self.ticket = Ticket::reserved(self.owner.subject())?.lay_down();
        Ok(())
    }

    /// [`Ticket::watch`].
    #[cfg(feature = "tower")]
    #[inline]
    pub(crate) fn watch<R>(&mut self, part: impl FnOnce() -> R) -> R {
        self.step(|ticket| ticket.watch(part))
    }

    /// [`Ticket::settle`].
    #[inline]
    pub(crate) fn settle(&mut self, outcome: Outcome, given: Given) -> Effect {
        self.step(|ticket| ticket.settle(outcome, given))
    }
}

impl<G: Owner> Drop for Claim<G> {
    #[inline]
    fn drop(&mut self) {
        if self.is_admitted() {
            let laid_down = core::mem::take(&mut self.ticket);
            drop(Ticket::taken_up(self.owner.subject(), laid_down));
        }
    }
}

impl<G: Owner> fmt::Debug for Claim<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::subject::sealed::Subject;

        f.debug_struct("Claim")
            .field("breaker", &self.owner.subject().name())
            .field("generation", &self.generation())
            .finish_non_exhaustive()
    }
}
