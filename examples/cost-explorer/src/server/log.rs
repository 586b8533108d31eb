//! What reached the server.

use std::fmt;

/// A request that reached the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Of which account.
    pub account: String,
    /// What was said to it.
    pub answer: Answer,
}

/// What the server said to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// A page of costs.
    Page,
    /// Too many requests.
    Throttled,
    /// An error of the server's.
    Error,
    /// Nothing, ever.
    Silence,
    /// There are no data.
    DataUnavailable,
    /// The request makes no sense.
    Invalid,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Page => "answered",
            Self::Throttled => "throttled",
            Self::Error => "failed",
            Self::Silence => "left hanging",
            Self::DataUnavailable => "without data",
            Self::Invalid => "invalid",
        })
    }
}
