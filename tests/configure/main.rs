//! Settings by breaker name, at run time: from code, the environment and a file.

mod environment;
mod file;
mod layers;
mod mistakes;
mod properties;
mod threads;
mod waiting;

use breakerbox::registry::{Mistakes, Whence};

/// Each mistake on a line, as it is told.
fn lines(mistakes: &Mistakes) -> Vec<String> {
    mistakes.iter().map(ToString::to_string).collect()
}

/// Where a mistake in text stands.
fn line_and_column(whence: &Whence) -> Option<(usize, usize)> {
    match whence {
        Whence::File { line, column, .. } => Some((*line, *column)),
        _ => None,
    }
}
