//! What observers hear of. Each event displays as the line of a log.

mod entering;
mod of_calls;
mod of_sharing;

pub(crate) use entering::Entering;
pub use of_calls::{CallEnded, CallOutcome, FallbackServed, LateOutcome, Rejection};
pub use of_sharing::{Difference, Part, SharingDiffers, SharingLost, SharingRestored};

use crate::brief::Brief;
use crate::name::{KeyLabel, OneLine};
use breaker_core::{Change, Generation, Reason, Reconfiguration, Setting, SettingValue};
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// A breaker entered a state. Displays as the line of a log.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StateChange<'a> {
    /// The breaker's name.
    pub breaker: &'a str,
    /// The key, if the breaker is one of several by key.
    pub key: Option<KeyLabel<'a>>,
    /// Which circuit.
    pub circuit: CircuitId,
    /// From, to, why.
    pub change: &'a Change,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for StateChange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Named(self.breaker, self.key);
        write!(f, "circuit `{name}` {}", Entering::from(self.change))
    }
}

/// A name, with the key if there is one.
struct Named<'a>(&'a str, Option<KeyLabel<'a>>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OneLine(self.0).fmt(f)?;
        match self.1 {
            Some(key) => write!(f, "[{key}]"),
            None => Ok(()),
        }
    }
}

/// A breaker in shadow would have opened.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WouldTrip<'a> {
    /// The breaker's name.
    pub breaker: &'a str,
    /// The key, if the breaker is one of several by key.
    pub key: Option<KeyLabel<'a>>,
    /// Which circuit.
    pub circuit: CircuitId,
    /// The change that was not made, with shadow's own generation.
    pub change: &'a Change,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for WouldTrip<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Named(self.breaker, self.key);
        write!(f, "circuit `{name}` would have ")?;
        Entering::from(self.change).opening(f)
    }
}

/// A breaker in shadow would have refused a call, which was made and has ended.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WouldReject<'a> {
    /// The breaker's name.
    pub breaker: &'a str,
    /// The key, if the breaker is one of several by key.
    pub key: Option<KeyLabel<'a>>,
    /// Which circuit.
    pub circuit: CircuitId,
    /// Why.
    pub reason: Reason,
    /// How the call ended.
    pub outcome: CallOutcome,
    /// Shadow's generation.
    pub generation: Generation,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for WouldReject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Named(self.breaker, self.key);
        let Self {
            reason, outcome, ..
        } = self;
        write!(
            f,
            "circuit `{name}` would have refused a call, as {reason}: it ended as {outcome}"
        )
    }
}

/// A breaker in shadow would have closed again.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WouldClose<'a> {
    /// The breaker's name.
    pub breaker: &'a str,
    /// The key, if the breaker is one of several by key.
    pub key: Option<KeyLabel<'a>>,
    /// Which circuit.
    pub circuit: CircuitId,
    /// How long it would have been open or probing.
    pub after: Duration,
    /// Calls that it would have refused in that time.
    pub rejected: u64,
    /// Those of them that succeeded in fact.
    pub rejected_successes: u64,
    /// Shadow's generation.
    pub generation: Generation,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for WouldClose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = if self.rejected == 1 { "call" } else { "calls" };
        write!(
            f,
            "circuit `{}` would have closed after {}, having refused {} {calls} of which {} succeeded",
            Named(self.breaker, self.key),
            Brief(self.after),
            self.rejected,
            self.rejected_successes
        )
    }
}

/// A circuit of the process, as long as it lives: to know again what an event is of without
/// comparing names. After that the number may be another's; observers are told when a key is
/// given up ([`KeyEvicted`]). In a test scope a circuit is another one than outside.
///
/// A breaker that is moved to another place, as none is that is `static`, shared or of a key,
/// becomes another circuit by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CircuitId(pub(crate) u64);

impl CircuitId {
    /// One of so many places.
    pub(super) fn shard(self, shards: usize) -> usize {
        // The number is spread over all its bits.
        (self.0 % shards as u64) as usize
    }
}

