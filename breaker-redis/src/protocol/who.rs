//! The names of instances.

use std::fmt;
use std::sync::Arc;

/// The longest name of an instance, in bytes.
const LONGEST: usize = 64;

/// An instance of the fleet: a name that no other process has, nor the same one after it was restarted.
///
/// Cloning copies a pointer.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Who(Arc<str>);

/// What can't be the name of an instance. It isn't repeated: it may be anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not the name of an instance: expected 1 to 64 of ASCII's visible characters, and not `-` alone"
)]
pub struct NoName;

impl Who {
    /// A name of 1 to 64 of ASCII's visible characters (no spaces), other than `-`.
    ///
    /// # Errors
    /// [`NoName`] for any other text.
    ///
    /// ```
    /// use breaker_redis::protocol::Who;
    ///
    /// assert_eq!(Who::new("web-1.4711.x8k2")?.as_str(), "web-1.4711.x8k2");
    /// assert!(Who::new("two words").is_err());
    /// # Ok::<(), breaker_redis::protocol::NoName>(())
    /// ```
    pub fn new(name: &str) -> Result<Self, NoName> {
        let fits = (1..=LONGEST).contains(&name.len()) && name != "-";
        if fits && name.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(name.into()))
        } else {
            Err(NoName)
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Who").field(&self.0).finish()
    }
}
