//! What is wrong with a configuration: all of it at once.

use crate::name::OneLine;
use std::error::Error;
use std::fmt;
use std::path::PathBuf;

/// What is wrong with a configuration: every mistake. Nothing has changed. Displays as a line
/// for each, after one that says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistakes {
    all: Vec<Mistake>,
}

impl Mistakes {
    pub(super) fn new(mut all: Vec<Mistake>) -> Self {
        all.sort_by(|one, other| one.whence.cmp(&other.whence));
        all.dedup();
        Self { all }
    }

    #[cfg(feature = "config-file")]
    pub(super) fn in_file(mut self, path: &std::path::Path) -> Self {
        for mistake in &mut self.all {
            if let Whence::File { file, .. } = &mut mistake.whence {
                *file = Some(path.to_owned());
            }
        }
        self
    }

    /// How many there are: at least one.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Each, in the order of the file, or of the variables.
    pub fn iter(&self) -> std::slice::Iter<'_, Mistake> {
        self.all.iter()
    }
}

impl<'a> IntoIterator for &'a Mistakes {
    type Item = &'a Mistake;
    type IntoIter = std::slice::Iter<'a, Mistake>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.len() {
            1 => f.write_str("1 mistake in the configuration, so nothing was changed")?,
            len => write!(
                f,
                "{len} mistakes in the configuration, so nothing was changed"
            )?,
        }
        self.iter().try_for_each(|mistake| write!(f, "\n{mistake}"))
    }
}

impl Error for Mistakes {}

/// One mistake in a configuration. Displays on one line, as
/// ``breakers.toml:3:13: `pms`: `threshold` is 0: write at least 1``.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mistake {
    /// Where it stands.
    pub whence: Whence,
    /// Of which breaker, where it is of one.
    pub breaker: Option<String>,
    /// Of which setting, as it was written, where it is of one.
    pub setting: Option<String>,
    /// What is wrong, and what to write instead.
    pub what: String,
}

/// Where a mistake stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Whence {
    /// In a file, or in text that was given.
    #[non_exhaustive]
    File {
        /// Where the text is from, if it is a file's.
        file: Option<PathBuf>,
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in characters.
        column: usize,
    },
    /// In an environment variable, by its name.
    Variable(String),
    /// In what code gave to [`configure`](super::configure).
    Code,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.whence {
            Whence::File { file, line, column } => match file {
                Some(file) => write!(f, "{}:{line}:{column}: ", file.display())?,
                None => write!(f, "{line}:{column}: ")?,
            },
            Whence::Variable(name) => write!(f, "{name}: ")?,
            Whence::Code => {}
        }
        if let Some(breaker) = &self.breaker {
            write!(f, "`{}`: ", OneLine(breaker))?;
        }
        f.write_str(&self.what)
    }
}
