//! A breaker and the state and clock that its calls act on: its own, or, inside
//! a test scope, the scope's.

use crate::began::Began;
use crate::end::End;
use crate::error::Refused;
use crate::half::Half;
#[cfg(feature = "std")]
use crate::last_change::{LastChange, Noted};
#[cfg(feature = "std")]
use crate::link::{Counted, Follow};
use crate::mark::Mark;
#[cfg(feature = "std")]
use crate::notify::Audience;
use crate::reconfigure::one_at_a_time;
use crate::subject::Subject;
use breaker_core::{
    Change, CircuitRef, Clock, Config, Effect, Generation, Overrides, Policy, Reason,
    Reconfiguration, ReconfigureError, Rejected, Snapshot, SnapshotError,
};
use core::time::Duration;

pub(crate) struct Bound<S: Subject> {
    subject: Half<S>,
    #[cfg(feature = "test-util")]
    scoped: Option<crate::test::Scoped<S::Policy>>,
}

/// What an operator has done to a circuit that they saw in a generation.
#[cfg(all(
    feature = "status-page",
    not(all(target_family = "wasm", target_os = "unknown"))
))]
#[derive(Clone, Copy, Debug)]
pub enum InGeneration {
    /// The declared configuration, and closed.
    Clear,
    /// Anything else.
    Order(breaker_core::Order),
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

/// A reading of the clock that the caller gave, or none. (Not an `Option`: where it
/// is `None`, half of it has no value, and what the compiler then makes of it
/// makes the processor wait.)
#[derive(Clone, Copy)]
pub(crate) struct Given(u64);

impl Given {
    pub(crate) const NONE: Self = Self(u64::MAX);

    /// The last nanosecond that there is counts as the one before.
    pub(crate) const fn at(now: u64) -> Self {
        if now == u64::MAX {
            Self(now - 1)
        } else {
            Self(now)
        }
    }

    #[inline]
    pub(crate) fn is_given(self) -> bool {
        self.0 != Self::NONE.0
    }

    #[inline]
    fn reading(self) -> Option<u64> {
        self.is_given().then_some(self.0)
    }
}

impl<S: Subject> Bound<S> {
    #[inline]
    pub(crate) fn new(subject: S) -> Self {
        Self {
            #[cfg(feature = "test-util")]
            scoped: subject.scoped(),
            subject: Half::of(subject),
        }
    }

    /// Outside of test scopes.
    #[cfg(feature = "std")]
    pub(crate) fn of_process(subject: S) -> Self {
        Self {
            subject: Half::of(subject),
            #[cfg(feature = "test-util")]
            scoped: None,
        }
    }

    /// In the scope of an earlier one.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn as_before(
        subject: S,
        #[cfg(feature = "test-util")] scoped: Option<crate::test::Scoped<S::Policy>>,
    ) -> Self {
        Self {
            subject: Half::of(subject),
            #[cfg(feature = "test-util")]
            scoped,
        }
    }

    /// The same, in the same scope; what is left here is settled by nobody.
    #[inline]
    pub(crate) fn take(&mut self) -> Self {
        Self {
            subject: self.subject,
            #[cfg(feature = "test-util")]
            scoped: self.scoped.take(),
        }
    }

    /// The scope, for [`as_before`](Self::as_before).
    #[cfg(feature = "test-util")]
    #[inline]
    pub(crate) fn take_scoped(&mut self) -> Option<crate::test::Scoped<S::Policy>> {
        self.scoped.take()
    }

    #[inline]
    pub(crate) fn subject(&self) -> S {
        self.subject.get()
    }

