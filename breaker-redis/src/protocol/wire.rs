//! How commands, replies and messages are written: in text of visible ASCII and spaces, its fields with
//! a space between, the first of them the version of the format.
//!
//! Nothing of what is read is trusted. What is longer than anything ever sent is refused before it is
//! looked at, and nothing is allocated but the names of two instances.

mod arguments;
mod fields;
#[cfg(test)]
pub(crate) mod stored;

use super::names::is_label;
use super::{Reply, Told, Verdict};
use fields::{Fields, push_told};
use std::fmt::Write;

pub use arguments::arguments;

/// The version of the format, of what is sent as of what is stored.
pub(crate) const FORMAT: &str = "1";

/// The longest reply or message, in bytes.
const LONGEST: usize = 512;

/// Why what came from Redis is not used. What it was is not repeated: it may be anything, of any length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// It is longer than anything that is ever sent.
    #[error("it is longer than {LONGEST} bytes")]
    TooLong,
    /// It is not of visible ASCII and spaces.
    #[error("it is not of visible ASCII characters and spaces")]
    NotText,
    /// It is written in another version of the format.
    #[error("it is not in version {FORMAT} of the format")]
    OtherFormat,
    /// It has fewer fields than expected, or more.
    #[error("it has too few fields or too many")]
    Fields,
    /// A field is not what it should be.
    #[error("its {0} is none, or out of range")]
    Field(&'static str),
    /// Two fields contradict each other.
    #[error("its {0} contradicts another field")]
    Contradiction(&'static str),
    /// The key holds something that was never a circuit.
    #[error("the key holds something else: choose another prefix, or delete it")]
    Foreign,
    /// The key holds a circuit of another version of the format.
    #[error("the key holds another version of the format: choose another prefix for this version")]
    StoredOtherwise,
    /// The key holds a circuit with fields that can't be.
    #[error("the key holds a damaged circuit: delete it")]
    Damaged,
    /// The user may not publish to the channel: nothing was changed.
    #[error("the user may not publish to the circuit's channel")]
    MayNotPublish,
}

impl Reply {
    /// As the script answers.
    #[must_use]
    pub fn encode(&self) -> String {
        let verdict = match self.verdict {
            Verdict::Done => "done",
            Verdict::Refused => "refused",
            Verdict::Missing => "missing",
            Verdict::Behind => "behind",
        };
        let mut text = format!("{FORMAT} {verdict}");
        if let Some(told) = &self.now {
            push_told(&mut text, told);
        }
        if let Some(listeners) = self.listeners {
            // Writing to a string never fails.
            let _ = write!(text, " {listeners}");
        }
        text
    }

    /// Reads what the script answered.
    ///
    /// # Errors
    /// [`Unusable`]: what is wrong with it, or with what is stored.
    ///
    /// ```
    /// use breaker_redis::protocol::{Reply, Unusable, Verdict};
    ///
    /// let reply = Reply::decode(b"1 done 1764.2 open 30000000 0 1 tripped 5 web-1 - 0 - - - -")?;
    /// assert_eq!(reply.verdict, Verdict::Done);
    /// assert_eq!(Reply::decode(b"1 foreign"), Err(Unusable::Foreign));
    /// assert_eq!(Reply::decode(&[b'x'; 100_000]), Err(Unusable::TooLong));
    /// # Ok::<(), Unusable>(())
    /// ```
    pub fn decode(text: &[u8]) -> Result<Self, Unusable> {
        let mut fields = Fields::new(text)?;
        let verdict = match fields.next()? {
            "done" => Verdict::Done,
            "refused" => Verdict::Refused,
            "missing" => Verdict::Missing,
            "behind" => Verdict::Behind,
            "foreign" => return Err(Unusable::Foreign),
            "format" => return Err(Unusable::StoredOtherwise),
            "malformed" => return Err(Unusable::Damaged),
            "unpublishable" => return Err(Unusable::MayNotPublish),
            _ => return Err(Unusable::Field("verdict")),
        };
        let now = match verdict {
            Verdict::Missing => None,
            Verdict::Done | Verdict::Refused | Verdict::Behind => Some(fields.told()?),
        };
        let listeners = match now {
            Some(_) => fields.listeners()?,
            None => None,
        };
        fields.end()?;
        Ok(Self {
            verdict,
            now,
            listeners,
        })
    }
}

/// What is published when a circuit has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Which of the channel's circuits: [`Place::label`](super::Place::label).
    pub label: String,
    /// How it stands now.
    pub told: Told,
}

impl Message {
    /// As the script publishes it.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut text = format!("{FORMAT} {}", self.label);
        push_told(&mut text, &self.told);
        text
    }

    /// Reads what was published.
    ///
    /// # Errors
    /// [`Unusable`]: what is wrong with it.
    ///
    /// ```
    /// use breaker_redis::protocol::{Message, Unusable};
    ///
    /// let message = Message::decode(b"1 [hotel%207] 1764.3 closed 0 0 0 recovered 0 web-2 - 0 - - - -")?;
    /// assert_eq!(message.label, "[hotel%207]");
    /// assert_eq!(Message::decode(b"PING"), Err(Unusable::OtherFormat));
    /// # Ok::<(), Unusable>(())
    /// ```
    pub fn decode(text: &[u8]) -> Result<Self, Unusable> {
        let mut fields = Fields::new(text)?;
        let label = fields.next()?;
        if !is_label(label) {
            return Err(Unusable::Field("label"));
        }
        let told = fields.told()?;
        fields.end()?;
        Ok(Self {
            label: label.to_owned(),
            told,
        })
    }
}
