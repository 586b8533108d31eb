//! What goes wrong.

use std::time::Duration;

/// What becomes of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// They are answered.
    #[default]
    None,
    /// Too many requests: 400, `LimitExceededException`, maybe with a `Retry-After`.
    Throttled {
        /// In seconds.
        retry_after: Option<u32>,
    },
    /// 500, `InternalFailure`.
    Error,
    /// They are answered, but late.
    Slow(Duration),
    /// They are never answered.
    Hang,
    /// 400, `DataUnavailableException`.
    DataUnavailable,
    /// The first page is answered, and the next ones are a 500.
    BreaksOff,
    /// Each page says that it is followed by itself.
    SamePage,
}
