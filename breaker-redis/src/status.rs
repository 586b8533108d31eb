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
    /// Breakers, or breakers by key, that another process was heard to declare otherwise than this one: with
    /// another threshold or rate, `reset`, counting, or quorum. Also where that is over by now.
    pub differing: usize,
    /// Circuits whose last word of an operator of this process no other process was there to hear: in an
    /// operator's program mostly a name that nobody else shares, or another fleet's prefix. Who shares it
    /// later heeds it all the same. Of keys the name of their breakers is meant. In a cluster it is not known:
    /// each node knows its own listeners alone.
    pub unheard: usize,
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

/// One line for a health page, in which nothing is secret: `connected for 3m 2s; 6 circuits`, or
/// `connected in part for 12s; 6 circuits, 1 of them on its own: redis at ..`.
impl fmt::Display for FleetStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.cut_off {
            _ if self.is_connected => "connected",
            1.. if self.cut_off < self.circuits => "connected in part",
            _ => "not connected",
        };
        write!(f, "{how} for {}; ", Rough(self.since))?;
        match self.circuits {
            1 => f.write_str("1 circuit")?,
            circuits => write!(f, "{circuits} circuits")?,
        }
        match self.cut_off {
            0 => {}
            1 if self.circuits == 1 => f.write_str(", on its own")?,
            all if all == self.circuits => f.write_str(", all on their own")?,
            1 => f.write_str(", 1 of them on its own")?,
            several => write!(f, ", {several} of them on their own")?,
        }
        if self.namesakes > 0 {
            write!(f, ", {} keys not shared for their label", self.namesakes)?;
        }
        if self.differing > 0 {
            write!(f, ", {} declared otherwise elsewhere", self.differing)?;
        }
        match &self.last_error {
            Some(error) if !self.is_connected => write!(f, ": {error}"),
            _ => Ok(()),
        }
    }
}

/// Displays a time as people say it: its two greatest units, and no less than seconds.
struct Rough(Duration);

impl fmt::Display for Rough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let units = [
            (86_400, "d", 3_600, "h"),
            (3_600, "h", 60, "m"),
            (60, "m", 1, "s"),
        ];
        let unit = units.into_iter().find(|(unit, ..)| seconds >= *unit);
        let Some((unit, name, part, name_of_part)) = unit else {
            return write!(f, "{seconds}s");
        };
        write!(f, "{}{name}", seconds / unit)?;
        match seconds % unit / part {
            0 => Ok(()),
            parts => write!(f, " {parts}{name_of_part}"),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Trouble;

    #[test]
    fn a_status_is_a_line_for_a_health_page() {
        let error = ConnectionError {
            at: "localhost:6379".to_owned(),
            trouble: Trouble::Unreachable("connection refused".to_owned()),
        };
        let begun = FleetStatus::default();
        let well = FleetStatus {
            is_connected: true,
            since: Duration::from_secs(182),
            circuits: 6,
            // Over by now.
            last_error: Some(error.clone()),
            ..FleetStatus::default()
        };
        let cut_off = |cut_off| FleetStatus {
            is_connected: false,
            cut_off,
            ..well.clone()
        };
        let reached = "redis at localhost:6379 can't be reached: connection refused";
        for (status, line) in [
            (begun, "not connected for 0s; 0 circuits".to_owned()),
            (well.clone(), "connected for 3m 2s; 6 circuits".to_owned()),
            (
                FleetStatus {
                    namesakes: 2,
                    ..well.clone()
                },
                "connected for 3m 2s; 6 circuits, 2 keys not shared for their label".to_owned(),
            ),
            (
                cut_off(1),
                format!("connected in part for 3m 2s; 6 circuits, 1 of them on its own: {reached}"),
            ),
            (
                cut_off(2),
                format!(
                    "connected in part for 3m 2s; 6 circuits, 2 of them on their own: {reached}"
                ),
            ),
            (
                cut_off(6),
                format!("not connected for 3m 2s; 6 circuits, all on their own: {reached}"),
            ),
            (
                FleetStatus {
                    circuits: 1,
                    ..cut_off(1)
                },
                format!("not connected for 3m 2s; 1 circuit, on its own: {reached}"),
            ),
        ] {
            assert_eq!(status.to_string(), line);
        }
    }

    #[test]
    fn times_are_said_by_their_two_greatest_units() {
        for (seconds, said) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (182, "3m 2s"),
            (3_600, "1h"),
            (3_659, "1h"),
            (7_260, "2h 1m"),
            (86_399, "23h 59m"),
            (90_000, "1d 1h"),
            (8_640_000, "100d"),
        ] {
            assert_eq!(Rough(Duration::from_secs(seconds)).to_string(), said);
        }
    }
}
