//! A breaker and the state and clock that its calls act on: its own, or, inside
//! a test scope, the scope's.

use crate::breaker::Breaker;
use crate::error::Refused;
use crate::notify::Audience;
use breaker_core::{Change, Circuit, Clock, Effect, Generation, Outcome, Policy, Reason};

pub(crate) struct Bound<'b, C: 'static, P: 'static> {
    breaker: &'b Breaker<C, P>,
    #[cfg(feature = "test-util")]
    scoped: Option<crate::test::Scoped<P>>,
}

/// The clock that a bound breaker reads.
pub(crate) enum BoundClock<'a, C> {
    Own(&'a C),
    /// A reading that the caller gave, in nanoseconds: exact; and the entropy of
    /// the clock that wasn't read.
    Given(u64, Option<u64>),
    #[cfg(feature = "test-util")]
    Scoped(&'a breaker_core::ManualClock),
}

impl<'b, C, P> Bound<'b, C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    #[inline]
    pub(crate) fn new(breaker: &'b Breaker<C, P>) -> Self {
        Self {
            breaker,
            #[cfg(feature = "test-util")]
            scoped: crate::test::Scoped::of(breaker),
        }
    }

    #[inline]
    pub(crate) fn breaker(&self) -> &'b Breaker<C, P> {
        self.breaker
    }

    /// The same, to be handed on by value: what is handed on by reference has to
    /// be kept in memory.
    #[inline]
    pub(crate) fn lent(&self) -> Lent<'_, C, P> {
        Lent {
            breaker: self.breaker,
            #[cfg(feature = "test-util")]
            scoped: self.scoped.as_ref(),
        }
    }

    #[inline]
    pub(crate) fn circuit(&self) -> &Circuit<P> {
        self.lent().circuit()
    }

    #[inline]
    pub(crate) fn clock(&self) -> BoundClock<'_, C> {
        self.lent().clock()
    }

    /// Admits a call if the breaker is closed: the answer of the common case.
    #[inline]
    pub(crate) fn admit_if_closed(&self) -> Option<Generation> {
        #[cfg(feature = "std")]
        crate::registry::enter(self.breaker);
        self.circuit().admit_if_closed()
    }

    /// What `settle` wants to know of the moment of admission.
    #[inline]
    pub(crate) fn start(&self, given: Option<u64>) -> P::Started {
        self.lent().start(given)
    }

    pub(crate) fn notify(&self, change: &Change) {
        self.lent().notify(change);
    }

    /// Who hears of what this breaker does.
    pub(crate) fn audience(&self) -> Audience<'_> {
        self.lent().audience()
    }

    /// The test scope that the call belongs to.
    #[cfg(feature = "test-util")]
    pub(crate) fn scope(&self) -> Option<&crate::test::Scope> {
        self.scoped.as_ref().map(crate::test::Scoped::scope)
    }
}

/// A [`Bound`], lent.
pub(crate) struct Lent<'a, C: 'static, P: 'static> {
    breaker: &'a Breaker<C, P>,
    #[cfg(feature = "test-util")]
    scoped: Option<&'a crate::test::Scoped<P>>,
}

impl<C, P> Clone for Lent<'_, C, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C, P> Copy for Lent<'_, C, P> {}

