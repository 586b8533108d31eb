//! What `poll_ready` keeps for the `call` that follows.

use crate::bound::Given;
use crate::claim::Claim;
use crate::error::CircuitOpenError;
use crate::owner::Owner;
use crate::subject::sealed::Subject as _;
use crate::ticket::{Ticket, Unheard};
use core::fmt;

/// A place on the breaker, or its refusal. A place for which no call is made was
/// never a call: given back, it counts as nothing.
pub(super) struct Reserved<G: Owner> {
    place: Option<Claim<G>>,
    refusal: Option<Unheard>,
}

impl<G: Owner> Reserved<G> {
    pub(super) const fn nothing() -> Self {
        Self {
            place: None,
            refusal: None,
        }
    }

    /// Asks for a place, unless it has one that still counts. Asked again where it was
    /// refused before: meanwhile it may be admitted. Whether it has one now.
    pub(super) fn ask(&mut self, owner: &G) -> bool {
        if let Some(place) = &mut self.place
            && place.step(|ticket| ticket.is_current())
        {
            return true;
        }
        self.give_back();
        let mut claim = Claim::new(owner.clone());
        self.refusal = claim.reserve().err();
        self.place = self.refusal.is_none().then_some(claim);
        self.place.is_some()
    }

    /// A step towards the call.
    pub(super) fn watch<R>(&mut self, step: impl FnOnce() -> R) -> R {
        match &mut self.place {
            Some(place) => place.watch(step),
            None => step(),
        }
    }

    /// The call will never be made: its place counts as `judge` says.
    pub(super) fn end(&mut self, judge: impl FnOnce(&mut Ticket<G::Subject<'_>>)) {
        if let Some(mut place) = self.place.take() {
            place.step(judge);
        }
    }

    /// The call is made now: a place for it, by `owner` where there is none yet.
    pub(super) fn begin(
        &mut self,
        owner: impl FnOnce() -> G,
    ) -> Result<Claim<G>, CircuitOpenError> {
        if let Some(unheard) = self.refusal.take() {
            return Err(unheard.made(owner().subject()));
        }
        let mut claim = match self.place.take() {
            Some(mut place) => {
                if place.step(|ticket| ticket.begins_now()) {
                    place.step(|ticket| ticket.made_now());
                    return Ok(place);
                }
                // Kept while the circuit went on to another generation.
                place.step(|ticket| ticket.give_back());
                place
            }
            None => Claim::new(owner()),
        };
        match claim.admit(Given::NONE) {
            Ok(()) => {
                claim.step(|ticket| ticket.made_now());
                Ok(claim)
            }
            Err(refused) => Err(CircuitOpenError::new(
                claim.owner().subject().name(),
                refused,
            )),
        }
    }

    fn give_back(&mut self) {
        if let Some(mut place) = self.place.take() {
            place.step(|ticket| ticket.give_back());
        }
    }
}

impl<G: Owner> Drop for Reserved<G> {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl<G: Owner> fmt::Debug for Reserved<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.place, &self.refusal) {
            (Some(place), _) => f.debug_tuple("Place").field(place).finish(),
            (None, Some(_)) => f.write_str("Refusal"),
            (None, None) => f.write_str("Nothing"),
        }
    }
}
