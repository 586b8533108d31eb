//! One call's claim on a breaker: settled exactly once, whatever happens.

use crate::bound::{Bound, Lent};
use crate::breaker::Breaker;
use crate::error::Refused;
use breaker_core::{Clock, Effect, Generation, Outcome, Policy};

/// Settles its call as dropped when it is dropped in between.
pub(crate) struct Ticket<'b, C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    bound: Bound<'b, C, P>,
    /// `NONE` before the call is admitted and after it is settled.
    generation: Generation,
    started: P::Started,
}

impl<'b, C, P> Ticket<'b, C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    #[inline]
    pub(crate) fn new(bound: Bound<'b, C, P>) -> Self {
        Self {
            bound,
            generation: Generation::NONE,
            started: P::Started::default(),
        }
    }

    #[inline]
    pub(crate) fn admit(&mut self, given: Option<u64>) -> Result<(), Refused> {
        match self.bound.admit_if_closed() {
            Some(generation) => {
                self.generation = generation;
                self.started = self.bound.start(given);
            }
            None => {
                if let Some(refused) = Self::refused_at_once(self.bound.lent(), given) {
                    return Err(refused);
                }
                let admitted = Self::admit_slowly(self.bound.lent(), given)?;
                (self.generation, self.started) = admitted;
            }
        }
        Ok(())
    }

    /// Out of line, and not of the ticket itself: so a refusal costs the common
    /// case nothing, and its ticket stays out of memory.
    #[inline(never)]
    fn refused_at_once(bound: Lent<'_, C, P>, given: Option<u64>) -> Option<Refused> {
        bound.refused_at_once(given)
    }

    /// Out of line as well: a change of state, a probe, and what only an operator
    /// sets.
    #[inline(never)]
    fn admit_slowly(
        bound: Lent<'_, C, P>,
        given: Option<u64>,
    ) -> Result<(Generation, P::Started), Refused> {
        let (generation, change) = bound.admit(given)?;
        let slot = Slot { bound, generation };
        let started = bound.start(given);
        if let Some(change) = change {
            bound.notify(&change);
        }
        core::mem::forget(slot);
        Ok((generation, started))
    }

    #[inline]
    pub(crate) fn bound(&self) -> &Bound<'b, C, P> {
        &self.bound
    }

    #[inline]
    pub(crate) fn breaker(&self) -> &'b Breaker<C, P> {
        self.bound.breaker()
    }

    #[inline]
    pub(crate) fn generation(&self) -> Generation {
        self.generation
    }

    #[inline]
    pub(crate) fn is_admitted(&self) -> bool {
        self.generation != Generation::NONE
    }

    /// Late if the call was not admitted, or is settled already.
    #[inline]
    pub(crate) fn settle(&mut self, outcome: Outcome, given: Option<u64>) -> Effect {
        let generation = core::mem::replace(&mut self.generation, Generation::NONE);
        self.bound
            .lent()
            .settle(generation, outcome, self.started, given)
    }

    /// [`settle`](Self::settle) where the call did not come to its end.
    #[cold]
    #[inline(never)]
    fn give_up(bound: Lent<'_, C, P>, generation: Generation, started: P::Started) {
        bound.settle(generation, Outcome::Dropped, started, None);
    }

    /// Runs a part of the call that may panic, and settles the call as panicked
    /// if it does.
    #[inline]
    pub(crate) fn watch<R>(&mut self, part: impl FnOnce() -> R) -> R {
        struct OnUnwind<'t, 'b, C, P>(&'t mut Ticket<'b, C, P>)
        where
            C: Clock + Send + Sync + 'static,
            P: Policy + Send + Sync + 'static;

        impl<C, P> Drop for OnUnwind<'_, '_, C, P>
        where
            C: Clock + Send + Sync + 'static,
            P: Policy + Send + Sync + 'static,
        {
            #[cold]
            fn drop(&mut self) {
                self.0.settle(Outcome::Panicked, None);
            }
        }

        // Only an unwinding drops it: that is how a panic of this call is told
        // from one that goes through a destructor which makes a call.
        let on_unwind = OnUnwind(self);
        let result = part();
        core::mem::forget(on_unwind);
        result
    }
}

/// A slot that no ticket has yet: given back if a clock panics in between.
struct Slot<'a, C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    bound: Lent<'a, C, P>,
    generation: Generation,
}

impl<C, P> Drop for Slot<'_, C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    #[cold]
    fn drop(&mut self) {
        let started = P::Started::default();
        self.bound
            .settle(self.generation, Outcome::Dropped, started, None);
    }
}

impl<C, P> Drop for Ticket<'_, C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    #[inline]
    fn drop(&mut self) {
        if self.is_admitted() {
            let generation = core::mem::replace(&mut self.generation, Generation::NONE);
            Self::give_up(self.bound.lent(), generation, self.started);
        }
    }
}
