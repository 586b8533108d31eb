//! What a caller gets when a call was refused or given up.

use crate::brief::Brief;
#[cfg(feature = "std")]
use crate::name::KeyLabel;
use crate::name::Name;
use breaker_core::{Reason, Rejected};
use core::time::Duration;

/// The breaker refused the call: it was not made.
///
/// Made without allocating. Implement `From<CircuitOpenError>` for your error
/// type, or use [`CallError`].
///
/// ```
/// use breakerbox::{Breaker, Config, Reason};
///
/// let pms = Breaker::new("pms", Config::DEFAULT);
/// pms.force_open();
/// let refused = pms.admit().unwrap_err();
/// assert_eq!(refused.name(), "pms");
/// assert_eq!(refused.reason(), Reason::ForcedOpen);
/// assert_eq!(refused.to_string(), "circuit `pms` is held open by an operator");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("circuit `{name}` is {}{}", refused.reason, RetryAfter(*refused))]
pub struct CircuitOpenError {
    name: Name,
    refused: Refused,
}

/// A refusal, small enough to be returned in registers: the error is made where
/// it is kept, since a copy of what was just written makes the processor wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    pub(crate) reason: Reason,
    /// Nanoseconds; 0 where only an operator can tell.
    pub(crate) left: u64,
}

impl From<&Rejected> for Refused {
    fn from(rejected: &Rejected) -> Self {
        let left = rejected.retry_after.unwrap_or_default().as_nanos();
        Self {
            reason: rejected.reason,
            left: u64::try_from(left).unwrap_or(u64::MAX),
        }
    }
}

impl Refused {
    /// Nothing is left of its wait.
    #[cfg(feature = "tower")]
    pub(crate) fn without_wait(self) -> Self {
        Self { left: 0, ..self }
    }

    fn retry_after(self) -> Option<Duration> {
        (self.reason != Reason::ForcedOpen).then(|| Duration::from_nanos(self.left))
    }
}

impl CircuitOpenError {
    #[inline]
    pub(crate) fn new(name: Name, refused: Refused) -> Self {
        Self { name, refused }
    }

    /// The same, without keeping its key's breaker.
    #[cfg(feature = "std")]
    pub(crate) fn detached(&self) -> Self {
        let name = match self.key() {
            Some(key) => Name::detached(self.name(), Some(key)),
            None => self.name.clone(),
        };
        Self::new(name, self.refused)
    }

    /// A later refusal by the same breaker.
    #[cfg(feature = "std")]
    pub(crate) fn goes_on(&mut self, later: &Self) {
        self.refused = later.refused;
    }

    /// With its key.
    #[cfg(feature = "std")]
    pub(crate) fn full_name(&self) -> &Name {
        &self.name
    }

    /// The breaker's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// The key, if the breaker is one of several by key.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn key(&self) -> Option<KeyLabel<'_>> {
        self.name.key()
    }

    /// Why the call was refused.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.refused.reason
    }

    /// How long until a call may be admitted: what to answer as `Retry-After`.
    ///
    /// While probes are in flight ([`Reason::HalfOpenFull`]) it is the time left
    /// to the probe timeout: the latest moment. They may end at any time before,
    /// so there a retry after a shorter wait of one's own does no harm.
    ///
    /// `None` where only an operator can tell ([`Reason::ForcedOpen`]).
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.refused.retry_after()
    }
}

impl core::fmt::Debug for CircuitOpenError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CircuitOpenError")
            .field("name", &self.name)
            .field("reason", &self.reason())
            .field("retry_after", &self.retry_after())
            .finish()
    }
}

struct RetryAfter(Refused);

impl core::fmt::Display for RetryAfter {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match (self.0.reason, self.0.retry_after()) {
            (Reason::HalfOpenFull, Some(wait)) => {
                write!(f, ": retry in {} at the latest", Brief(wait))
            }
            (_, Some(wait)) => write!(f, ": retry in {}", Brief(wait)),
            (_, None) => Ok(()),
        }
    }
}

