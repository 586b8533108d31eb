//! The status in a response's headers or trailers, for the layer.

use super::{TIMEOUT_EXPIRED, by_code, wait};
use breaker_core::Outcome;
use http::{HeaderMap, HeaderValue};

const STATUS: &str = "grpc-status";
const MESSAGE: &str = "grpc-message";
const DETAILS: &str = "grpc-status-details-bin";

/// UNKNOWN: what a status counts as that is no number.
const UNKNOWN: i32 = 2;

/// By `grpc-status` and what stands beside it, in a response's headers or trailers;
/// `None` where there is none.
pub(crate) fn grpc_headers(headers: &HeaderMap) -> Option<Outcome> {
    let status = headers.get(STATUS)?.as_bytes();
    let code = core::str::from_utf8(status)
        .ok()
        .and_then(|code| code.parse().ok());
    let cut_off = || {
        let message = headers.get(MESSAGE).map(HeaderValue::as_bytes);
        message.is_some_and(|message| {
            message == TIMEOUT_EXPIRED.as_bytes() || message == b"Timeout%20expired"
        })
    };
    let wait = || {
        let details = headers
            .get(DETAILS)
            .and_then(|details| base64(details.as_bytes()));
        wait(details.as_deref().unwrap_or_default(), headers)
    };
    Some(by_code(code.unwrap_or(UNKNOWN), cut_off, wait))
}

/// Decodes base64, padded or not.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.trim_ascii_end();
    let end = text
        .iter()
        .rposition(|&byte| byte != b'=')
        .map_or(0, |last| last + 1);
    let mut decoded = Vec::with_capacity(end / 4 * 3 + 2);
    for quad in text[..end].chunks(4) {
        let mut bits = 0_u32;
        for &byte in quad {
            let six = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(six);
        }
        bits <<= 6 * (4 - quad.len());
        decoded.extend_from_slice(&bits.to_be_bytes()[1..quad.len().max(1)]);
    }
    Some(decoded)
}
