//! The play: what the PMS does and for how long, and what the breaker is set to.

use std::time::Duration;

/// Failures in a row that open the circuit.
pub(crate) const THRESHOLD: u32 = 5;
/// How long the circuit stays open before a probe.
pub(crate) const RESET: Duration = Duration::from_millis(400);
/// How long a caller waits for the PMS.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(500);

/// How much longer than planned an act may last, to see what it is there to show.
pub(crate) const GRACE: Duration = Duration::from_millis(600);
/// How often the timeline prints a line.
pub(crate) const TICK: Duration = Duration::from_millis(500);
/// How long a pricing task rests between two calls.
pub(crate) const PACE: Duration = Duration::from_millis(30);

/// A room of the hotel, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Room(pub(crate) u32);

impl Room {
    /// True for the few rooms that the PMS still knows while it denies the others.
    pub(crate) fn is_known_in_a_mix_up(self) -> bool {
        self.0.is_multiple_of(8)
    }
}

/// The rooms on sale from the start: their last answers are there before the outage.
pub(crate) fn rooms() -> impl Iterator<Item = Room> {
    (101..=132).map(Room)
}

/// Rooms that come on sale during the outage: nothing is known about them yet.
pub(crate) fn late_rooms() -> impl Iterator<Item = Room> {
    (133..=134).map(Room)
}

/// What the PMS does to each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Answers it.
    None,
    /// Answers 500.
    Errors,
    /// Reads it and never answers.
    Hangs,
    /// Answers 404 for most rooms.
    UnknownRooms,
    /// Reads it and resets the connection.
    Resets,
}

impl Fault {
    /// True if the fault is an outage: what a breaker is for.
    pub(crate) fn is_outage(self) -> bool {
        matches!(self, Self::Errors | Self::Hangs | Self::Resets)
    }
}

/// A stretch of the play.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Act {
    pub(crate) fault: Fault,
    pub(crate) title: &'static str,
    pub(crate) lasts: Duration,
}

const fn act(fault: Fault, title: &'static str, millis: u64) -> Act {
    Act {
        fault,
        title,
        lasts: Duration::from_millis(millis),
    }
}

pub(crate) const ACTS: &[Act] = &[
    act(Fault::None, "the PMS is healthy", 1000),
    act(Fault::Errors, "the PMS answers 500", 1500),
    act(
        Fault::Hangs,
        "the PMS takes requests and never answers",
        2000,
    ),
    act(
        Fault::UnknownRooms,
        "the PMS is back, and has lost most of its rooms: 404",
        1800,
    ),
    act(Fault::Resets, "the PMS resets its connections", 1200),
    act(Fault::None, "the PMS is healthy again", 1000),
];
