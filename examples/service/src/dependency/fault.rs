//! What goes wrong.

use std::fmt;
use std::time::Duration;

/// What becomes of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// They are answered.
    #[default]
    None,
    /// 500.
    Errors,
    /// They are read, and never answered.
    Hangs,
    /// They are answered, but late.
    Slow(Duration),
    /// Connections are refused, and those that are there closed.
    Refuses,
    /// 429, with a `Retry-After`.
    Busy {
        /// Of so many seconds.
        seconds: u32,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("is well"),
            Self::Errors => f.write_str("answers 500"),
            Self::Hangs => f.write_str("takes requests and never answers"),
            Self::Slow(by) => write!(f, "takes {by:?} over each answer"),
            Self::Refuses => f.write_str("refuses connections"),
            Self::Busy { seconds } => write!(f, "answers 429, Retry-After: {seconds}"),
        }
    }
}