/// The probes of a trial did not end within `probe_timeout`: they were given up, and a new
/// trial began. The state change is told as well.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProbeExpired<'a> {
    /// The breaker's name.
    pub breaker: &'a str,
    /// The key, if the breaker is one of several by key.
    pub key: Option<KeyLabel<'a>>,
    /// Which circuit.
    pub circuit: CircuitId,
    /// The generation of the new trial.
    pub generation: Generation,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for ProbeExpired<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Named(self.breaker, self.key);
        write!(f, "circuit `{name}` gave up its probes: they never ended")
    }
}

/// An operator did something to a circuit where it is known who did: on the status page
/// (`breakerbox::status_page`). The state change is told as well, before this.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Operated<'a> {
    /// The breaker's name.
    pub breaker: &'a str,
    /// The key, if the breaker is one of several by key.
    pub key: Option<KeyLabel<'a>>,
    /// Which circuit.
    pub circuit: CircuitId,
    /// What: `close`, `clear`, `open_for`, `force_open`, `disable`, `shadow`.
    pub action: &'a str,
    /// Who, as the guard said.
    pub by: Option<&'a str>,
    /// What came of it.
    pub change: &'a Change,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for Operated<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Change { from, to, wait, .. } = *self.change;
        write!(
            f,
            "circuit `{}` went from {from} to {to} by {}, who called {}",
            Named(self.breaker, self.key),
            Who(self.by),
            self.action
        )?;
        match wait {
            Some(wait) => write!(f, ", for {}", Brief(wait)),
            None => Ok(()),
        }
    }
}

/// An operator, on one line: a name may be somebody else's text.
struct Who<'a>(Option<&'a str>);

impl fmt::Display for Who<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(who) => write!(f, "`{}`", OneLine(who)),
            None => f.write_str("somebody"),
        }
    }
}

/// A breaker's configuration was changed at run time, or that of the breakers of all keys.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Reconfigured<'a> {
    /// The breaker's name, or the one that all keys have in common.
    pub breaker: &'a str,
    /// `None`: all keys have one configuration.
    pub key: Option<KeyLabel<'a>>,
    /// Which circuit; of breakers by key a number that is no key's.
    pub circuit: CircuitId,
    /// What held before, and what holds from now on. Where two threads reconfigured the breaker at
    /// once, what one of the two events begins with is what the other ends with.
    pub change: &'a Reconfiguration,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl Reconfigured<'_> {
    /// The settings that have another value now, with the one before and the one now.
    pub fn changed(
        &self,
    ) -> impl Iterator<Item = (Setting, Option<SettingValue>, Option<SettingValue>)> + use<> {
        let Reconfiguration { from, to, .. } = *self.change;
        let both = move |setting| (setting, from.get(setting), to.get(setting));
        let settings = Setting::OVERRIDABLE.into_iter().map(both);
        settings.filter(|(_, from, to)| from != to)
    }
}

impl fmt::Display for Reconfigured<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = Named(self.breaker, self.key);
        write!(f, "circuit `{of}` was reconfigured")?;
        let mut before = ": ";
        for (setting, from, to) in self.changed() {
            write!(
                f,
                "{before}{setting} from {} to {}",
                OrNone(from),
                OrNone(to)
            )?;
            before = ", ";
        }
        Ok(())
    }
}

struct OrNone(Option<SettingValue>);

impl fmt::Display for OrNone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str("none"),
        }
    }
}

/// A key was given up for a new one: its breaker was closed and not in use. Should
/// it be seen again, it gets a new breaker.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KeyEvicted<'a> {
    /// The name that all keys have in common.
    pub breaker: &'a str,
    /// The key that was given up.
    pub key: KeyLabel<'a>,
    /// The circuit that is gone. Its number may be another's from now on.
    pub circuit: CircuitId,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for KeyEvicted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "circuit `{}` was given up for a new key",
            Named(self.breaker, Some(self.key))
        )
    }
}

/// A [shared](crate::Breaker::shared) breaker left the registry, or breakers by key did: it was
/// dropped. Its name may be another's from now on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Left<'a> {
    /// The breaker's name.
    pub breaker: &'a str,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for Left<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "circuit `{}` is gone", Named(self.breaker, None))
    }
}