impl<'a, C, P> Lent<'a, C, P>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    #[inline]
    pub(crate) fn circuit(self) -> &'a Circuit<P> {
        #[cfg(feature = "test-util")]
        if let Some(scoped) = self.scoped {
            return scoped.circuit();
        }
        self.breaker.own_circuit()
    }

    #[inline]
    pub(crate) fn clock(self) -> BoundClock<'a, C> {
        #[cfg(feature = "test-util")]
        if let Some(scoped) = self.scoped {
            return BoundClock::Scoped(scoped.clock());
        }
        BoundClock::Own(self.breaker.own_clock())
    }

    fn clock_or(self, given: Option<u64>) -> BoundClock<'a, C> {
        match given {
            Some(now) => BoundClock::Given(now, self.clock().entropy()),
            None => self.clock(),
        }
    }

    /// The common refusal; `None`: ask [`admit`](Self::admit).
    #[inline]
    pub(crate) fn refused_at_once(self, given: Option<u64>) -> Option<Refused> {
        let (generation, left) = self.circuit().refused_at_once(&self.clock_or(given))?;
        let refused = Refused {
            reason: Reason::Open,
            left: left.get(),
        };
        self.audience().rejected(self.breaker, refused, generation);
        Some(refused)
    }

    /// Asks for admission, at a given reading or by the clock. Who asks tells the
    /// observers of the change, once the slot can't be lost any more.
    pub(crate) fn admit(self, given: Option<u64>) -> Result<(Generation, Option<Change>), Refused> {
        match self.circuit().try_admit(&self.clock_or(given)) {
            Ok(admission) => Ok((admission.generation, admission.change)),
            Err(rejected) => {
                let refused = Refused::from(&rejected);
                self.audience()
                    .rejected(self.breaker, refused, rejected.generation);
                Err(refused)
            }
        }
    }

    /// What [`settle`](Self::settle) wants to know of the moment of admission.
    #[inline]
    pub(crate) fn start(self, given: Option<u64>) -> P::Started {
        self.circuit().start(&self.clock_or(given))
    }

    #[inline]
    pub(crate) fn settle(
        self,
        generation: Generation,
        outcome: Outcome,
        started: P::Started,
        given: Option<u64>,
    ) -> Effect {
        if self.circuit().is_counted(generation, &outcome) {
            return Effect::Counted;
        }
        self.settle_slowly(generation, outcome, started, given)
    }

    /// Out of line, so that what is kept for it costs the common case nothing.
    #[inline(never)]
    fn settle_slowly(
        self,
        generation: Generation,
        outcome: Outcome,
        started: P::Started,
        given: Option<u64>,
    ) -> Effect {
        let clock = self.clock_or(given);
        let effect = self
            .circuit()
            .settle_started(generation, outcome, started, &clock);
        match &effect {
            Effect::Tripped(change) | Effect::Closed(change) => self.notify(change),
            Effect::WouldTrip(change) => {
                self.audience().would_trip(self.breaker.label(), change);
            }
            _ => {}
        }
        effect
    }

    pub(crate) fn notify(self, change: &Change) {
        self.audience().state_changed(self.breaker.label(), change);
    }

    /// Who hears of what this breaker does.
    pub(crate) fn audience(self) -> Audience<'a> {
        #[cfg(feature = "test-util")]
        if let Some(scoped) = self.scoped {
            return Audience::of_scope(scoped.scope());
        }
        Audience::of_process()
    }
}

impl<C: Clock> Clock for BoundClock<'_, C> {
    #[inline]
    fn now(&self) -> u64 {
        match self {
            Self::Own(clock) => clock.now(),
            Self::Given(now, _) => *now,
            #[cfg(feature = "test-util")]
            Self::Scoped(clock) => clock.now(),
        }
    }

    #[inline]
    fn resolution(&self) -> u64 {
        match self {
            Self::Own(clock) => clock.resolution(),
            Self::Given(..) => 0,
            #[cfg(feature = "test-util")]
            Self::Scoped(clock) => clock.resolution(),
        }
    }

    #[inline]
    fn exact(&self) -> u64 {
        match self {
            Self::Own(clock) => clock.exact(),
            Self::Given(now, _) => *now,
            #[cfg(feature = "test-util")]
            Self::Scoped(clock) => clock.exact(),
        }
    }

    #[inline]
    fn entropy(&self) -> Option<u64> {
        match self {
            Self::Own(clock) => clock.entropy(),
            Self::Given(_, entropy) => *entropy,
            #[cfg(feature = "test-util")]
            Self::Scoped(clock) => clock.entropy(),
        }
    }
}
