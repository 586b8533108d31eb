//! The states of all breakers, taken out of one process and put into another.

#[cfg(feature = "serde")]
mod written;

use super::all::Registered;
use super::any::AnyBreaker;
use super::book::{Here, here};
use crate::name::OneLine;
use breaker_core::{Snapshot, SnapshotError, State};
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::fmt;
use std::time::Duration;

/// The states of all breakers that are listed ([`all()`](super::all())), of every key too, to
/// be [restored](restore) in another process or run.
///
/// What is as a new breaker is (closed, with nothing counted) is left out: so what 10,000
/// quiet keys take is nothing. What a window holds is not in a snapshot.
///
/// ```
/// use breakerbox::{Breaker, Config, State, registry};
/// use std::time::Duration;
///
/// # let scope = breakerbox::test::scope();
/// let pms = Breaker::shared("pms", Config::DEFAULT);
/// pms.open_for(Duration::from_secs(60));
/// let before = registry::snapshot();
/// assert_eq!(before.len(), 1);
/// # drop((pms, scope));
///
/// // In another run, before its first call:
/// # let _scope = breakerbox::test::scope();
/// let report = registry::restore(&before);
/// assert_eq!(report.waiting[0].to_string(), "pms");
/// let pms = Breaker::shared("pms", Config::DEFAULT);
/// assert_eq!(pms.state(), State::Open);
/// ```
///
/// What a [`restore`] brought and still waits for its breaker is handed on, so that a run in which
/// nobody called it loses nothing: an operator's order, and an opening whose wait is not over.
///
/// Inside a test scope: of those that [`all()`](super::all()) lists there.
#[must_use]
pub fn snapshot() -> Snapshots {
    let here = here();
    // What waits first: what enters in between is in the list.
    let mut waiting: BTreeMap<_, _> = here.waiting().all(here.now()).into_iter().collect();
    waiting.retain(|_, state| still_says(state));
    let mut states = Vec::new();
    for breaker in here.all().iter().flat_map(Registered::breakers) {
        let circuit = CircuitName::of(&*breaker);
        waiting.remove(&circuit);
        states.push((circuit, breaker.snapshot()));
    }
    let taken = states.into_iter().chain(waiting);
    let taken = taken.filter_map(|(circuit, snapshot)| {
        let snapshot = in_microseconds(snapshot);
        let taken = SnapshotOf { circuit, snapshot };
        (!is_as_new(&snapshot)).then_some(taken)
    });
    taken.collect()
}

/// Whether a state that nobody took is worth handing on. Else those of breakers and keys that never
/// come again would become more from run to run.
fn still_says(snapshot: &Snapshot) -> bool {
    match snapshot.state {
        State::ForcedOpen | State::Disabled | State::Shadow => true,
        State::Open => !snapshot.time_left.is_zero(),
        State::Closed | State::HalfOpen => false,
    }
}

/// Time left is rounded up, so that what is read is what was written.
fn in_microseconds(mut snapshot: Snapshot) -> Snapshot {
    let left = snapshot.time_left;
    let up = Duration::from_nanos(999);
    let micros = left.saturating_add(up).as_micros();
    snapshot.time_left = u64::try_from(micros).map_or(left, Duration::from_micros);
    snapshot
}

fn is_as_new(snapshot: &Snapshot) -> bool {
    snapshot.state == State::Closed && snapshot.consecutive == 0 && snapshot.reopenings == 0
}

/// The states of breakers by name: what [`snapshot`] gives and [`restore`] takes.
///
/// Collected from whatever else carries them, and, with the feature `serde`, serialized:
///
/// ```
/// # #[cfg(feature = "serde")] {
/// use breakerbox::registry::Snapshots;
///
/// let text = r#"{
///   "version": 1,
///   "breakers": [
///     {"breaker": "pms", "state": "open", "time_left_us": 29500000, "reopenings": 2},
///     {"breaker": "hosts", "key": "a.example", "state": "forced_open"}
///   ]
/// }"#;
/// let read: Snapshots = serde_json::from_str(text)?;
/// assert_eq!(read.len(), 2);
/// let again = serde_json::to_string(&read)?;
/// assert_eq!(serde_json::from_str::<Snapshots>(&again)?, read);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// | field | what it is | where it is left out |
/// | --- | --- | --- |
/// | `breaker` | the name | never |
/// | `key` | the key's label | not one of several by key |
/// | `state` | the state's name: [`State::as_str`] | never |
/// | `time_left_us` | in `open`, microseconds until a probe may be admitted | 0 |
/// | `imposed` | whether that wait was set by an overload or by `open_for` | `false` |
/// | `consecutive` | in `closed`, failures in a row | 0 |
/// | `reopenings` | since the last close | 0 |
///
/// This shape is version 1 and stays; fields that are not known are passed over. A later
/// version is an error when it is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshots {
    of: Vec<SnapshotOf>,
}

/// The state of one breaker.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotOf {
    /// Whose.
    pub circuit: CircuitName,
    /// Its state.
    pub snapshot: Snapshot,
}

/// A breaker's name, with the key's label if it is one of several by key. Displays as
/// [`find`](super::find()) takes it: `hosts[a.example]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CircuitName {
    /// The name.
    pub breaker: String,
    /// The key's label.
    pub key: Option<String>,
}

impl CircuitName {
    /// That of a breaker.
    #[must_use]
    pub fn of(breaker: &dyn AnyBreaker) -> Self {
        Self {
            breaker: breaker.name().to_owned(),
            key: breaker.key().map(|key| key.to_string()),
        }
    }
}

