//! Of what circuits are shared through: of no breaker.

use crate::brief::Brief;
use crate::name::OneLine;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Circuits are shared with nobody for now: what they are shared through can't be reached. Each process
/// goes on by itself, as if it shared nothing. Displays as the line of a log.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SharingLost<'a> {
    /// What the fleet is called.
    pub fleet: &'a str,
    /// Why.
    pub error: &'a (dyn Error + 'static),
    /// How many times it was lost since that was told last: more than 1 where it comes and goes.
    pub losses: u64,
    /// Which part of the circuits, where the others are still shared: what they are shared through
    /// consists of several, of which some can't be reached, or refuses these. `None`: all of them.
    pub part: Option<Part>,
    /// It was ended by this process itself, before all was told; whatever it is shared through may be well.
    pub is_ended: bool,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for SharingLost<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fleet = OneLine(self.fleet);
        match self.part {
            None if self.is_ended => write!(f, "fleet `{fleet}` was left by this process: "),
            None => write!(
                f,
                "fleet `{fleet}` can't be reached, each process is on its own: "
            ),
            Some(part) => write!(
                f,
                "{part} circuits of fleet `{fleet}` can't be shared, each process is on its own with \
                 these: "
            ),
        }?;
        // What a server said may be anything.
        OneLine(self.error).fmt(f)?;
        let mut cause = self.error.source();
        while let Some(error) = cause {
            write!(f, ": {}", OneLine(error))?;
            cause = error.source();
        }
        match self.losses {
            0 | 1 => Ok(()),
            losses => write!(f, " (lost {losses} times since this was told last)"),
        }
    }
}

/// Some circuits of all. Displays as `2 of 6`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// So many.
    pub circuits: usize,
    /// Of so many.
    pub of: usize,
}

impl Part {
    /// So many circuits of so many: for who makes a [`Link`](crate::link::Link).
    #[must_use]
    pub const fn new(circuits: usize, of: usize) -> Self {
        Self { circuits, of }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.circuits, self.of)
    }
}

/// Circuits are shared again. Displays as the line of a log.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SharingRestored<'a> {
    /// What the fleet is called.
    pub fleet: &'a str,
    /// How long it was lost.
    pub after: Duration,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for SharingRestored<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (fleet, after) = (OneLine(self.fleet), Brief(self.after));
        write!(f, "fleet `{fleet}` is reached again, after {after}")
    }
}

/// Another process of the fleet declares the breaker otherwise than this one: another deploy of the
/// program, or another program. Each goes on by what itself declares. Displays as the line of a log.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SharingDiffers<'a> {
    /// What the fleet is called.
    pub fleet: &'a str,
    /// The breaker, or the breakers by key.
    pub breaker: &'a str,
    /// What differs, and nothing else.
    pub differences: &'a [Difference],
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl SharingDiffers<'_> {
    /// The differences, displayed one after the other.
    pub(crate) fn list(&self) -> impl fmt::Display + use<'_> {
        List(self.differences)
    }
}

struct List<'a>(&'a [Difference]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, difference) in self.0.iter().enumerate() {
            let before = if at == 0 { "" } else { "; " };
            write!(f, "{before}{difference}")?;
        }
        Ok(())
    }
}

impl fmt::Display for SharingDiffers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (fleet, breaker) = (OneLine(self.fleet), OneLine(self.breaker));
        write!(
            f,
            "breaker `{breaker}` of fleet `{fleet}` is declared otherwise elsewhere: {}: each process goes by \
             its own until all declare the same",
            self.list()
        )
    }
}

/// One thing that is declared in two ways. Displays as `reset 30s here, 10s there`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// What: the name of a setting.
    pub what: &'static str,
    /// What this process declares.
    pub here: String,
    /// What the other one does.
    pub there: String,
}

impl Difference {
    /// For who makes a [`Link`](crate::link::Link).
    #[must_use]
    pub const fn new(what: &'static str, here: String, there: String) -> Self {
        Self { what, here, there }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, here, there } = self;
        write!(f, "{what} {} here, {} there", OneLine(here), OneLine(there))
    }
}
