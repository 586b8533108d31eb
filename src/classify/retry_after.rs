//! `Retry-After`: how long a server wants to be left alone.

use core::time::Duration;
use http::header::{self, HeaderMap};
use std::time::SystemTime;

/// How long the header `Retry-After` says to wait ([RFC 9110, 10.2.3]): seconds, or
/// a date in any of HTTP's three formats.
///
/// | `Retry-After` | wait |
/// | --- | --- |
/// | `120` | 120 s |
/// | `Sun, 06 Nov 1994 08:49:37 GMT` and the two formats of before | until then, counted from the response's own `Date`, so that it doesn't matter whose clock is wrong; without a `Date`, from the system's clock |
/// | `0`, or a date that is past | `None`: there is nothing to wait for |
/// | none, text, a sign, a fraction, more seconds than 64 bits hold | `None` |
///
/// Of two headers the first one is read. Whoever sent it decides: cap what you use
/// of it ([`at_most`](super::at_most)).
///
/// On `wasm32-unknown-unknown` the system's clock is JavaScript's, by the feature
/// `js`; without it a date without a `Date` beside it is `None`.
///
/// ```
/// use breakerbox::classify::retry_after;
/// use http::HeaderMap;
/// use std::time::Duration;
///
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", "120".parse().unwrap());
/// assert_eq!(retry_after(&headers), Some(Duration::from_secs(120)));
///
/// headers.insert("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT".parse().unwrap());
/// assert_eq!(retry_after(&headers), None); // past
/// headers.insert("date", "Sun, 06 Nov 1994 08:49:07 GMT".parse().unwrap());
/// assert_eq!(retry_after(&headers), Some(Duration::from_secs(30)));
/// ```
///
/// [RFC 9110, 10.2.3]: https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok();
    wait(text(header::RETRY_AFTER)?, text(header::DATE))
}

/// The same, of what the headers `Retry-After` and `Date` say.
pub(super) fn wait(retry_after: &str, date: Option<&str>) -> Option<Duration> {
    let text = retry_after.trim();
    let wait = match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Duration::from_secs(text.parse().ok()?),
        false => {
            let until = httpdate::parse_http_date(text).ok()?;
            until.duration_since(answered(date)?).ok()?
        }
    };
    (!wait.is_zero()).then_some(wait)
}

/// When the response was made.
fn answered(date: Option<&str>) -> Option<SystemTime> {
    date.and_then(|date| httpdate::parse_http_date(date).ok())
        .or_else(system_time)
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn system_time() -> Option<SystemTime> {
    Some(SystemTime::now())
}

/// Where the standard library's traps.
#[cfg(all(feature = "js", target_family = "wasm", target_os = "unknown"))]
fn system_time() -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(crate::clock::since_epoch())
}

#[cfg(all(not(feature = "js"), target_family = "wasm", target_os = "unknown"))]
fn system_time() -> Option<SystemTime> {
    None
}