impl fmt::Display for CircuitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "{}[{}]", OneLine(&self.breaker), OneLine(key)),
            None => OneLine(&self.breaker).fmt(f),
        }
    }
}

impl Snapshots {
    /// How many breakers it has the state of.
    #[must_use]
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// Whether every breaker was as a new one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Each, by name and key.
    pub fn iter(&self) -> std::slice::Iter<'_, SnapshotOf> {
        self.of.iter()
    }
}

impl FromIterator<SnapshotOf> for Snapshots {
    fn from_iter<I: IntoIterator<Item = SnapshotOf>>(all: I) -> Self {
        let mut of: Vec<_> = all.into_iter().collect();
        of.sort_by(|one, other| one.circuit.cmp(&other.circuit));
        Self { of }
    }
}

impl IntoIterator for Snapshots {
    type Item = SnapshotOf;
    type IntoIter = std::vec::IntoIter<SnapshotOf>;

    fn into_iter(self) -> Self::IntoIter {
        self.of.into_iter()
    }
}

impl<'a> IntoIterator for &'a Snapshots {
    type Item = &'a SnapshotOf;
    type IntoIter = std::slice::Iter<'a, SnapshotOf>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Puts breakers into the states of a snapshot; calls in flight are late.
///
/// A breaker that isn't listed yet, as all of them are right after a restart, waits for its
/// state: it takes it when it enters, before its first call is admitted. So does a key, when a
/// key with that label first comes. Time left goes on running down while it waits. What waits
/// is what the last `restore` brought: what then still waited from one before is given up
/// ([`Restored::given_up`]).
///
/// Nonsense is refused, for each breaker alone; where it can't be seen before the breaker
/// enters, [`problems`](super::problems) tells of it. Breakers that are not in the snapshot
/// stay as they are.
pub fn restore(snapshots: &Snapshots) -> Restored {
    let here = here();
    let mut report = Restored::default();
    let mut fresh = BTreeMap::new();
    for SnapshotOf { circuit, snapshot } in snapshots {
        let refused = match fresh.entry(circuit.clone()) {
            _ if can_never_be(snapshot) => SnapshotError::ClosedWithTimeLeft.into(),
            Entry::Occupied(_) => RestoreError::Twice,
            Entry::Vacant(place) => {
                place.insert(*snapshot);
                continue;
            }
        };
        report.refuse(circuit.clone(), refused);
    }
    // What enters from now on takes its own.
    let known = fresh.keys().cloned().collect::<Vec<_>>();
    here.problems().forget_states();
    report.given_up = here.waiting().replace(fresh, here.now());
    for registered in here.all() {
        restore_listed(&here, &registered, &mut report);
    }
    let waiting = here.waiting();
    // The first of two for one name is none of them, as the second is refused.
    let refused = report.refused.iter();
    let refused = refused.filter(|(_, error)| *error != RestoreError::Twice);
    let refused: BTreeSet<_> = refused.map(|(circuit, _)| circuit).collect();
    for circuit in known {
        if waiting.has(&circuit) {
            report.waiting.push(circuit);
        } else if !refused.contains(&circuit) {
            report.restored.push(circuit);
        }
    }
    report
}

/// What no breaker of whatever settings can have been in.
fn can_never_be(snapshot: &Snapshot) -> bool {
    snapshot.state == State::Closed && !snapshot.time_left.is_zero()
}

fn restore_listed(here: &Here, registered: &Registered, report: &mut Restored) {
    let (waiting, name) = (here.waiting(), registered.name());
    if !waiting.has_any_of(name) {
        return;
    }
    let of = |key| CircuitName {
        breaker: name.to_owned(),
        key,
    };
    match registered {
        Registered::One(breaker) => {
            if let Some(snapshot) = waiting.take(&of(None), here.now())
                && let Err(error) = breaker.restore(&snapshot)
            {
                report.refuse(of(None), error.into());
            }
        }
        Registered::Keyed(keyed) => {
            for breaker in keyed.breakers() {
                let circuit = CircuitName::of(&*breaker);
                if let Some(snapshot) = waiting.take(&circuit, here.now())
                    && let Err(error) = breaker.restore(&snapshot)
                {
                    report.refuse(circuit, error.into());
                }
            }
        }
    }
    let by_key = matches!(registered, Registered::Keyed(_));
    for (circuit, error) in waiting.take_unfit(name, by_key) {
        report.refuse(circuit, error);
    }
}

/// What became of a [`restore`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Restored {
    /// They have their state.
    pub restored: Vec<CircuitName>,
    /// They are not listed yet: their state waits for them.
    pub waiting: Vec<CircuitName>,
    /// They stayed as they were, and why.
    pub refused: Vec<(CircuitName, RestoreError)>,
    /// How many states from an earlier `restore` still waited and were given up.
    pub given_up: usize,
}

impl Restored {
    fn refuse(&mut self, circuit: CircuitName, error: RestoreError) {
        self.refused.push((circuit, error));
    }
}

/// Why a breaker was not restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The breaker can't have been in that state.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// There are two for one name and key; the first was taken.
    #[error("there are two snapshots of it: the first was taken")]
    Twice,
    /// The snapshot has a key, and the breaker of that name is one alone.
    #[error("the snapshot is of a key, but the breaker of that name has no keys")]
    HasNoKeys,
    /// The snapshot has no key, and there is a breaker for each key.
    #[error("the snapshot is of no key, but of that name there is a breaker for each key")]
    HasKeys,
}
