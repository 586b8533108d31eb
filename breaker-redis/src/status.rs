//! How a fleet's connection does.

use crate::background::trouble;
use crate::error::ConnectionError;
use crate::protocol::Unusable;
use std::fmt;
use std::time::Duration;

/// How it goes with a [`Fleet`](crate::Fleet) at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FleetStatus {
    /// Whether Redis can be had for all circuits: connected, and it has answered for each as it should.
    /// Then [`cut_off`](Self::cut_off) is 0. A circuit that is shared only now is asked for in a moment, and
    /// doesn't count until then.
    pub is_connected: bool,
    /// For how long it has been so.
    pub since: Duration,
    /// What ended the last connection, or the last attempt to make one, or what is wrong with the circuit
    /// that was refused last. Stays after that is over.
    pub last_error: Option<ConnectionError>,
    /// Circuits that are shared now: breakers, and keys of keyed ones.
    pub circuits: usize,
    /// Those of them that are on their own: their Redis, or their node of a cluster, can't be had now,
    /// hasn't answered for them yet, or refuses them: their key holds something else, or the user may not use
    /// it.
    pub cut_off: usize,
    /// Keys that are not shared, since another key of the same breakers has their
    /// [label](breakerbox::Key::label): see [`FleetKeyedBreakers`](crate::FleetKeyedBreakers).
    pub namesakes: usize,
    /// Commands that were answered.
    pub answered: u64,
    /// Messages of other instances that were heard.
    pub heard: u64,
    /// Answers and messages that made no sense, and were refused.
    pub nonsense: u64,
    /// What was wrong with the last of them: that a circuit's key holds something else, for example.
    pub last_nonsense: Option<Nonsense>,
    /// How often Redis was lost.
    pub lost: u64,
}

/// An answer or a message that was refused, and had no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nonsense {
    /// The key in Redis that was asked about, or the channel that the message came on.
    pub of: String,
    /// What is wrong with it.
    pub why: Unusable,
}

impl fmt::Display for Nonsense {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (of, why) = (self.of.as_str(), self.why);
        write!(f, "{of}: {}", Why { of, why })
    }
}

/// Displays what is wrong with a key or a channel, and what to do.
pub(crate) struct Why<'a> {
    pub(crate) of: &'a str,
    pub(crate) why: Unusable,
}

impl fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)?;
        match (&self.why, self.of.rsplit_once(':')) {
            // A name has no colon: see `protocol::names`.
            (Unusable::MayNotPublish, Some((prefix, _))) => {
                let channels = trouble::pattern(prefix);
                write!(f, ": give it `+publish` and `&{channels}`")
            }
            _ => Ok(()),
        }
    }
}
