//! What waits for a breaker that enters, or for a new key.

use super::book::Here;
use super::snapshots::CircuitName;
use super::watch::Happened;
use crate::name::{KeyLabel, Name};
use breaker_core::{Change, Clock, Snapshot, SnapshotError};

/// A clock's reading, taken before anything is locked: a clock may be the user's code.
pub(super) struct Moment {
    now: u64,
    exact: u64,
    resolution: u64,
    entropy: Option<u64>,
}

impl Moment {
    pub(super) fn of(clock: &impl Clock) -> Self {
        Self {
            now: clock.now(),
            exact: clock.exact(),
            resolution: clock.resolution(),
            entropy: clock.entropy(),
        }
    }
}

impl Clock for Moment {
    fn now(&self) -> u64 {
        self.now
    }

    fn exact(&self) -> u64 {
        self.exact
    }

    fn resolution(&self) -> u64 {
        self.resolution
    }

    fn entropy(&self) -> Option<u64> {
        self.entropy
    }
}

/// A breaker that enters takes the state that waits for it.
pub(super) fn take_state(
    here: &Here,
    name: &str,
    restore: impl FnOnce(&Snapshot) -> Result<Change, SnapshotError>,
) -> Option<Change> {
    if !here.waiting().has_any_of(name) {
        return None;
    }
    refuse_unfit(here, name, false);
    let circuit = CircuitName {
        breaker: name.to_owned(),
        key: None,
    };
    let snapshot = here.waiting().take(&circuit, here.now())?;
    match restore(&snapshot) {
        Ok(change) => Some(change),
        Err(error) => {
            here.problems().add_state(circuit, error.into());
            None
        }
    }
}

/// What waits for those of that name, but is of the other kind.
pub(super) fn refuse_unfit(here: &Here, name: &str, by_key: bool) {
    for (circuit, error) in here.waiting().take_unfit(name, by_key) {
        here.problems().add_state(circuit, error);
    }
}

/// A new key that is not yet where others find it.
pub(crate) struct NewKey {
    here: Here,
    /// That it takes, as it is there.
    taken: Option<(CircuitName, Change)>,
}

impl NewKey {
    pub(crate) fn new(#[cfg(feature = "test-util")] scope: Option<&crate::test::Scope>) -> Self {
        #[cfg(feature = "test-util")]
        let here = scope.map_or(Here::Process, |scope| Here::Scope(scope.clone()));
        #[cfg(not(feature = "test-util"))]
        let here = Here::Process;
        Self { here, taken: None }
    }

    /// Takes the state that waits for it. That goes on waiting until the key is kept: another
    /// thread may be adding the same.
    pub(crate) fn take_state(
        &mut self,
        name: &Name,
        restore: impl FnOnce(&Snapshot) -> Result<Change, SnapshotError>,
    ) {
        let here = &self.here;
        if !here.waiting().has_any_of(name.as_str()) || here.find_keyed(name.as_str()).is_none() {
            return;
        }
        let circuit = CircuitName {
            breaker: name.as_str().to_owned(),
            key: name.key().map(|key| key.to_string()),
        };
        let Some(snapshot) = here.waiting().peek(&circuit, here.now()) else {
            return;
        };
        match restore(&snapshot) {
            Ok(change) => self.taken = Some((circuit, change)),
            Err(error) => {
                here.waiting().take(&circuit, here.now());
                here.problems().add_state(circuit, error.into());
            }
        }
    }

    /// It is kept: what it took waits no more, and is what it gives.
    pub(crate) fn kept(self, name: &str, key: KeyLabel<'_>) -> Option<Change> {
        let watchers = self.here.watchers();
        if watchers.are_there() {
            let key = key.to_string();
            drop(watchers.tell(name, Some(&key), Happened::Entered));
        }
        let (circuit, change) = self.taken?;
        self.here.waiting().take(&circuit, 0)?;
        Some(change)
    }
}