    /// The same, to be handed on by value: what is handed on by reference has to
    /// be kept in memory.
    #[inline]
    pub(crate) fn lent(&self) -> Lent<'_, S> {
        Lent {
            subject: self.subject.get(),
            #[cfg(feature = "test-util")]
            scoped: self.scoped.as_ref(),
            #[cfg(not(feature = "test-util"))]
            scoped: core::marker::PhantomData,
        }
    }

    /// An operator's order.
    pub(crate) fn operate(
        &self,
        order: impl FnOnce(CircuitRef<'_, S::Policy>, &BoundClock<'_, S::Clock>) -> Change,
    ) -> Change {
        let lent = self.lent();
        let change = order(lent.circuit(), &lent.clock());
        lent.tell_change(&change);
        change
    }

    /// [`operate`](Self::operate) as long as the circuit is in this generation, or
    /// [`clear`](Self::clear); `None`, and nothing is done, once it is in another.
    #[cfg(all(
        feature = "status-page",
        not(all(target_family = "wasm", target_os = "unknown"))
    ))]
    pub(crate) fn operate_in(&self, generation: Generation, order: InGeneration) -> Option<Change> {
        let lent = self.lent();
        let (order, clears) = match order {
            InGeneration::Clear => (breaker_core::Order::Close, !S::IS_A_KEYS),
            InGeneration::Order(order) => (order, false),
        };
        let change = lent
            .circuit()
            .operate_in(generation, order, &lent.clock())?;
        if clears {
            // Not before: the configuration stays as it is where nothing is done.
            self.clear_overrides();
        }
        lent.tell_change(&change);
        Some(change)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let lent = self.lent();
        lent.circuit().snapshot(&lent.clock())
    }

    /// While it is open: until a probe may be let through.
    #[cfg(feature = "std")]
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let Snapshot {
            state, time_left, ..
        } = self.snapshot();
        let is_open = state == breaker_core::State::Open;
        is_open.then(|| match time_left {
            Duration::ZERO => self.lent().time_left_of_link(),
            left => left,
        })
    }

    #[cfg(feature = "std")]
    pub(crate) fn last_change(&self) -> Option<LastChange> {
        let lent = self.lent();
        lent.noted().of(lent.circuit().entered(&lent.clock()))
    }

    pub(crate) fn restore(&self, snapshot: &Snapshot) -> Result<Change, SnapshotError> {
        let change = self.restore_quietly(snapshot)?;
        self.lent().tell_change(&change);
        Ok(change)
    }

    /// [`restore`](Self::restore), without telling the observers.
    pub(crate) fn restore_quietly(&self, snapshot: &Snapshot) -> Result<Change, SnapshotError> {
        let lent = self.lent();
        lent.circuit().restore(snapshot, &lent.clock())
    }

    /// What others did, of which the link is not told again.
    #[cfg(feature = "std")]
    pub(crate) fn follow(&self, follow: &Follow) -> Result<Option<Change>, SnapshotError> {
        let lent = self.lent();
        let Follow { to, only_in } = follow;
        let change = lent.circuit().follow(to, *only_in, &lent.clock())?;
        if let Some(change) = &change {
            lent.tell_followed(change);
        }
        Ok(change)
    }

    #[cfg(feature = "std")]
    pub(crate) fn counted(&self) -> Counted {
        let lent = self.lent();
        lent.circuit().counted(&lent.clock())
    }

    pub(crate) fn config(&self) -> Config {
        self.lent().circuit().config()
    }

    /// Of the configuration, what each call with a `timeout` asks for.
    #[inline]
    pub(crate) fn probe_timeout(&self) -> Duration {
        self.lent().circuit().live().probe_timeout()
    }

    pub(crate) fn reconfigure(
        &self,
        overrides: &Overrides,
    ) -> Result<Reconfiguration, ReconfigureError> {
        let changed = self.reconfigure_quietly(overrides)?;
        self.lent().tell_reconfigured(&changed);
        Ok(changed)
    }

    /// [`reconfigure`](Self::reconfigure), without telling the observers.
    pub(crate) fn reconfigure_quietly(
        &self,
        overrides: &Overrides,
    ) -> Result<Reconfiguration, ReconfigureError> {
        if S::IS_A_KEYS {
            return Err(ReconfigureError::OneKey);
        }
        let lent = self.lent();
        one_at_a_time(|| lent.circuit().live().reconfigure(overrides))
    }

    pub(crate) fn overrides(&self) -> Overrides {
        self.lent().circuit().live().overrides()
    }

    /// Closes it, and gives up what was laid over the declared configuration, unless that is all
    /// keys'.
    pub(crate) fn clear(&self) -> Change {
        if !S::IS_A_KEYS {
            self.clear_overrides();
        }
        self.operate(|circuit, clock| circuit.close(clock))
    }

    pub(crate) fn clear_overrides(&self) -> Option<Reconfiguration> {
        let lent = self.lent();
        let changed = lent.circuit().live().clear_overrides()?;
        lent.tell_reconfigured(&changed);
        Some(changed)
    }

    /// Before a call asks for admission.
    #[inline]
    pub(crate) fn enter(&self) {
        #[cfg(feature = "std")]
        self.subject.get().enter();
        #[cfg(feature = "test-util")]
        if let Some(scope) = self.scope() {
            crate::registry::arrive_in(scope, self);
        }
    }

    /// Admits a call if the breaker is closed and no observer wants to hear of calls: the answer of
    /// the common case.
    #[inline]
    pub(crate) fn admit_at_once(&self) -> Option<Generation> {
        if Began::is_wanted() {
            return None;
        }
        self.lent().circuit().admit_if_closed()
    }

    /// What `settle` wants to know of the moment of admission.
    #[inline]
    pub(crate) fn start(&self, given: Given) -> <S::Policy as Policy>::Started {
        self.lent().start(given)
    }

    /// The test scope that the call belongs to.
    #[cfg(feature = "test-util")]
    pub(crate) fn scope(&self) -> Option<&crate::test::Scope> {
        self.scoped.as_ref().map(crate::test::Scoped::scope)
    }
}

