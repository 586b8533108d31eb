//! What a call counted as, by what it did to a circuit.

use std::time::Duration;

use breakerbox::{Breaker, CallError, State, breaker};

breaker! {
    /// Guards every function here. Each test's scope has one of its own.
    pub(crate) static PMS = { threshold: 2, reset: "47s" }
}

/// What the calls of one test counted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Success,
    Ignored,
    Failure,
    Overloaded(Duration),
}

/// Closed, with one failure of two: so every outcome shows.
pub(crate) fn prepare() {
    PMS.close();
    let failed: Result<(), _> = PMS.call_sync(|| Err(()));
    assert_eq!(failed, Err(CallError::Call(())));
}

/// What the one call since [`prepare`] counted as.
pub(crate) fn counted() -> Counted {
    let pms: &Breaker = &PMS;
    let snapshot = pms.snapshot();
    match (snapshot.state, snapshot.consecutive) {
        (State::Closed, 0) => Counted::Success,
        (State::Closed, 1) => Counted::Ignored,
        (State::Open, _) => match pms.admit().unwrap_err().retry_after().unwrap() {
            // That of the settings.
            wait if wait == Duration::from_secs(47) => Counted::Failure,
            wait => Counted::Overloaded(wait),
        },
        other => panic!("{other:?}"),
    }
}

/// Of a status: every 4xx but two is an answer, every 5xx an outage.
pub(crate) fn of_status(status: u16) -> Counted {
    match status {
        ..400 => Counted::Success,
        408 | 429 => Counted::Failure,
        400..500 => Counted::Ignored,
        500.. => Counted::Failure,
    }
}

/// What a `Retry-After` of a 429 or 503 makes of it, where `date` is the answer's `Date`.
pub(crate) const WAITS: &[(&str, Option<&str>, Counted)] = &[
    ("20", None, Counted::Overloaded(Duration::from_secs(20))),
    ("1", None, Counted::Overloaded(Duration::from_secs(1))),
    ("0020", None, Counted::Overloaded(Duration::from_secs(20))),
    // The three formats of a date, as the answer's own clock goes.
    (
        "Sun, 06 Nov 1994 08:50:37 GMT",
        Some("Sun, 06 Nov 1994 08:49:37 GMT"),
        Counted::Overloaded(Duration::from_secs(60)),
    ),
    (
        "Sunday, 06-Nov-94 08:50:37 GMT",
        Some("Sun Nov  6 08:49:37 1994"),
        Counted::Overloaded(Duration::from_secs(60)),
    ),
    (
        "Sun Nov  6 08:50:37 1994",
        Some("Sunday, 06-Nov-94 08:49:37 GMT"),
        Counted::Overloaded(Duration::from_secs(60)),
    ),
    // Nothing to wait for.
    ("0", None, Counted::Failure),
    ("Sun, 06 Nov 1994 08:49:37 GMT", None, Counted::Failure),
    (
        "Sun, 06 Nov 1994 08:49:37 GMT",
        Some("Sun, 06 Nov 1994 08:49:37 GMT"),
        Counted::Failure,
    ),
    (
        "Sun, 06 Nov 1994 08:49:36 GMT",
        Some("Sun, 06 Nov 1994 08:49:37 GMT"),
        Counted::Failure,
    ),
    // Nothing that can be read.
    ("", None, Counted::Failure),
    ("soon", None, Counted::Failure),
    ("-5", None, Counted::Failure),
    ("+5", None, Counted::Failure),
    ("1.5", None, Counted::Failure),
    ("5s", None, Counted::Failure),
    ("5, 6", None, Counted::Failure),
    ("0x10", None, Counted::Failure),
    ("18446744073709551616", None, Counted::Failure),
    (
        "99999999999999999999999999999999999999999999",
        None,
        Counted::Failure,
    ),
    ("Sun, 32 Nov 2094 08:49:37 GMT", None, Counted::Failure),
    ("Sun, 06 Nov 99999 08:49:37 GMT", None, Counted::Failure),
    ("Sun, 06 Nov 1994 08:49:37 CET", None, Counted::Failure),
    ("\u{fc}bermorgen", None, Counted::Failure),
];

/// The headers of a wait.
pub(crate) fn headers(retry_after: &str, date: Option<&str>) -> String {
    let date = date.map(|date| format!("\r\nDate: {date}"));
    format!("Retry-After: {retry_after}{}", date.unwrap_or_default())
}
