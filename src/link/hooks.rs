//! Where a breaker asks and tells its link: all on cold paths.

use super::{Link, Linked};
use crate::bound::Lent;
use crate::observe::forget_panic;
use crate::subject::Subject;
use breaker_core::{Change, Effect, Generation, Outcome, State};
use std::time::Duration;

/// An outcome that may be told, as far as it is known before it is counted.
#[derive(Clone, Copy)]
pub(crate) struct Counting {
    /// In which state it counts; `None`: it comes too late.
    state: Option<State>,
    is_common: bool,
}

impl Counting {
    fn is_told(self, effect: &Effect) -> bool {
        match (effect, self.state) {
            (Effect::Late, _) | (_, None) => false,
            (_, Some(State::HalfOpen)) | (Effect::WouldTrip(_), _) => true,
            (_, Some(State::Shadow)) | (Effect::Neutral, _) => false,
            _ => !self.is_common,
        }
    }
}

impl<S: Subject> Lent<'_, S> {
    /// Whether its circuit is shared.
    #[inline]
    pub(crate) fn is_linked(&self) -> bool {
        self.link().is_some()
    }

    /// What its circuit is shared through. In a test scope nothing is.
    #[inline]
    fn link(&self) -> Option<&dyn Link> {
        let link = self.subject_ref().breaker().link_slot().get()?;
        (!self.is_scoped() && self.subject_ref().is_kept()).then_some(&**link)
    }

    /// A panic ends here, as an observer's does. It is called outside of test scopes, so that what it
    /// asks of the breaker is of the circuit that it hears of.
    fn tell_link(&self, tell: impl FnOnce(&dyn Link, &Linked<'_>)) {
        if let Some(link) = self.link() {
            let circuit = self.subject_ref().linked();
            outside_of_scopes(|| forget_panic(|| tell(link, &circuit)));
        }
    }

    pub(crate) fn may_probe(&self) -> Result<(), Duration> {
        let mut answer = Ok(());
        self.tell_link(|link, circuit| answer = link.may_probe(circuit));
        answer
    }

    pub(crate) fn time_left_of_link(&self) -> Duration {
        let mut left = Duration::ZERO;
        self.tell_link(|link, circuit| left = link.time_left(circuit));
        left
    }

    pub(crate) fn tell_link_that_withdrawn(&self) {
        self.tell_link(|link, circuit| link.probe_withdrawn(circuit));
    }

    pub(crate) fn tell_link_of_change(&self, change: &Change) {
        self.tell_link(|link, circuit| link.changed(circuit, change));
    }

    pub(crate) fn tell_link_of_key(&self) {
        self.tell_link(|link, circuit| link.key_added(circuit));
    }

    pub(crate) fn tell_link_that_given_up(&self) {
        self.tell_link(|link, circuit| link.key_given_up(circuit));
    }

    /// Before an outcome is counted.
    pub(crate) fn counting(
        &self,
        generation: Generation,
        outcome: &Outcome,
        took: u64,
    ) -> Counting {
        Counting {
            state: self.circuit().state_in(generation),
            is_common: self.circuit().is_common(generation, outcome, took),
        }
    }

    pub(crate) fn tell_link_of_outcome(
        &self,
        counting: Counting,
        generation: Generation,
        outcome: &Outcome,
        effect: &Effect,
    ) {
        if counting.is_told(effect) {
            self.tell_link(|link, circuit| link.settled(circuit, generation, outcome, effect));
        }
    }
}

#[cfg(feature = "test-util")]
fn outside_of_scopes(act: impl FnOnce()) {
    crate::test::outside(act);
}

#[cfg(not(feature = "test-util"))]
fn outside_of_scopes(act: impl FnOnce()) {
    act();
}
