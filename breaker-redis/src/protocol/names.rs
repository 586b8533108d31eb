//! What a circuit is called in Redis.
//!
//! A key is `{prefix}:{name}`, or `{prefix}:{name}[{key}]` for one of several by key; the channel is
//! `{prefix}:{name}`, or `{prefix}:{name}[` for all keys of a name, and a message begins with the label of
//! the one it is about: `-`, or `[{key}]`. (A channel for both would have listeners to what an operator says
//! of a name without a key, and nobody to heed it.) Of names and keys only letters, digits, `-`, `_` and
//! `.` stand there as they are; each other byte is written `%3A`. What is too long then is cut, and ends
//! with `~` and its SHA-256. So `:`, `[`, `]` and `~` are only ever ours, and two circuits never meet,
//! whatever their users call them.
//!
//! In a cluster a key's slot is that of what stands between the first `{` and the next `}`, if that is
//! something. Braces of names and keys are escaped as well, so that nobody moves his circuit, or many of
//! them, to a slot of his choice. Those of a prefix are left as they are: who writes `{breakers}` wants
//! all circuits in one slot. A circuit is one key, so that no two of them need be in one.

use sha2::{Digest, Sha256};
use std::fmt::{self, Write};
use std::sync::Arc;

/// The longest prefix, in bytes.
const LONGEST_PREFIX: usize = 64;

/// The longest name or key that is not cut, escaped.
const LONGEST: usize = 128;

/// What is kept of a longer one, for people to read.
const HEAD: usize = 48;

/// The longest label: a key that was cut, and its brackets.
pub(crate) const LONGEST_LABEL: usize = LONGEST + 2;

/// What all keys and channels of a fleet begin with.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Prefix(Arc<str>);

/// What can't be a prefix. It isn't repeated: it may be anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a prefix of keys: expected 1 to 64 of ASCII's visible characters, such as `shop:breakers`"
)]
pub struct NoPrefix;

impl Prefix {
    /// A prefix of 1 to 64 of ASCII's visible characters (no spaces).
    ///
    /// Braces are those of a cluster's hash tags: with `{breakers}` all circuits are in one slot.
    ///
    /// # Errors
    /// [`NoPrefix`] for any other text.
    ///
    /// ```
    /// use breaker_redis::protocol::Prefix;
    ///
    /// assert_eq!(Prefix::new("shop:breakers")?.as_str(), "shop:breakers");
    /// assert_eq!(Prefix::default().as_str(), "breakerbox");
    /// assert!(Prefix::new("").is_err());
    /// # Ok::<(), breaker_redis::protocol::NoPrefix>(())
    /// ```
    pub fn new(prefix: &str) -> Result<Self, NoPrefix> {
        let fits = (1..=LONGEST_PREFIX).contains(&prefix.len());
        if fits && prefix.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(prefix.into()))
        } else {
            Err(NoPrefix)
        }
    }

    /// The prefix.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Prefix {
    /// `breakerbox`.
    fn default() -> Self {
        Self("breakerbox".into())
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Prefix").field(&self.0).finish()
    }
}

/// Where a circuit stands in Redis, and what its messages are called.
///
/// ```
/// use breaker_redis::protocol::{Place, Prefix};
///
/// let place = Place::new(&Prefix::default(), "pms", Some("hotel 7"));
/// assert_eq!(place.key(), "breakerbox:pms[hotel%207]");
/// assert_eq!(place.channel(), "breakerbox:pms[");
/// assert_eq!(place.label(), "[hotel%207]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    key: String,
    /// Where the label of one by key begins.
    label: usize,
}

/// The label of a circuit that is not one of several by key.
const ALONE: &str = "-";

impl Place {
    /// The circuit of a name; `key`: which of those by key.
    #[must_use]
    pub fn new(prefix: &Prefix, name: &str, key: Option<&str>) -> Self {
        let mut place = String::with_capacity(prefix.0.len() + 1 + name.len());
        place.push_str(&prefix.0);
        place.push(':');
        push_escaped(&mut place, name);
        let label = place.len();
        if let Some(key) = key {
            place.push('[');
            push_escaped(&mut place, key);
            place.push(']');
        }
        Self { key: place, label }
    }

    /// The key in Redis.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The channel that its messages are published on.
    #[must_use]
    pub fn channel(&self) -> &str {
        let bracket = usize::from(self.label < self.key.len());
        &self.key[..self.label + bracket]
    }

    /// What its messages begin with: of one name, no two circuits have the same.
    #[must_use]
    pub fn label(&self) -> &str {
        match &self.key[self.label..] {
            "" => ALONE,
            label => label,
        }
    }
}

/// Whether it may be what [`Place::label`] gave.
pub(crate) fn is_label(text: &str) -> bool {
    let inner = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let known = |byte: u8| is_plain(byte) || byte == b'%' || byte == b'~';
    text.len() <= LONGEST_LABEL
        && (text == ALONE || inner.is_some_and(|inner| inner.bytes().all(known)))
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// Appends a name of any length, and no two names the same.
fn push_escaped(text: &mut String, name: &str) {
    let start = text.len();
    let mut head = start;
    for byte in name.bytes() {
        if is_plain(byte) {
            text.push(byte.into());
        } else {
            // Writing to a string never fails.
            let _ = write!(text, "%{byte:02X}");
        }
        if text.len() - start <= HEAD {
            head = text.len();
        }
        if text.len() - start > LONGEST {
            text.truncate(head);
            text.push('~');
            for byte in Sha256::digest(name.as_bytes()) {
                let _ = write!(text, "{byte:02x}");
            }
            return;
        }
    }
}