/// No key could be given up for a new one: all that were looked at are open or in
/// use. The new key's call is made, and what comes of it is not remembered.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KeysFull<'a> {
    /// The name that all keys have in common.
    pub breaker: &'a str,
    /// The new key.
    pub key: KeyLabel<'a>,
    /// The circuit that is not kept.
    pub circuit: CircuitId,
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for KeysFull<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "circuit `{}` is not kept: the keys that are kept are open or in use",
            Named(self.breaker, Some(self.key))
        )
    }
}

/// Told by [`InOrder`](super::InOrder) alone: what it waited for never came, or came when more
/// was waiting than it keeps. What follows goes on after that.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Missed<'a> {
    /// The breaker's name.
    pub breaker: &'a str,
    /// The key, if the breaker is one of several by key.
    pub key: Option<KeyLabel<'a>>,
    /// Which circuit.
    pub circuit: CircuitId,
    /// So many state changes.
    pub changes: u64,
    /// So many other events.
    pub events: u64,
    /// The generation in which it goes on.
    pub generation: Generation,
    /// That of an event beside it.
    pub sequence: u64,
}

impl fmt::Display for Missed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "circuit `{}`: {} state changes and {} other events were not told",
            Named(self.breaker, self.key),
            self.changes,
            self.events
        )
    }
}

/// What was to be done with a last-good answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LastGoodStep {
    /// Keep it, after a success.
    Store,
    /// Serve it, in place of an answer.
    Load,
}

impl LastGoodStep {
    /// Its name in logs and metrics: `store` or `load`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Load => "load",
        }
    }
}

/// A last-good answer could not be stored, or could not be loaded: what its store made
/// of that. The call went on: its caller got the fresh answer, or the error that there
/// was no answer for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LastGoodFailed<'a> {
    /// The breaker's name.
    pub breaker: &'a str,
    /// The key, if the breaker is one of several by key.
    pub key: Option<KeyLabel<'a>>,
    /// The circuit that guarded the call.
    pub circuit: CircuitId,
    /// What was tried.
    pub step: LastGoodStep,
    /// The store's error, or [`Panicked`].
    pub error: &'a (dyn Error + 'static),
    /// Grows with every event of the process.
    pub sequence: u64,
}

impl fmt::Display for LastGoodFailed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "circuit `{}` could not {} a last-good answer: {}",
            Named(self.breaker, self.key),
            self.step.as_str(),
            self.error
        )?;
        let mut cause = self.error.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// A store of last-good answers panicked, or an answer did while it was cloned.
#[derive(Clone, Debug)]
pub struct Panicked(Option<Box<str>>);

impl Panicked {
    #[cfg(all(
        feature = "last-good",
        any(
            feature = "js",
            not(all(target_family = "wasm", target_os = "unknown"))
        )
    ))]
    pub(crate) fn new(text: Option<&str>) -> Self {
        Self(text.map(Into::into))
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(text) => write!(f, "it panicked: {text}"),
            None => f.write_str("it panicked"),
        }
    }
}

impl Error for Panicked {}

#[cfg(test)]
mod tests {
    use super::{CircuitId, LastGoodFailed, LastGoodStep};
    use std::error::Error;
    use std::fmt;

    #[derive(Debug)]
    struct Failed(&'static str, Option<Box<Self>>);

    impl fmt::Display for Failed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Failed {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self.1.as_deref()?)
        }
    }

    #[test]
    fn an_answer_that_is_lost_is_told_of_with_all_causes() {
        let full = Failed("the disk is full", None);
        let page = Failed("no page could be written", Some(Box::new(full)));
        let event = LastGoodFailed {
            breaker: "pms",
            key: None,
            circuit: CircuitId(1),
            step: LastGoodStep::Store,
            error: &Failed("not saved", Some(Box::new(page))),
            sequence: 1,
        };
        assert_eq!(
            event.to_string(),
            "circuit `pms` could not store a last-good answer: \
             not saved: no page could be written: the disk is full"
        );
    }
}
