//! How calls end, and what that does to the breaker.

use crate::state::{Generation, State};
use core::fmt;
use core::time::Duration;

/// How an admitted call ended. A finished call is exactly one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The dependency answered.
    Success,
    /// The dependency failed: this counts.
    Failure,
    /// An answer that says nothing about the dependency's health, like a 404 or
    /// a bad request: nothing is counted.
    Ignored,
    /// The call was given up before it ended. Counts as [`OnCancel`] says.
    ///
    /// [`OnCancel`]: crate::OnCancel
    Dropped,
    /// The call panicked. A failure.
    Panicked,
    /// The dependency asked to be left alone for this long (a `Retry-After`):
    /// opens at once, for so long, without backoff, cap or jitter. Exact to
    /// 10 us up to 83 s, to 1 ms up to 9.3 h, and coarser above; rounded up.
    Overloaded(Duration),
}

/// What an outcome did to the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// The call was admitted in an earlier generation: its outcome was
    /// discarded.
    Late,
    /// Nothing was counted.
    Neutral,
    /// It was counted and changed no state.
    Counted,
    /// It opened the breaker, from closed or half-open.
    Tripped(Change),
    /// It closed the breaker.
    Closed(Change),
    /// In shadow: it would have tripped. Reported once per entry into shadow.
    /// The change is the one that was not made: from shadow to open, with the
    /// generation of shadow.
    WouldTrip(Change),
}

impl Effect {
    /// The change of state that the outcome brought about.
    #[must_use]
    pub const fn change(&self) -> Option<&Change> {
        match self {
            Self::Tripped(change) | Self::Closed(change) => Some(change),
            _ => None,
        }
    }
}

/// An entry into a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The state that was left.
    pub from: State,
    /// The state that was entered. The same as `from` where a new trial
    /// replaces a stuck one, and for an operator call that repeats.
    pub to: State,
    /// The generation that the entry started. Of two changes of one breaker the
    /// later has the higher one (until it wraps).
    pub generation: Generation,
    /// What brought it about.
    pub trigger: Trigger,
    /// Failures that led here: in a row before a trip, of the trial before a
    /// reopening or a close.
    pub failures: u32,
    /// Calls in the window that tripped; 0 for all else.
    pub calls: u32,
    /// Slow ones of them.
    pub slow: u32,
    /// How long the opening lasts, to which the clock's resolution is added;
    /// `None` where the new state isn't open.
    pub wait: Option<Duration>,
}

/// What brought a change of state about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trigger {
    /// `threshold` failures in a row.
    Failures,
    /// The share of failures in the window.
    FailureRate,
    /// The share of slow calls in the window.
    SlowRate,
    /// The trial failed.
    FailedProbe,
    /// The dependency said that it is overloaded.
    Overloaded,
    /// The wait was over and a call asked: it is the first probe.
    WaitOver,
    /// The trial's probes never settled and `probe_timeout` passed: a new trial.
    ProbeTimedOut,
    /// The trial succeeded.
    Recovered,
    /// An operator call.
    Operator,
    /// A snapshot was restored.
    Restored,
    /// Others that share the circuit did it, and it was [followed](crate::Circuit::follow).
    Fleet,
}

impl Trigger {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Failures,
        Self::FailureRate,
        Self::SlowRate,
        Self::FailedProbe,
        Self::Overloaded,
        Self::WaitOver,
        Self::ProbeTimedOut,
        Self::Recovered,
        Self::Operator,
        Self::Restored,
        Self::Fleet,
    ];

    /// Its name in logs and labels: `failures`, `failure_rate`, `slow_rate`, `failed_probe`,
    /// `overloaded`, `wait_over`, `probe_timed_out`, `recovered`, `operator`, `restored` or
    /// `fleet`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failures => "failures",
            Self::FailureRate => "failure_rate",
            Self::SlowRate => "slow_rate",
            Self::FailedProbe => "failed_probe",
            Self::Overloaded => "overloaded",
            Self::WaitOver => "wait_over",
            Self::ProbeTimedOut => "probe_timed_out",
            Self::Recovered => "recovered",
            Self::Operator => "operator",
            Self::Restored => "restored",
            Self::Fleet => "fleet",
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Trigger;

    #[test]
    fn all_triggers_are_all_of_them() {
        for (at, trigger) in Trigger::ALL.into_iter().enumerate() {
            let place = match trigger {
                Trigger::Failures => 0,
                Trigger::FailureRate => 1,
                Trigger::SlowRate => 2,
                Trigger::FailedProbe => 3,
                Trigger::Overloaded => 4,
                Trigger::WaitOver => 5,
                Trigger::ProbeTimedOut => 6,
                Trigger::Recovered => 7,
                Trigger::Operator => 8,
                Trigger::Restored => 9,
                // The last: who adds one finds that this doesn't compile, and `ALL` above it.
                Trigger::Fleet => Trigger::ALL.len() - 1,
            };
            assert_eq!(place, at);
        }
    }
}
