//! Compares what a step expects with what happened.

use breakerbox::{CircuitOpenError, Effect, Snapshot, State};

use crate::case::{Expect, ExpectedSnapshot, Millis};

/// What a step did, as far as its operation tells.
#[derive(Debug, Default)]
pub(crate) struct Got {
    /// `None` where nothing asked for admission.
    pub(crate) admission: Option<Result<(), CircuitOpenError>>,
    /// `None` where nothing was settled, or by dropping.
    pub(crate) effect: Option<Effect>,
    pub(crate) snapshot: Option<Snapshot>,
}

/// Compares a value that is named with the one that was got.
fn same<T: PartialEq + std::fmt::Display>(
    what: &str,
    expected: Option<T>,
    got: Option<T>,
) -> Result<(), String> {
    match (expected, got) {
        (None, _) => Ok(()),
        (Some(expected), Some(got)) if expected == got => Ok(()),
        (Some(expected), Some(got)) => Err(format!("{what}: expected {expected}, got {got}")),
        (Some(expected), None) => Err(format!("{what}: expected {expected}, got none")),
    }
}

/// Admission, which is expected wherever nothing else is named.
pub(crate) fn admitted(
    expect: &Expect,
    admission: &Result<(), CircuitOpenError>,
) -> Result<(), String> {
    let expected = expect.admitted.unwrap_or(true);
    match (expected, admission) {
        (true, Err(refused)) => Err(format!("admitted: expected true, got false ({refused})")),
        (false, Ok(())) => Err("admitted: expected false, got true".to_owned()),
        _ => Ok(()),
    }
}

/// All that a step names, but `admitted` and `error`.
pub(crate) fn all(expect: &Expect, got: &Got, state: State) -> Result<(), String> {
    let refused = got
        .admission
        .as_ref()
        .and_then(|admission| admission.as_ref().err());
    same(
        "reason",
        expect.reason.as_deref(),
        refused.map(|refused| refused.reason().as_str()),
    )?;
    same(
        "retry_after",
        expect.retry_after_ms,
        refused
            .and_then(CircuitOpenError::retry_after)
            .map(Millis::from),
    )?;
    // Where nothing was settled nothing was late, and nothing tripped.
    same("late", expect.late, Some(got.effect.is_some_and(is_late)))?;
    same(
        "tripped",
        expect.tripped,
        Some(got.effect.is_some_and(has_tripped)),
    )?;
    if let Some(expected) = &expect.snapshot {
        snapshot(expected, got.snapshot.as_ref())?;
    }
    same("state", expect.state.as_deref(), Some(state.as_str()))
}

fn is_late(effect: Effect) -> bool {
    effect == Effect::Late
}

fn has_tripped(effect: Effect) -> bool {
    matches!(effect, Effect::Tripped(_) | Effect::WouldTrip { .. })
}

fn snapshot(expected: &ExpectedSnapshot, got: Option<&Snapshot>) -> Result<(), String> {
    same(
        "snapshot.state",
        expected.state.as_deref(),
        got.map(|got| got.state.as_str()),
    )?;
    same(
        "snapshot.left",
        expected.left_ms,
        got.map(|got| got.time_left.into()),
    )?;
    same(
        "snapshot.consecutive",
        expected.consecutive,
        got.map(|got| got.consecutive.into()),
    )?;
    same(
        "snapshot.reopenings",
        expected.reopenings,
        got.map(|got| got.reopenings.into()),
    )
}
