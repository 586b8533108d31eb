//! What a breaker is called.

use core::fmt;
#[cfg(feature = "std")]
use std::panic::{RefUnwindSafe, UnwindSafe};
#[cfg(feature = "std")]
use std::sync::Arc;

/// A breaker's name, cheap to copy into an error.
#[derive(Clone)]
pub enum Name {
    Static(&'static str),
    #[cfg(feature = "std")]
    Owned(Arc<str>),
    /// That of a key's breaker.
    #[cfg(feature = "std")]
    OfKey(KeyName),
}

/// A key's breaker, as far as its name goes.
#[cfg(feature = "std")]
pub(crate) trait OfKey: Send + Sync {
    /// What all keys have in common.
    fn group(&self) -> &Name;

    /// The key's label.
    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Whether the key is among those that are kept.
    fn is_kept(&self) -> bool;
}

/// What leads to a key's breaker for its name alone, of which nothing ever changes:
/// so a panic does it no harm, whatever the breaker is.
#[cfg(feature = "std")]
#[derive(Clone)]
pub struct KeyName(Arc<dyn OfKey>);

/// A name and a key of which nothing more is kept.
#[cfg(feature = "std")]
struct Detached {
    name: Name,
    /// As it displays: to escape it once more changes nothing.
    label: String,
    is_kept: bool,
}

#[cfg(feature = "std")]
impl OfKey for Detached {
    fn group(&self) -> &Name {
        &self.name
    }

    fn label(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }

    fn is_kept(&self) -> bool {
        self.is_kept
    }
}

#[cfg(feature = "std")]
impl fmt::Debug for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        KeyLabel::of(&*self.0).fmt(f)
    }
}

#[cfg(feature = "std")]
impl UnwindSafe for KeyName {}

#[cfg(feature = "std")]
impl RefUnwindSafe for KeyName {}

impl Name {
    /// The name of a key's breaker.
    #[cfg(feature = "std")]
    pub(crate) fn of_key(key: Arc<dyn OfKey>) -> Self {
        Self::OfKey(KeyName(key))
    }

    /// The name without the key.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Static(name) => name,
            #[cfg(feature = "std")]
            Self::Owned(name) => name,
            #[cfg(feature = "std")]
            Self::OfKey(key) => key.0.group().as_str(),
        }
    }

    /// The same name and key as text, so that it keeps no breaker.
    #[cfg(feature = "std")]
    pub(crate) fn detached(name: &str, key: Option<KeyLabel<'_>>) -> Self {
        let name = Self::Owned(name.into());
        match key {
            Some(key) => Self::of_key(Arc::new(Detached {
                name,
                label: key.to_string(),
                is_kept: key.0.is_kept(),
            })),
            None => name,
        }
    }

    #[cfg(feature = "std")]
    pub(crate) fn key(&self) -> Option<KeyLabel<'_>> {
        match self {
            Self::OfKey(key) => Some(KeyLabel::of(&*key.0)),
            Self::Static(_) | Self::Owned(_) => None,
        }
    }
}

/// The key of a keyed breaker, as errors and events call it. Displays, on one line:
/// a key may be somebody else's text, so control characters, and those that turn
/// the direction of writing, are escaped (`\n`, `\u{202e}`).
#[cfg(feature = "std")]
#[derive(Clone, Copy)]
pub struct KeyLabel<'a>(&'a dyn OfKey);

#[cfg(feature = "std")]
impl<'a> KeyLabel<'a> {
    pub(crate) fn of(key: &'a dyn OfKey) -> Self {
        Self(key)
    }

    /// Whether the key's circuit is remembered, and will be told of when it is given up. It is not
    /// where there was no room for it: of such a circuit nothing is known after its call.
    #[must_use]
    pub fn is_kept(self) -> bool {
        self.0.is_kept()
    }

    /// The key as [`Key::label`](crate::Key::label) writes it, with whatever is in it: for what takes
    /// two keys apart, and isn't read by people.
    ///
    /// ```
    /// use breakerbox::{AnyBreaker, Config, KeyedBreakers};
    ///
    /// let hosts = KeyedBreakers::<String>::new("hosts", Config::DEFAULT);
    /// let (line, letters) = (hosts.get("a\n"), hosts.get("a\\n"));
    /// let labels = [&line, &letters].map(|host| AnyBreaker::key(host).unwrap());
    /// assert_eq!(labels[0].to_string(), labels[1].to_string());
    /// assert_ne!(labels[0].unescaped().to_string(), labels[1].unescaped().to_string());
    /// ```
    pub fn unescaped(self) -> impl fmt::Display + 'a {
        Raw(self.0)
    }

    /// Whether it displays as this.
    pub(crate) fn is(self, text: &str) -> bool {
        struct Rest<'t>(&'t str);

        impl fmt::Write for Rest<'_> {
            fn write_str(&mut self, part: &str) -> fmt::Result {
                self.0 = self.0.strip_prefix(part).ok_or(fmt::Error)?;
                Ok(())
            }
        }

        let mut rest = Rest(text);
        fmt::write(&mut rest, format_args!("{self}")).is_ok() && rest.0.is_empty()
    }
}

#[cfg(feature = "std")]
impl fmt::Display for KeyLabel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OneLine(Raw(self.0)).fmt(f)
    }
}

/// A key as it is.
#[cfg(feature = "std")]
struct Raw<'a>(&'a dyn OfKey);

#[cfg(feature = "std")]
impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.label(f)
    }
}

/// Displays text on one line: what would break it is escaped.
#[cfg(feature = "std")]
pub(crate) struct OneLine<T>(pub(crate) T);

#[cfg(feature = "std")]
impl<T: fmt::Display> fmt::Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Escaping<'a, 'f>(&'a mut fmt::Formatter<'f>);

        impl fmt::Write for Escaping<'_, '_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                let mut plain = 0;
                for (place, found) in text.char_indices().filter(|(_, c)| is_unseen(*c)) {
                    self.0.write_str(&text[plain..place])?;
                    write!(self.0, "{}", found.escape_default())?;
                    plain = place + found.len_utf8();
                }
                self.0.write_str(&text[plain..])
            }
        }

        fmt::write(&mut Escaping(f), format_args!("{}", self.0))
    }
}

/// What would break a line of a log, or show it as another.
#[cfg(feature = "std")]
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
}

#[cfg(feature = "std")]
impl fmt::Debug for KeyLabel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_string().fmt(f)
    }
}

/// With the key: `hosts[api.example.com]`.
impl fmt::Display for Name {
    #[cfg(feature = "std")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OneLine(self.as_str()).fmt(f)?;
        match self.key() {
            Some(key) => write!(f, "[{key}]"),
            None => Ok(()),
        }
    }

    #[cfg(not(feature = "std"))]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "std")]
        if let Self::OfKey(_) = self {
            return self.to_string().fmt(f);
        }
        self.as_str().fmt(f)
    }
}

/// By name and key.
impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        #[cfg(feature = "std")]
        let same_key = match (self.key(), other.key()) {
            (None, None) => true,
            (Some(key), Some(other)) => key.is(&other.to_string()),
            _ => false,
        };
        #[cfg(not(feature = "std"))]
        let same_key = true;
        same_key && self.as_str() == other.as_str()
    }
}

impl Eq for Name {}

#[cfg(feature = "std")]
impl From<String> for Name {
    fn from(name: String) -> Self {
        Self::Owned(name.into())
    }
}
