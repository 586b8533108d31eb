//! The plots of the guide's chapter.

mod by_size;
mod over_time;
mod style;

use plotters::drawing::DrawingAreaErrorKind;
use std::error::Error;
use std::fmt;

use crate::figures::Tick;
use crate::runs::Run;
use crate::scenario::{Comeback, Scenario};
use by_size::BySize;

/// A plot as it is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plot {
    /// Its file, without the ending.
    pub name: &'static str,
    /// What is in it.
    pub svg: String,
}

/// A plot could not be drawn.
#[derive(Debug)]
pub struct Undrawn(String);

impl<E: Error + Send + Sync> From<DrawingAreaErrorKind<E>> for Undrawn {
    fn from(error: DrawingAreaErrorKind<E>) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for Undrawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "can't draw a plot: {}", self.0)
    }
}

impl Error for Undrawn {}

/// The fleet whose time is shown.
const SHOWN: u32 = 10_000;

/// All plots.
///
/// # Errors
/// [`Undrawn`], which says why.
pub fn all(runs: &[Run]) -> Result<Vec<Plot>, Undrawn> {
    let of_all = [
        BySize {
            name: "dead",
            title: "Requests that hit the dead service until all circuits are open",
            unit: "requests",
            value: |run| run.figures.dead_until_open as f64,
        },
        BySize {
            name: "probes",
            title: "Probes in the first 10 s of the service that came back",
            unit: "probes",
            value: |run| run.figures.first_probes as f64,
        },
    ];
    let of_shared = [
        BySize {
            name: "commands",
            title: "Commands on Redis, in its busiest second",
            unit: "commands/s",
            value: |run| run.figures.peak_second(|tick: &Tick| tick.commands) as f64,
        },
        BySize {
            name: "messages",
            title: "Messages that Redis sends, in its busiest second",
            unit: "messages/s",
            value: |run| run.figures.peak_second(|tick: &Tick| tick.messages) as f64,
        },
    ];
    let of = |comeback| move |run: &&Run| run.comeback == comeback;
    let warm: Vec<_> = runs.iter().filter(of(Comeback::Warm)).collect();
    let cold: Vec<_> = runs.iter().filter(of(Comeback::Cold)).collect();
    let is_shared = |run: &&Run| matches!(run.scenario, Scenario::Shared(_));
    let shared: Vec<_> = warm.iter().copied().filter(is_shared).collect();

    let mut plots = Vec::new();
    for (name, runs) in [("warm", &warm), ("cold", &cold)] {
        let shown = runs.iter().copied().filter(|run| run.instances == SHOWN);
        plots.push(over_time::draw(name, &shown.collect::<Vec<_>>())?);
    }
    for plot in of_all {
        plots.push(plot.draw(&warm)?);
    }
    for plot in of_shared {
        plots.push(plot.draw(&shared)?);
    }
    Ok(plots)
}
