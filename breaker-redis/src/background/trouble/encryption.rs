//! Whether the other side speaks TLS, and the address asks for it.

#[cfg(feature = "tls")]
use super::of_io;
use crate::error::Trouble;
#[cfg(feature = "tls")]
use std::io;
use std::time::Duration;

/// What records of TLS begin with: an alert, and a handshake.
const RECORDS: [u8; 2] = [0x15, 0x16];

/// Where TLS is spoken and an answer isn't.
pub(crate) const NO_TLS: &str = "if this port is one without TLS, write `redis://`";

/// Of a login without TLS, where the other side began with this.
pub(crate) fn without_tls(trouble: Trouble, first: Option<u8>) -> Trouble {
    match (trouble, first) {
        (_, Some(first)) if RECORDS.contains(&first) => Trouble::SpeaksTls,
        // Some end it without a word.
        (Trouble::Ended(how), None) => Trouble::Ended(format!(
            "{how}, before it said anything: if this port is one for TLS, write `rediss://`"
        )),
        (trouble, _) => trouble,
    }
}

/// Of a handshake that has taken so long: a port without TLS waits for more, and says nothing.
pub(crate) fn without_answer(within: Duration) -> String {
    format!("no answer to the handshake within {within:?}: {NO_TLS}")
}

/// Of a handshake that was ended.
#[cfg(feature = "tls")]
pub(crate) fn of_handshake(error: &io::Error) -> String {
    format!("the handshake was ended ({}): {NO_TLS}", of_io(error))
}
