//! One call's claim on a breaker: settled exactly once, whatever happens.

use crate::began::Began;
use crate::bound::{Bound, Given, Lent};
use crate::end::End;
#[cfg(feature = "tower")]
use crate::error::CircuitOpenError;
use crate::error::Refused;
use crate::mark::Mark;
use crate::span::CallSpan;
use crate::subject::Subject;
#[cfg(feature = "tower")]
use breaker_core::Rejected;
use breaker_core::{Change, Effect, Generation, Outcome, Policy};
use core::fmt;

/// Settles its call as dropped when it is dropped in between.
pub struct Ticket<S: Subject> {
    bound: Bound<S>,
    /// `NONE` before the call is admitted and after it is settled.
    mark: Mark,
    started: <S::Policy as Policy>::Started,
    /// Read where the mark says so.
    began: Began,
    /// From where the call is made on.
    span: CallSpan,
}

/// What a ticket keeps of its admission.
type Admitted<P> = (Mark, <P as Policy>::Started, Began);

impl<S: Subject> Ticket<S> {
    /// Always inlined, as what follows: else each ticket goes through memory.
    #[inline(always)]
    pub(crate) fn new(bound: Bound<S>) -> Self {
        Self {
            bound,
            mark: Mark::NONE,
            started: <S::Policy as Policy>::Started::default(),
            began: Began::UNKNOWN,
            span: CallSpan::NONE,
        }
    }

    #[inline(always)]
    pub(crate) fn admit(&mut self, given: Given) -> Result<(), Refused> {
        self.bound.enter();
        match self.bound.admit_at_once() {
            Some(generation) => {
                self.mark = Mark::untimed(generation);
                self.started = self.bound.start(given);
            }
            None => {
                if let Some(refused) = Ticket::refused_at_once(self.bound.lent(), given) {
                    return Err(refused);
                }
                let admitted = Ticket::admit_slowly(self.bound.lent(), given)?;
                (self.mark, self.started, self.began) = admitted;
            }
        }
        Ok(())
    }

    /// The call is made now: it gets a span, if an observer wants one. (None wants one that does not
    /// want to hear of its end.)
    #[inline]
    pub(crate) fn made_now(&mut self) {
        if self.mark.is_timed() {
            self.span = CallSpan::of(self.bound.lent());
        }
    }

    #[inline]
    pub(crate) fn bound(&self) -> &Bound<S> {
        &self.bound
    }

    #[inline]
    pub(crate) fn subject(&self) -> S {
        self.bound.subject()
    }

    #[inline]
    pub(crate) fn generation(&self) -> Generation {
        self.mark.generation()
    }

    #[inline]
    pub(crate) fn is_admitted(&self) -> bool {
        self.mark.is_some()
    }

    /// Notes whether a panic unwinds now.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn note_unwinding(&mut self) {
        if std::thread::panicking() {
            self.mark = self.mark.while_unwinding();
        }
    }

    #[cfg(feature = "std")]
    pub(crate) fn was_unwinding(&self) -> bool {
        self.mark.was_unwinding()
    }

    /// Late if the call was not admitted, or is settled already.
    #[inline(always)]
    pub(crate) fn settle(&mut self, outcome: Outcome, given: Given) -> Effect {
        self.end(End::Of(outcome), given)
    }

    /// [`settle`](Self::settle), after which nothing is left to drop.
    #[inline(always)]
    pub(crate) fn settle_for_good(&mut self, outcome: Outcome, given: Given) -> Effect {
        let mark = core::mem::replace(&mut self.mark, Mark::NONE);
        let bound = self.bound.take();
        let end = End::Of(outcome);
        bound
            .lent()
            .settle(mark, end, self.started, self.began, given)
    }

    /// Settles a call that its time limit ended.
    pub(crate) fn time_out(&mut self) {
        self.end(End::TimedOut, Given::NONE);
    }

    /// [`settle`](Self::settle) at a reading that the caller gave, of a call that may have been
    /// admitted by the clock.
    pub(crate) fn settle_at(&mut self, outcome: Outcome, now: u64, admitted: Given) -> Effect {
        if self.mark.is_timed() && !admitted.is_given() {
            self.began = self.began.as_given(self.bound.lent());
        }
        self.settle(outcome, Given::at(now))
    }

    #[inline(always)]
    fn end(&mut self, end: End, given: Given) -> Effect {
        let mark = core::mem::replace(&mut self.mark, Mark::NONE);
        if CallSpan::MAY_BE && mark.is_timed() {
            let follow = (self.began, self.span.take());
            let bound = self.bound.lent();
            return Ticket::end_in_span(bound, mark, end, self.started, follow, given);
        }
        let bound = self.bound.lent();
        bound.settle(mark, end, self.started, self.began, given)
    }

    /// Runs a part of the call that may panic, and settles the call as panicked
    /// if it does.
    #[inline]
    pub(crate) fn watch<R>(&mut self, part: impl FnOnce() -> R) -> R {
        struct OnUnwind<'t, S: Subject>(&'t mut Ticket<S>);

        impl<S: Subject> Drop for OnUnwind<'_, S> {
            #[cold]
            fn drop(&mut self) {
                self.0.settle(Outcome::Panicked, Given::NONE);
            }
        }

        // Only an unwinding drops it: that is how a panic of this call is told
        // from one that goes through a destructor which makes a call.
        let on_unwind = OnUnwind(self);
        let result = on_unwind.0.span.within(part);
        core::mem::forget(on_unwind);
        result
    }
}

