//! Errors of the standard library's sockets, pipes and files.

use super::{Holds, within};
use crate::error::CallError;
use breaker_core::Outcome;
use std::io::{Error, ErrorKind};

/// By [`ErrorKind`]: what keeps everybody from reaching or using the dependency
/// counts, and what it said about this one request does not.
///
/// | [`ErrorKind`] | counts | why |
/// | --- | --- | --- |
/// | `ConnectionRefused`, `ConnectionReset`, `ConnectionAborted`, `NotConnected`, `BrokenPipe` | yes | nobody is there, or it hung up |
/// | `HostUnreachable`, `NetworkUnreachable`, `NetworkDown`, `AddrNotAvailable` | yes | there is no way to it, or no local port left |
/// | `TimedOut`, `WouldBlock` | yes | the next caller would wait as long. `WouldBlock` is what a socket says on Unix when its `set_read_timeout` has passed |
/// | `UnexpectedEof`, `WriteZero` | yes | it stopped in the middle |
/// | `InvalidData` | yes | it speaks something else: garbage, a failed TLS handshake |
/// | `ResourceBusy`, `StaleNetworkFileHandle`, `StorageFull`, `QuotaExceeded`, `ReadOnlyFilesystem` | yes | the next caller finds it so too |
/// | `OutOfMemory` | yes | fewer calls are what helps |
/// | `Other`, and every kind that is not listed, also those that the standard library doesn't name or adds later | yes | unknown, like an I/O error of a disk or a host name that isn't found: something went wrong on the way |
/// | `NotFound`, `AlreadyExists`, `PermissionDenied` | no | the answer to this request |
/// | `NotADirectory`, `IsADirectory`, `DirectoryNotEmpty`, `NotSeekable`, `FileTooLarge`, `CrossesDevices`, `TooManyLinks`, `InvalidFilename`, `ExecutableFileBusy` | no | about this one file |
/// | `InvalidInput`, `ArgumentListTooLong`, `Unsupported`, `AddrInUse`, `Deadlock` | no | the caller's mistake |
/// | `Interrupted` | no | a signal came: says nothing of the dependency |
///
/// An error that wraps another is that one: an [`io::Error`](Error) inside
/// ([`Error::other`]), a [`CircuitOpenError`](crate::CircuitOpenError) of a circuit further in (does not
/// count: nobody was asked), a [`TimeoutError`](crate::TimeoutError) of one (counts).
///
/// The server of a Unix socket that is away is a `NotFound`. Where that is the
/// dependency, say so: `|e| e.kind() == NotFound || ..`.
///
/// ```
/// use breakerbox::{CallError, circuit_breaker, classify};
/// use std::io::{self, Read};
/// use std::net::TcpStream;
///
/// #[circuit_breaker(threshold = 2, classify = classify::io)]
/// fn banner(host: &str) -> Result<String, CallError<io::Error>> {
///     let mut banner = String::new();
///     TcpStream::connect(host)?.read_to_string(&mut banner)?;
///     Ok(banner)
/// }
/// # let _scope = breakerbox::test::scope();
/// for _ in 0..3 {
///     assert!(matches!(banner("no port"), Err(CallError::Call(_)))); // the caller's mistake
/// }
/// for _ in 0..2 {
///     assert!(matches!(banner("127.0.0.1:1"), Err(CallError::Call(_)))); // refused
/// }
/// assert!(matches!(banner("127.0.0.1:1"), Err(CallError::Open(_))));
/// ```
#[must_use]
pub fn io<H: Holds<Error>>(error: &H) -> Outcome {
    error.held().outcome(by_error)
}

fn by_error(error: &Error) -> Outcome {
    let Some(inner) = error.get_ref() else {
        return by_kind(error.kind());
    };
    if let Some(inner) = inner.downcast_ref::<CallError<Error>>() {
        inner.held().outcome(by_error)
    } else if let Some(inner) = inner.downcast_ref() {
        by_error(inner)
    } else {
        within::circuit(inner).unwrap_or_else(|| by_kind(error.kind()))
    }
}

fn by_kind(kind: ErrorKind) -> Outcome {
    match kind {
        ErrorKind::NotFound
        | ErrorKind::AlreadyExists
        | ErrorKind::PermissionDenied
        | ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::DirectoryNotEmpty
        | ErrorKind::NotSeekable
        | ErrorKind::FileTooLarge
        | ErrorKind::CrossesDevices
        | ErrorKind::TooManyLinks
        | ErrorKind::InvalidFilename
        | ErrorKind::ExecutableFileBusy
        | ErrorKind::InvalidInput
        | ErrorKind::ArgumentListTooLong
        | ErrorKind::Unsupported
        | ErrorKind::AddrInUse
        | ErrorKind::Deadlock
        | ErrorKind::Interrupted => Outcome::Ignored,
        _ => Outcome::Failure,
    }
}

/// So that `?` makes a [`CallError::Call`] of it.
impl From<Error> for CallError<Error> {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}
