//! Sharing a circuit with other processes: what a breaker tells and asks, and how it follows.
//!
//! A [`Link`] is what a breaker is shared through: `breaker-redis` has one. A breaker asks it before it
//! lets a probe through, and tells it what happens to its circuit; the link brings back what others
//! did by [`AnyBreaker::follow`](crate::AnyBreaker::follow). A closed breaker's calls have nothing to do
//! with it, but for those that fail.

use crate::AnyBreaker;
use crate::name::KeyLabel;
use breaker_core::{Change, Effect, Generation, Outcome, Snapshot};
use std::fmt;
use std::time::Duration;

/// What a breaker shares its circuit through.
///
/// It is called within calls, outside any lock of the breaker's: nothing here may wait, and what panics
/// costs nobody a slot or an answer. Inside a test scope (`breakerbox::test`) nothing is shared.
pub trait Link: Send + Sync {
    /// The circuit entered a state by what happened in this process: also by an operator, a restored
    /// snapshot, and a probe that was let through; not by `follow`.
    fn changed(&self, circuit: &Linked<'_>, change: &Change);

    /// An outcome was more than the common success of a closed breaker: a failure, a success that ends a
    /// row of failures, the end of a probe. What it changed was told before, by
    /// [`changed`](Self::changed).
    fn settled(
        &self,
        circuit: &Linked<'_>,
        generation: Generation,
        outcome: &Outcome,
        effect: &Effect,
    );

    /// The wait is over, or a trial has room for more, and a call asks to probe. `Err`: not now; how
    /// long it will take at least until it may, as far as it is known, is what callers are told as
    /// `retry_after`.
    ///
    /// # Errors
    /// The time until a probe may be let through.
    fn may_probe(&self, circuit: &Linked<'_>) -> Result<(), Duration>;

    /// A key's breaker was made: nothing is known of it here yet.
    fn key_added(&self, circuit: &Linked<'_>);
}

/// The circuit that a [`Link`] hears of.
pub struct Linked<'a> {
    breaker: &'a dyn AnyBreaker,
    key: Option<KeyLabel<'a>>,
}

impl<'a> Linked<'a> {
    /// The breaker: for what it is now.
    #[must_use]
    pub fn breaker(&self) -> &'a dyn AnyBreaker {
        self.breaker
    }

    /// Its key, if it is one of several by key.
    #[must_use]
    pub fn key(&self) -> Option<KeyLabel<'a>> {
        self.key
    }
}

impl fmt::Debug for Linked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linked")
            .field("breaker", &self.breaker.name())
            .finish_non_exhaustive()
    }
}

/// What others did to a circuit, to be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follow {
    /// The state that it has elsewhere. `HalfOpen` is open here with no time left: whether a call may
    /// probe is then asked of the link.
    pub to: Snapshot,
    /// Only while the circuit is in this generation: what happened here since is not undone.
    pub only_in: Option<Generation>,
}

/// What a closed circuit has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Calls in the window; 0 where failures in a row count.
    pub calls: u32,
    /// Failures in the window, or in a row.
    pub failures: u32,
    /// Slow calls in the window.
    pub slow: u32,
}