/// What a ticket does out of line, and so once for each kind of breaker.
impl<S: Subject> Ticket<S> {
    /// Not of the ticket itself: so a refusal costs the common
    /// case nothing, and its ticket stays out of memory.
    #[inline(never)]
    fn refused_at_once(bound: Lent<'_, S>, given: Given) -> Option<Refused> {
        bound.refused_at_once(given)
    }

    /// Out of line as well: a change of state, a probe, and what only an operator
    /// sets.
    #[inline(never)]
    fn admit_slowly(bound: Lent<'_, S>, given: Given) -> Result<Admitted<S::Policy>, Refused> {
        // It may be closed, where an observer wants to hear of calls.
        let admitted = match bound.circuit().admit_if_closed() {
            Some(generation) => (generation, None),
            None => bound.admit(given)?,
        };
        Ok(Self::begin(bound, admitted, given))
    }

    #[inline]
    fn begin(
        bound: Lent<'_, S>,
        (generation, change): (Generation, Option<Change>),
        given: Given,
    ) -> Admitted<S::Policy> {
        let slot = Slot { bound, generation };
        let started = bound.start(given);
        let (mark, began) = Began::mark(bound, generation, given);
        if let Some(change) = change {
            bound.tell_change(&change);
        }
        core::mem::forget(slot);
        (mark, started, began)
    }

    /// Out of line, as what only an observer costs.
    #[cold]
    #[inline(never)]
    fn end_in_span(
        bound: Lent<'_, S>,
        mark: Mark,
        end: End,
        started: <S::Policy as Policy>::Started,
        (began, span): (Began, CallSpan),
        given: Given,
    ) -> Effect {
        let took = began.elapsed(bound, given);
        let effect = span.within(|| bound.settle_timed(mark, end, started, began, took, given));
        span.end(end, took);
        effect
    }

    /// [`settle`](Self::settle) where the call did not come to its end.
    #[cold]
    #[inline(never)]
    fn give_up(
        bound: Lent<'_, S>,
        mark: Mark,
        started: <S::Policy as Policy>::Started,
        follow: (Began, CallSpan),
    ) {
        let end = End::Of(Outcome::Dropped);
        if CallSpan::MAY_BE && mark.is_timed() {
            Self::end_in_span(bound, mark, end, started, follow, Given::NONE);
        } else {
            bound.settle(mark, end, started, follow.0, Given::NONE);
        }
    }
}

/// What [`Claim`](crate::claim::Claim)s are made of.
#[cfg(feature = "std")]
impl<S: Subject> Ticket<S> {
    /// Of a call that is admitted.
    #[inline]
    pub(crate) fn admitted(subject: S, given: Given) -> Result<Self, Refused> {
        let mut ticket = Self::new(Bound::new(subject));
        ticket.admit(given)?;
        Ok(ticket)
    }

    /// [`admitted`](Self::admitted), of which nobody hears where it is refused: it is not
    /// yet known whether a call will be made. Who makes it tells of it
    /// ([`Unheard::made`]).
    #[cfg(feature = "tower")]
    pub(crate) fn reserved(subject: S) -> Result<Self, Unheard> {
        let mut ticket = Self::new(Bound::new(subject));
        ticket.bound.enter();
        match ticket.bound.admit_at_once() {
            Some(generation) => ticket.mark = Mark::untimed(generation),
            None => {
                let lent = ticket.bound.lent();
                let admitted = lent.ask(Given::NONE).map_err(Unheard)?;
                // Its time starts with the call, if one is made. Of one that comes to nothing
                // before somebody may hear as well.
                (ticket.mark, _, ticket.began) = Self::begin(lent, admitted, Given::NONE);
            }
        }
        Ok(ticket)
    }

