//! What an entry into a state says, without the name of the breaker.

use crate::brief::Brief;
use breaker_core::{Change, State, Trigger};
use std::fmt;
use std::time::Duration;

/// "opened after 5 failures, for 30s".
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entering {
    pub(crate) from: State,
    pub(crate) to: State,
    pub(crate) trigger: Trigger,
    pub(crate) failures: u32,
    pub(crate) wait: Option<Duration>,
}

impl From<&Change> for Entering {
    fn from(change: &Change) -> Self {
        Self {
            from: change.from,
            to: change.to,
            trigger: change.trigger,
            failures: change.failures,
            wait: change.wait,
        }
    }
}

impl fmt::Display for Entering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            from, to, trigger, ..
        } = *self;
        match (to, trigger) {
            (to, Trigger::Restored) => write!(f, "was restored: {to}")?,
            (State::Open, Trigger::Fleet) => f.write_str(opened_by_fleet(from))?,
            (State::Closed, Trigger::Fleet) => f.write_str("was closed by the fleet")?,
            (to, Trigger::Fleet) => write!(f, "was set by the fleet: {to}")?,
            (State::Open, Trigger::Operator) => f.write_str("was opened by an operator")?,
            (to, Trigger::Operator) => write!(f, "was set by an operator: {to}")?,
            (State::Open, _) => return self.opening(f),
            (State::HalfOpen, Trigger::ProbeTimedOut) => {
                f.write_str("probes again: its probes never ended")?;
            }
            (State::HalfOpen, _) => f.write_str("probes: its wait is over")?,
            (State::Closed, _) => f.write_str("closed: its probes succeeded")?,
            (to, trigger) => write!(f, "went from {from} to {to}: {trigger:?}")?,
        }
        self.how_long(f)
    }
}

/// From this state.
fn opened_by_fleet(from: State) -> &'static str {
    match from {
        // As with each probe of another that fails: nothing has changed for those who call.
        State::Open => "was kept open by the fleet",
        State::HalfOpen => "was reopened by the fleet",
        _ => "was opened by the fleet",
    }
}

impl Entering {
    /// Whether both were brought about in the same way, and so are the same in words, but for how long.
    #[cfg(all(
        feature = "log",
        any(
            feature = "js",
            not(all(target_family = "wasm", target_os = "unknown"))
        )
    ))]
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let is_same = (self.to, self.trigger) == (other.to, other.trigger);
        let is_by_fleet = (self.to, self.trigger) == (State::Open, Trigger::Fleet);
        is_same && (!is_by_fleet || opened_by_fleet(self.from) == opened_by_fleet(other.from))
    }

    /// Of an opening, also of one in shadow, which is entered by nobody's order.
    pub(super) fn opening(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failures = Failures(self.failures);
        let opened = if self.from == State::HalfOpen {
            "reopened"
        } else {
            "opened"
        };
        match self.trigger {
            Trigger::FailedProbe => write!(f, "{opened} after {failures} while probing")?,
            Trigger::Failures => write!(f, "{opened} after {failures}")?,
            Trigger::FailureRate => {
                write!(
                    f,
                    "{opened}: too many calls failed, {failures} in the window"
                )?;
            }
            Trigger::SlowRate => {
                write!(
                    f,
                    "{opened}: too many calls were slow, {failures} in the window"
                )?;
            }
            Trigger::Overloaded => write!(f, "{opened}: overloaded")?,
            other => write!(f, "{opened}: {other:?}")?,
        }
        self.how_long(f)
    }

    fn how_long(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.wait {
            Some(wait) if !wait.is_zero() => write!(f, ", for {}", Brief(wait)),
            _ => Ok(()),
        }
    }
}

struct Failures(u32);

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 failure"),
            failures => write!(f, "{failures} failures"),
        }
    }
}