/// The call took longer than its `timeout`: it was dropped, and counted as a
/// failure.
///
/// Implement `From<TimeoutError>` for your error type, or use [`CallError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("call through circuit `{name}` timed out after {}", Brief(*after))]
pub struct TimeoutError {
    name: Name,
    after: Duration,
}

impl TimeoutError {
    pub(crate) fn new(name: Name, after: Duration) -> Self {
        Self { name, after }
    }

    /// The breaker's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// The key, if the breaker is one of several by key.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn key(&self) -> Option<KeyLabel<'_>> {
        self.name.key()
    }

    /// The time limit that passed.
    #[must_use]
    pub fn after(&self) -> Duration {
        self.after
    }
}

/// The error of a guarded call whose own error type is somebody else's.
///
/// ```
/// use breakerbox::{CallError, circuit_breaker, classify};
///
/// #[circuit_breaker(classify = classify::io)]
/// fn lines(path: &str) -> Result<usize, CallError<std::io::Error>> {
///     Ok(std::fs::read_to_string(path)?.lines().count())
/// }
/// # let _scope = breakerbox::test::scope();
/// assert!(matches!(lines("/nowhere"), Err(CallError::Call(_))));
/// ```
///
/// A `?` in the body converts the errors that [`classify`](crate::classify) knows:
/// `std::io::Error`, and behind their features those of the common clients. It
/// doesn't convert others by itself, because `E` may be any type: write
/// `.map_err(CallError::Call)?`.
///
/// ```
/// use breakerbox::{CallError, circuit_breaker};
///
/// #[circuit_breaker]
/// fn rooms(answer: &str) -> Result<u32, CallError<std::num::ParseIntError>> {
///     let rooms: u32 = answer.parse().map_err(CallError::Call)?;
///     Ok(rooms + 1)
/// }
/// # let _scope = breakerbox::test::scope();
/// assert_eq!(rooms("3"), Ok(4));
/// ```
///
/// [`Breaker::call`](crate::Breaker::call) gives a `CallError` too. In a
/// function with an error type of its own, `?` converts it where that type is
/// `From<CallError<Theirs>>`:
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// use breakerbox::{Breaker, CallError, Config};
///
/// static PMS: Breaker = Breaker::new("pms", Config::DEFAULT);
///
/// #[derive(Debug, PartialEq)]
/// enum BookingError {
///     Io(std::io::ErrorKind),
///     TryLater,
/// }
///
/// impl From<CallError<std::io::Error>> for BookingError {
///     fn from(error: CallError<std::io::Error>) -> Self {
///         match error {
///             CallError::Call(error) => Self::Io(error.kind()),
///             CallError::Open(_) | CallError::TimedOut(_) => Self::TryLater,
///         }
///     }
/// }
///
/// async fn request() -> Result<u32, std::io::Error> {
///     Ok(3)
/// }
///
/// async fn rooms() -> Result<u32, BookingError> {
///     Ok(PMS.call(request()).await? + 1)
/// }
///
/// # let _scope = breakerbox::test::scope();
/// assert_eq!(rooms().await, Ok(4));
/// PMS.force_open();
/// assert_eq!(rooms().await, Err(BookingError::TryLater));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError<E> {
    /// The call was made and failed with this.
    #[error(transparent)]
    Call(E),
    /// The call was refused.
    #[error(transparent)]
    Open(CircuitOpenError),
    /// The call took too long.
    #[error(transparent)]
    TimedOut(TimeoutError),
}

impl<E> CallError<E> {
    /// The call's own error, if it was made and failed.
    #[must_use]
    pub fn into_call(self) -> Option<E> {
        match self {
            Self::Call(error) => Some(error),
            Self::Open(_) | Self::TimedOut(_) => None,
        }
    }
}

impl<E> From<CircuitOpenError> for CallError<E> {
    fn from(open: CircuitOpenError) -> Self {
        Self::Open(open)
    }
}

impl<E> From<TimeoutError> for CallError<E> {
    fn from(timed_out: TimeoutError) -> Self {
        Self::TimedOut(timed_out)
    }
}