    /// The call begins only now, some time after it was admitted. Whether what becomes of
    /// it will count: whether no other generation has begun since.
    #[cfg(feature = "tower")]
    #[inline]
    pub(crate) fn begins_now(&mut self) -> bool {
        self.started = self.bound.start(Given::NONE);
        let bound = self.bound.lent();
        (self.mark, self.began) = Began::mark(bound, self.mark.generation(), Given::NONE);
        self.is_current()
    }

    /// There was no call: nobody hears of its end.
    #[cfg(feature = "tower")]
    pub(crate) fn give_back(&mut self) {
        self.mark = Mark::untimed(self.generation());
        self.end(End::NotMade, Given::NONE);
    }

    /// Whether no other generation has begun since it was admitted.
    #[cfg(feature = "tower")]
    #[inline]
    pub(crate) fn is_current(&self) -> bool {
        self.bound.lent().circuit().generation() == self.generation()
    }

    /// All of it but the subject, to be taken up again.
    #[inline]
    pub(crate) fn lay_down(mut self) -> LaidDown<S::Policy> {
        LaidDown {
            mark: core::mem::replace(&mut self.mark, Mark::NONE),
            started: self.started,
            began: self.began,
            span: self.span.take(),
            #[cfg(feature = "test-util")]
            scoped: self.bound.take_scoped(),
        }
    }

    /// By the subject that it was laid down without.
    #[inline]
    pub(crate) fn taken_up(subject: S, laid_down: LaidDown<S::Policy>) -> Self {
        Self {
            bound: Bound::as_before(
                subject,
                #[cfg(feature = "test-util")]
                laid_down.scoped,
            ),
            mark: laid_down.mark,
            started: laid_down.started,
            began: laid_down.began,
            span: laid_down.span,
        }
    }
}

/// A refusal of which no observer has heard.
#[cfg(feature = "tower")]
#[derive(Debug)]
pub(crate) struct Unheard(Rejected);

#[cfg(feature = "tower")]
impl Unheard {
    /// There was a call to refuse, and this is it: for as long as it is refused now. Where the
    /// circuit has closed since, there is nothing left of the wait.
    pub(crate) fn made<S: Subject>(&self, subject: S) -> CircuitOpenError {
        let bound = Bound::new(subject);
        let lent = bound.lent();
        let refused = lent.refused_at_once(Given::NONE).unwrap_or_else(|| {
            let (refused, generation) = match lent.refusal() {
                Some(now) => (Refused::from(&now), now.generation),
                None => (Refused::from(&self.0).without_wait(), self.0.generation),
            };
            lent.tell_rejected(refused, generation);
            refused
        });
        CircuitOpenError::new(subject.name(), refused)
    }
}

/// A [`Ticket`] without its subject: what of it can be kept for any time. As it
/// stands it settles nothing.
#[cfg(feature = "std")]
pub(crate) struct LaidDown<P: Policy> {
    mark: Mark,
    started: P::Started,
    began: Began,
    span: CallSpan,
    /// The test scope that the call was admitted in.
    #[cfg(feature = "test-util")]
    scoped: Option<crate::test::Scoped<P>>,
}

#[cfg(feature = "std")]
impl<P: Policy> LaidDown<P> {
    #[inline]
    pub(crate) fn generation(&self) -> Generation {
        self.mark.generation()
    }
}

/// Of no call.
#[cfg(feature = "std")]
impl<P: Policy> Default for LaidDown<P> {
    #[inline]
    fn default() -> Self {
        Self {
            mark: Mark::NONE,
            started: P::Started::default(),
            began: Began::UNKNOWN,
            span: CallSpan::NONE,
            #[cfg(feature = "test-util")]
            scoped: None,
        }
    }
}

impl<S: Subject> fmt::Debug for Ticket<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket")
            .field("breaker", &self.subject().name())
            .field("generation", &self.generation())
            .finish_non_exhaustive()
    }
}

/// A slot that no ticket has yet: given back if a clock panics in between.
struct Slot<'a, S: Subject> {
    bound: Lent<'a, S>,
    generation: Generation,
}

impl<S: Subject> Drop for Slot<'_, S> {
    #[cold]
    fn drop(&mut self) {
        let started = <S::Policy as Policy>::Started::default();
        let (mark, end) = (Mark::untimed(self.generation), End::Of(Outcome::Dropped));
        self.bound
            .settle(mark, end, started, Began::UNKNOWN, Given::NONE);
    }
}

impl<S: Subject> Drop for Ticket<S> {
    #[inline]
    fn drop(&mut self) {
        if self.is_admitted() {
            let mark = core::mem::replace(&mut self.mark, Mark::NONE);
            let follow = (self.began, self.span.take());
            Ticket::give_up(self.bound.lent(), mark, self.started, follow);
        }
    }
}
