//! A permit that borrows nothing.

use super::outcomes;
use crate::bound::Given;
use crate::claim::Claim;
use crate::error::CircuitOpenError;
use crate::owner::Owner;
use crate::subject::sealed::Subject;
use breaker_core::{Effect, Generation, Outcome};
use core::fmt;
use core::time::Duration;
use std::thread::panicking;

/// A [`Permit`] that owns what leads to its breaker, and so may go to another
/// task, or into a struct that outlives the caller: given by
/// [`Breaker::admit_owned`] and [`KeyedBreaker::admit_owned`].
///
/// Each method settles the call and says what that did. Dropped, it settles as
/// [`Outcome::Dropped`], or, where a panic unwinds through its owner, as
/// [`Outcome::Panicked`].
///
/// [`Permit`]: super::Permit
/// [`Breaker::admit_owned`]: crate::Breaker::admit_owned
/// [`KeyedBreaker::admit_owned`]: crate::KeyedBreaker::admit_owned
#[must_use = "a permit that is dropped at once is a call that was given up"]
pub struct OwnedPermit<G: Owner> {
    claim: Claim<G>,
    /// Whether a panic unwound before.
    was_panicking: bool,
}

/// Asks for a permit.
#[inline]
pub(crate) fn admit_owned<G: Owner>(owner: G) -> Result<OwnedPermit<G>, CircuitOpenError> {
    let mut claim = Claim::new(owner);
    match claim.admit(Given::NONE) {
        Ok(()) => Ok(OwnedPermit {
            claim,
            was_panicking: panicking(),
        }),
        Err(refused) => {
            let name = claim.owner().subject().name();
            Err(CircuitOpenError::new(name, refused))
        }
    }
}

impl<G: Owner> OwnedPermit<G> {
    /// The generation that admitted the call.
    pub fn generation(&self) -> Generation {
        self.claim.generation()
    }

    outcomes!();

    /// Any outcome.
    #[inline]
    pub fn settle(mut self, outcome: Outcome) -> Effect {
        self.claim.settle(outcome, Given::NONE)
    }
}

impl<G: Owner> Drop for OwnedPermit<G> {
    #[inline]
    fn drop(&mut self) {
        if self.claim.is_admitted() {
            let outcome = match panicking() && !self.was_panicking {
                true => Outcome::Panicked,
                false => Outcome::Dropped,
            };
            self.claim.settle(outcome, Given::NONE);
        }
    }
}

impl<G: Owner> fmt::Debug for OwnedPermit<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit")
            .field("breaker", &self.claim.owner().subject().name())
            .field("generation", &self.generation())
            .finish_non_exhaustive()
    }
}
