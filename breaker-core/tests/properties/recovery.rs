//! A breaker that is left alone with a healthy dependency closes.

use crate::world::{Check, TestClock};
use breaker_core::{Circuit, Clock, Effect, Outcome, Policy, Reason, Rejected, State};
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq};
use std::time::Duration;

/// How calls go on once the dependency is healthy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Healthy {
    /// Nanoseconds that a call takes; no more than `probe_timeout` are taken.
    pub(crate) took: u64,
    /// As many calls at once as are admitted, or one after the other.
    pub(crate) at_once: bool,
}

/// Whatever became of the calls before: once the wait or the probe timeout has
/// passed, as many successes as a trial takes close it.
///
/// Of a breaker that an operator has forced into a state, nothing is asked.
pub(crate) fn recovers<P: Policy>(
    circuit: &Circuit<P>,
    clock: &TestClock,
    healthy: Healthy,
) -> Check {
    let state = circuit.state();
    if matches!(state, State::ForcedOpen | State::Disabled | State::Shadow) {
        return Ok(());
    }
    let config = circuit.config();
    let trial_takes = config.close_after().unwrap_or(config.probes());
    let mut waited = false;
    let mut since_waiting = 0;
    while circuit.state() != State::Closed {
        match calls(circuit, clock, healthy)? {
            Ok(made) => since_waiting += made,
            Err(refused) => {
                prop_assert!(!waited, "refused again: {refused:?}");
                waited = true;
                since_waiting = 0;
                let wait = refusal_is_honest(circuit, clock, refused)?;
                let now = clock.now();
                match now.checked_add(wait) {
                    Some(then) => clock.hand.set(then),
                    None => {
                        // This clock ends before the wait: it starts again, and
                        // what the breaker had waited for is forgotten.
                        clock.hand.set(0);
                        waited = false;
                    }
                }
            }
        }
        // Before, the rest of a stuck trial, and a trial that replaced it while
        // these calls took their time.
        let most = if waited { trial_takes } else { 2 * trial_takes };
        prop_assert!(since_waiting <= most, "{since_waiting} successes");
    }
    prop_assert!(!waited || since_waiting == trial_takes, "{since_waiting}");
    let admitted = circuit.try_admit(clock);
    prop_assert!(admitted.is_ok(), "closed, but {admitted:?}");
    Ok(())
}

/// Makes calls that succeed, or is refused. How many?
fn calls<P: Policy>(
    circuit: &Circuit<P>,
    clock: &TestClock,
    healthy: Healthy,
) -> Result<Result<u32, Rejected>, TestCaseError> {
    let most = if healthy.at_once { u32::MAX } else { 1 };
    let mut permits = Vec::new();
    let mut refused = None;
    while (permits.len() as u32) < most && circuit.state() != State::Closed {
        match circuit.admit(clock) {
            Ok(permit) => permits.push(permit),
            Err(rejected) => {
                refused = Some(rejected);
                break;
            }
        }
    }
    let made = permits.len() as u32;
    if let (0, Some(rejected)) = (made, refused) {
        return Ok(Err(rejected));
    }
    let timeout = u64::try_from(circuit.config().probe_timeout().as_nanos());
    let took = healthy.took.min(timeout.unwrap_or(u64::MAX));
    clock.hand.advance(Duration::from_nanos(took));
    let mut closed = false;
    for permit in permits {
        // The others of a trial that is decided come late.
        let effect = permit.settle(Outcome::Success);
        prop_assert!(effect != Effect::Neutral, "a success that is not counted");
        closed |= matches!(effect, Effect::Closed(_));
    }
    prop_assert_eq!(closed, circuit.state() == State::Closed);
    Ok(Ok(made))
}

/// The wait that a refusal names is the one that the snapshot names, or no more
/// than the probe timeout.
fn refusal_is_honest<P: Policy>(
    circuit: &Circuit<P>,
    clock: &TestClock,
    refused: Rejected,
) -> Result<u64, TestCaseError> {
    let left = refused.retry_after.unwrap_or(Duration::MAX);
    match refused.reason {
        Reason::Open => {
            // A snapshot leaves out by how much the clock may lag.
            let time_left = circuit.snapshot(clock).time_left;
            let lag = Duration::from_nanos(clock.resolution());
            let honest = (time_left..=time_left.saturating_add(lag)).contains(&left);
            prop_assert!(honest, "{left:?} where {time_left:?} are left");
        }
        _ => {
            let timeout = circuit.config().probe_timeout();
            let most =
                timeout + Duration::from_nanos(clock.resolution()) + Duration::from_micros(10);
            prop_assert!(left <= most, "{left:?}");
        }
    }
    // The instant it is measured from may be kept 10 us too late.
    let left = left.saturating_add(Duration::from_micros(10));
    Ok(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX))
}
