//! gRPC's status codes, and what is said beside them: in headers, in trailers, in a
//! `tonic::Status`.

#[cfg(feature = "tower")]
mod headers;

#[cfg(feature = "tower")]
pub(crate) use headers::grpc_headers;

use super::retry_after;
use breaker_core::Outcome;
use core::time::Duration;
use http::HeaderMap;

const PUSHBACK: &str = "grpc-retry-pushback-ms";

/// What tonic says with CANCELLED, where it means a time limit.
pub(super) const TIMEOUT_EXPIRED: &str = "Timeout expired";

/// By a code: the table is that of [`tonic`](super::tonic()).
pub(super) fn by_code(
    code: i32,
    cut_off: impl FnOnce() -> bool,
    wait: impl FnOnce() -> Option<Duration>,
) -> Outcome {
    match code {
        // OK
        0 => Outcome::Success,
        // CANCELLED
        1 if cut_off() => Outcome::Failure,
        // RESOURCE_EXHAUSTED, UNAVAILABLE
        8 | 14 => wait().map_or(Outcome::Failure, Outcome::Overloaded),
        // CANCELLED, INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED,
        // FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, UNAUTHENTICATED
        1 | 3 | 5 | 6 | 7 | 9 | 10 | 11 | 12 | 16 => Outcome::Ignored,
        // UNKNOWN, DEADLINE_EXCEEDED, INTERNAL, DATA_LOSS; and any other, which is to
        // be taken for UNKNOWN
        _ => Outcome::Failure,
    }
}

/// How long the server wants to be left alone: by a `google.rpc.RetryInfo` in the
/// status's details, by `grpc-retry-pushback-ms`, or by `retry-after`. The first of
/// these that says so.
pub(super) fn wait(details: &[u8], headers: &HeaderMap) -> Option<Duration> {
    let wait = retry_delay(details)
        .or_else(|| pushback(headers))
        .or_else(|| retry_after(headers))?;
    (!wait.is_zero()).then_some(wait)
}

/// Milliseconds; negative where it shall not be tried again, which says nothing of
/// when others may.
fn pushback(headers: &HeaderMap) -> Option<Duration> {
    let milliseconds = headers.get(PUSHBACK)?.to_str().ok()?;
    Some(Duration::from_millis(milliseconds.trim().parse().ok()?))
}

/// The `retry_delay` of a `RetryInfo` among the details of a `google.rpc.Status`.
fn retry_delay(status: &[u8]) -> Option<Duration> {
    const OF_STATUS_DETAILS: u64 = 3;
    const OF_ANY_TYPE: u64 = 1;
    const OF_ANY_VALUE: u64 = 2;
    const OF_RETRY_INFO_DELAY: u64 = 1;
    const OF_DURATION_SECONDS: u64 = 1;
    const OF_DURATION_NANOS: u64 = 2;

    let delay = Fields(status)
        .filter_map(|field| field.message(OF_STATUS_DETAILS))
        .filter(|any| {
            let kind = Fields(any).find_map(|field| field.message(OF_ANY_TYPE));
            kind.is_some_and(|kind| kind.ends_with(b"/google.rpc.RetryInfo"))
        })
        .filter_map(|any| Fields(any).find_map(|field| field.message(OF_ANY_VALUE)))
        .find_map(|info| Fields(info).find_map(|field| field.message(OF_RETRY_INFO_DELAY)))?;
    let number = |of| {
        Fields(delay)
            .find_map(|field| field.number(of))
            .unwrap_or(0)
    };
    // Negative numbers are as large as that.
    let seconds = number(OF_DURATION_SECONDS);
    let nanos = u32::try_from(number(OF_DURATION_NANOS)).ok()?;
    let in_range = i64::try_from(seconds).is_ok() && nanos < 1_000_000_000;
    in_range.then(|| Duration::new(seconds, nanos))
}

/// The fields of a protobuf message, as far as they can be read.
struct Fields<'a>(&'a [u8]);

struct Field<'a> {
    number: u64,
    value: Value<'a>,
}

enum Value<'a> {
    Number(u64),
    Message(&'a [u8]),
    Other,
}

impl<'a> Field<'a> {
    fn message(&self, number: u64) -> Option<&'a [u8]> {
        match self.value {
            Value::Message(message) if self.number == number => Some(message),
            _ => None,
        }
    }

    fn number(&self, number: u64) -> Option<u64> {
        match self.value {
            Value::Number(value) if self.number == number => Some(value),
            _ => None,
        }
    }
}

impl<'a> Fields<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn bytes(&mut self, count: u64) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(bytes)
    }

    fn field(&mut self) -> Option<Field<'a>> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => self.bytes(8).map(|_| Value::Other)?,
            2 => {
                let length = self.varint()?;
                Value::Message(self.bytes(length)?)
            }
            5 => self.bytes(4).map(|_| Value::Other)?,
            _ => return None,
        };
        Some(Field {
            number: tag >> 3,
            value,
        })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let field = self.field();
        if field.is_none() {
            // What can't be read has no end to be found.
            self.0 = &[];
        }
        field
    }
}
