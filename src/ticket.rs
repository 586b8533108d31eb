//! One call's claim on a breaker: settled exactly once, whatever happens.

use crate::bound::Bound;
use crate::breaker::Breaker;
use crate::error::CircuitOpenError;
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
    pub(crate) fn admit(&mut self, given: Option<u64>) -> Result<(), CircuitOpenError> {
        match self.bound.admit_if_closed() {
            Some(generation) => {
                self.generation = generation;
                self.started = self.bound.start(given);
                Ok(())
            }
            None => self.admit_unless_closed(given),
        }
    }

    /// Out of line, so that a refusal and a change of state cost the common case
    /// nothing.
    #[inline(never)]
    fn admit_unless_closed(&mut self, given: Option<u64>) -> Result<(), CircuitOpenError> {
        let (generation, change) = self.bound.admit_unless_closed(given)?;
        self.generation = generation;
        self.started = self.bound.start(given);
        if let Some(change) = change {
            self.bound.notify(&change);
        }
        Ok(())
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
        self.bound.settle(generation, outcome, self.started, given)
    }

    /// [`settle`](Self::settle) where the call did not come to its end.
    #[cold]
    #[inline(never)]
    fn give_up(&mut self) {
        self.settle(Outcome::Dropped, None);
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

impl<C, P> Drop for Ticket<'_, C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    #[inline]
    fn drop(&mut self) {
        if self.is_admitted() {
            self.give_up();
        }
    }
}