/// A [`Bound`], lent.
pub(crate) struct Lent<'a, S: Subject> {
    subject: S,
    #[cfg(feature = "test-util")]
    scoped: Option<&'a crate::test::Scoped<S::Policy>>,
    #[cfg(not(feature = "test-util"))]
    scoped: core::marker::PhantomData<&'a S>,
}

impl<S: Subject> Clone for Lent<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Subject> Copy for Lent<'_, S> {}

impl<'a, S: Subject> Lent<'a, S> {
    #[inline]
    pub(crate) fn circuit(&self) -> CircuitRef<'_, S::Policy> {
        #[cfg(feature = "test-util")]
        if let Some(circuit) = self.scoped.and_then(crate::test::Scoped::circuit) {
            return circuit.by_ref();
        }
        self.subject.circuit()
    }

    /// What brought the state about that [`circuit`](Self::circuit) is in.
    #[cfg(feature = "std")]
    pub(crate) fn noted(&self) -> &Noted {
        #[cfg(feature = "test-util")]
        if let Some(noted) = self.scoped.and_then(crate::test::Scoped::noted) {
            return noted;
        }
        self.subject.noted()
    }

    #[inline]
    pub(crate) fn clock(&self) -> BoundClock<'_, S::Clock> {
        #[cfg(feature = "test-util")]
        if let Some(scoped) = self.scoped {
            return BoundClock::Scoped(scoped.clock());
        }
        BoundClock::Own(self.subject.breaker().own_clock())
    }

    #[inline]
    pub(crate) fn clock_or(&self, given: Given) -> BoundClock<'_, S::Clock> {
        match given.reading() {
            Some(now) => BoundClock::Given(now, self.clock().entropy()),
            None => self.clock(),
        }
    }

    /// The common refusal; `None`: ask [`admit`](Self::admit).
    #[inline]
    pub(crate) fn refused_at_once(self, given: Given) -> Option<Refused> {
        let (generation, left) = self.circuit().refused_at_once(&self.clock_or(given))?;
        let refused = Refused {
            reason: Reason::Open,
            left: left.get(),
        };
        self.tell_rejected(refused, generation);
        Some(refused)
    }

    /// Asks for admission, at a given reading or by the clock, where it was not
    /// refused at once. Who asks tells the observers of the change, once the slot
    /// can't be lost any more.
    pub(crate) fn admit(self, given: Given) -> Result<(Generation, Option<Change>), Refused> {
        self.ask(given).map_err(|rejected| {
            let refused = Refused::from(&rejected);
            self.tell_rejected(refused, rejected.generation);
            refused
        })
    }

    /// [`admit`](Self::admit), without telling the observers.
    #[inline]
    pub(crate) fn ask(self, given: Given) -> Result<(Generation, Option<Change>), Rejected> {
        #[cfg(feature = "std")]
        if self.is_linked() {
            return self.ask_if_granted(given, true);
        }
        let admission = self.circuit().try_admit_slowly(&self.clock_or(given))?;
        Ok((admission.generation, admission.change))
    }

    /// [`ask`](Self::ask) of a circuit that is shared: whether a call may probe is the link's to say.
    #[cfg(feature = "std")]
    #[cold]
    #[inline(never)]
    fn ask_if_granted(
        self,
        given: Given,
        is_made: bool,
    ) -> Result<(Generation, Option<Change>), Rejected> {
        let (mut may, mut left) = (false, None);
        let granted = || {
            left = self.may_probe().err();
            may = left.is_none();
            may && is_made
        };
        let asked = self
            .circuit()
            .try_admit_slowly_if_granted(&self.clock_or(given), granted);
        match (asked, left) {
            (Ok(admission), _) => Ok((admission.generation, admission.change)),
            (Err(rejected), None) => {
                if may {
                    self.tell_link_that_withdrawn();
                }
                Err(rejected)
            }
            (Err(mut rejected), left) => {
                rejected.retry_after = left;
                Err(rejected)
            }
        }
    }

    /// What it says now to a call that nobody will make: nobody hears of it, and no place is
    /// taken. `None`: it is not open any more, and no trial is under way.
    #[cfg(feature = "tower")]
    pub(crate) fn refusal(self) -> Option<Rejected> {
        if self.is_linked() {
            return self.ask_if_granted(Given::NONE, false).err();
        }
        let asked = self
            .circuit()
            .try_admit_slowly_if_granted(&self.clock(), || false);
        asked.err()
    }

    /// What [`settle`](Self::settle) wants to know of the moment of admission.
    #[inline]
    pub(crate) fn start(self, given: Given) -> <S::Policy as Policy>::Started {
        self.circuit().start(&self.clock_or(given))
    }

    #[inline]
    pub(crate) fn settle(
        self,
        mark: Mark,
        end: End,
        started: <S::Policy as Policy>::Started,
        began: Began,
        given: Given,
    ) -> Effect {
        let (circuit, outcome) = (self.circuit(), end.outcome());
        // Of a call that is timed neither of these is so.
        let generation = mark.if_nothing_else();
        if circuit.is_counted(generation, &outcome) {
            return Effect::Counted;
        }
        let took = if circuit.may_count_at_once(&outcome) {
            match self.count_at_once(generation, started, given) {
                Ok(()) => return Effect::Counted,
                Err(took) => took,
            }
        } else {
            circuit.took(started, &self.clock_or(given))
        };
        self.settle_slowly(mark, end, took, began, given)
    }

    /// Else how long the call took. Out of line, and its answer in registers: an
    /// effect that goes through memory makes the processor wait.
    #[inline(never)]
    fn count_at_once(
        self,
        generation: Generation,
        started: <S::Policy as Policy>::Started,
        given: Given,
    ) -> Result<(), u64> {
        let (circuit, clock) = (self.circuit(), self.clock_or(given));
        let took = circuit.took(started, &clock);
        if circuit.count_at_once(generation, took, &clock) {
            Ok(())
        } else {
            Err(took)
        }
    }

    /// Out of line, so that what is kept for it costs the common case nothing.
    #[inline(never)]
    fn settle_slowly(self, mark: Mark, end: End, took: u64, began: Began, given: Given) -> Effect {
        if !mark.is_timed() {
            return self.count(mark.generation(), end, took, given);
        }
        // Before anybody is told of anything.
        let since = began.elapsed(self, given);
        self.count_timed(mark, end, took, (began, since), given)
    }

    /// [`settle`](Self::settle), of a timed call that has taken so long since it began.
    pub(crate) fn settle_timed(
        self,
        mark: Mark,
        end: End,
        started: <S::Policy as Policy>::Started,
        began: Began,
        since: Duration,
        given: Given,
    ) -> Effect {
        let took = self.circuit().took(started, &self.clock_or(given));
        self.count_timed(mark, end, took, (began, since), given)
    }

    fn count_timed(
        self,
        mark: Mark,
        end: End,
        took: u64,
        (began, since): (Began, Duration),
        given: Given,
    ) -> Effect {
        let effect = self.count(mark.generation(), end, took, given);
        self.tell_ended(mark.generation(), end, began, since);
        effect
    }

    #[inline(always)]
    fn count(self, generation: Generation, end: End, took: u64, given: Given) -> Effect {
        #[cfg(feature = "std")]
        if self.is_linked() {
            return self.count_linked(generation, end, took, given);
        }
        self.count_alone(generation, end, took, given)
    }

    /// [`count`](Self::count), and its link hears of it.
    #[cfg(feature = "std")]
    #[cold]
    #[inline(never)]
    fn count_linked(self, generation: Generation, end: End, took: u64, given: Given) -> Effect {
        let outcome = end.outcome();
        let counting = self.counting(generation, &outcome, took);
        let effect = self.count_alone(generation, end, took, given);
        self.tell_link_of_outcome(counting, generation, &outcome, &effect);
        effect
    }

    #[inline(always)]
    fn count_alone(self, generation: Generation, end: End, took: u64, given: Given) -> Effect {
        let clock = self.clock_or(given);
        let effect = self
            .circuit()
            .settle_slowly(generation, end.outcome(), took, &clock);
        match &effect {
            Effect::Tripped(change) | Effect::Closed(change) => self.tell_change(change),
            Effect::WouldTrip(change) => self.tell_would_trip(change),
            Effect::Late => self.tell_late(generation, end),
            _ => {}
        }
        effect
    }

    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn subject(self) -> S {
        self.subject
    }

    /// Not by value: what it lends lives as long as this.
    #[cfg(feature = "std")]
    pub(crate) fn subject_ref(&self) -> &S {
        &self.subject
    }

    /// Whether it is the state of a test scope.
    #[cfg(feature = "std")]
    pub(crate) fn is_scoped(self) -> bool {
        #[cfg(feature = "test-util")]
        return self.scoped.is_some();
        #[cfg(not(feature = "test-util"))]
        false
    }

    /// Who hears of what this breaker does.
    #[cfg(feature = "std")]
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
