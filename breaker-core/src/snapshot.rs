//! A breaker's state, taken out of one process and put into another.

use crate::state::State;
use core::time::Duration;

/// What [`Circuit::snapshot`] gives and [`Circuit::restore`] takes. Holds time
/// left, never a time of day, so it means the same to any clock.
///
/// The fields are public so that any format can carry them; [`State`] reads and
/// writes its name as text.
///
/// [`Circuit::snapshot`]: crate::Circuit::snapshot
/// [`Circuit::restore`]: crate::Circuit::restore
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The state. `HalfOpen` restores as open with no time left: probes can't
    /// be handed over.
    pub state: State,
    /// In `Open`, how long until a probe may be admitted; else zero.
    pub time_left: Duration,
    /// Whether the wait was set by an overload or by `open_for`, and not by the
    /// configuration: what is left is then only clamped to 24 h.
    pub imposed: bool,
    /// Failures in a row, in `Closed`; else zero.
    pub consecutive: u32,
    /// Reopenings since the last close.
    pub reopenings: u8,
}
