//! What is printed.

use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use breakerbox::Served;
use breakerbox::last_good::Replaced;
use breakerbox::observe::{LastGoodFailed, Observer, StateChange};
use cost_explorer::answers::Answers;
use cost_explorer::costs::CostExplorer;
use cost_explorer::error::CostsError;
use cost_explorer::report::Report;

/// A line of output. That it can't be written is an error, and not the panic of `println!`: who reads
/// it may have seen enough, as `head` does.
pub(crate) fn say(line: impl fmt::Display) -> io::Result<()> {
    writeln!(io::stdout(), "{line}")
}

/// A line for who watches over the program. There is nobody to tell that it could not be written.
pub(crate) fn warn(line: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Tells of what circuits do, and of answers that could not be kept.
pub(crate) struct Narrator;

impl Observer for Narrator {
    fn state_changed(&self, event: &StateChange<'_>) {
        // Of an event nothing can be returned; the next line of the program's own says it.
        let _ = say(format_args!("** {event}"));
    }

    fn last_good_failed(&self, event: &LastGoodFailed<'_>) {
        warn(format_args!("** {event}"));
    }
}

/// The answers of a file that was opened; says if a damaged one had to go.
pub(crate) fn opened((answers, replaced): (Answers, Option<Replaced>)) -> Arc<Answers> {
    if let Some(Replaced { why, moved_to, .. }) = replaced {
        warn(format_args!("{why}; it is kept as {}", moved_to.display()));
    }
    Arc::new(answers)
}

/// The state of an account's circuit, and whether the answer is an old one: never silently.
pub(crate) fn health(explorer: &CostExplorer, served: &Served<Report>) -> String {
    let state = explorer.circuit().state();
    format!("breaker: {state} stale: {}", served.stale)
}

/// The state of the circuit where there is no answer.
pub(crate) fn failure(explorer: &CostExplorer, error: &CostsError) -> String {
    format!("breaker: {} error: {error}", explorer.circuit().state())
}

/// An error, and what it came of.
pub(crate) struct Causes<'a>(pub(crate) &'a dyn Error);

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
