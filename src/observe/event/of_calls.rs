//! What observers hear of calls.

use super::{CircuitId, Named};
use crate::brief::Brief;
use crate::end::End;
use crate::error::CircuitOpenError;
use crate::name::KeyLabel;
use crate::notify::InPlaceOf;
use breaker_core::{Generation, Outcome};
use std::fmt;
use std::time::Duration;

/// A call was refused.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rejection<'a> {
    /// What the caller gets: name, reason, time left.
    pub error: &'a CircuitOpenError,
    /// Which circuit.
    pub circuit: CircuitId,
    /// How many refused calls this stands for: 1, unless they are counted on the way
    /// ([`FirstThenCounts`](crate::observe::FirstThenCounts)).
    pub calls: u64,
    /// The generation that refused.
    pub generation: Generation,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for Rejection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.calls {
            1 => write!(f, "call refused: {}", self.error),
            calls => write!(f, "{calls} calls refused: {}", self.error),
        }
    }
}

/// A fallback's answer was served.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FallbackServed<'a> {
    /// The breaker's name.
    pub breaker: &'a str,
    /// The key, if the breaker is one of several by key.
    pub key: Option<KeyLabel<'a>>,
    /// Which circuit.
    pub circuit: CircuitId,
    /// What the answer stands in for.
    pub in_place_of: InPlaceOf,
    /// The breaker's generation at that time.
    pub generation: Generation,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for FallbackServed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "circuit `{}` served a fallback in place of {}",
            Named(self.breaker, self.key),
            match self.in_place_of {
                InPlaceOf::Open => "a refused call",
                InPlaceOf::Failed => "a failed call",
                InPlaceOf::TimedOut => "a call that timed out",
            }
        )
    }
}

/// How an admitted call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallOutcome {
    /// It succeeded.
    Success,
    /// It failed, and that counts.
    Failure,
    /// It took longer than its `timeout`, which counts as a failure.
    TimedOut,
    /// It gave an answer that is neither: a 404, a bad request.
    Ignored,
    /// It was dropped before it ended.
    Dropped,
    /// It panicked.
    Panicked,
    /// The dependency asked to be left alone for so long.
    Overloaded(Duration),
}

impl CallOutcome {
    /// Its name in logs and metrics: `success`, `failure`, `timeout`, `ignored`, `dropped`,
    /// `panicked`, `overloaded`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::TimedOut => "timeout",
            Self::Ignored => "ignored",
            Self::Dropped => "dropped",
            Self::Panicked => "panicked",
            Self::Overloaded(_) => "overloaded",
        }
    }
}

impl From<End> for CallOutcome {
    fn from(end: End) -> Self {
        match end {
            End::TimedOut => Self::TimedOut,
            #[cfg(feature = "tower")]
            End::NotMade => Self::Ignored,
            End::Of(outcome) => match outcome {
                Outcome::Success => Self::Success,
                Outcome::Ignored => Self::Ignored,
                Outcome::Dropped => Self::Dropped,
                Outcome::Panicked => Self::Panicked,
                Outcome::Overloaded(wait) => Self::Overloaded(wait),
                // `Failure`; core adds none without this.
                _ => Self::Failure,
            },
        }
    }
}

impl fmt::Display for CallOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An admitted call ended, also one that was late. Told where
/// [`Observer::wants_calls`](crate::observe::Observer::wants_calls).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallEnded<'a> {
    /// The breaker's name.
    pub breaker: &'a str,
    /// The key, if the breaker is one of several by key.
    pub key: Option<KeyLabel<'a>>,
    /// Which circuit.
    pub circuit: CircuitId,
    /// How.
    pub outcome: CallOutcome,
    /// From its admission on, by the exact clock.
    pub took: Duration,
    /// The generation that admitted it.
    pub generation: Generation,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for CallEnded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "circuit `{}`: a call ended after {}: {}",
            Named(self.breaker, self.key),
            Brief(self.took),
            self.outcome
        )
    }
}

/// A call ended in another generation than the one that admitted it: its outcome counts for
/// nothing.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LateOutcome<'a> {
    /// The breaker's name.
    pub breaker: &'a str,
    /// The key, if the breaker is one of several by key.
    pub key: Option<KeyLabel<'a>>,
    /// Which circuit.
    pub circuit: CircuitId,
    /// How it ended.
    pub outcome: CallOutcome,
    /// The generation that admitted it.
    pub generation: Generation,
    /// The breaker's generation now.
    pub current: Generation,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for LateOutcome<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "circuit `{}`: a call ended too late to count: {}",
            Named(self.breaker, self.key),
            self.outcome
        )
    }
}
