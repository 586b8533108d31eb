//! What a breaker in shadow would have done.

use super::history::without_name;
use crate::observe::{CircuitId, WouldTrip};
use breaker_core::{Change, Generation};

/// Since it was set to shadow the last time.
#[derive(Clone, Debug, Default)]
pub(super) struct Would {
    /// Shadow's generation, and what was told of it.
    told: Option<(Generation, Told)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// How often it would have opened: once, without a rehearsal.
    pub(super) opened: u32,
    /// Calls that it would have refused: none, without a rehearsal.
    pub(super) refused: u64,
    /// The last time that it would have opened, in milliseconds of Unix time, and why.
    last: Option<(u64, Change)>,
}

impl Would {
    fn of(&mut self, generation: Generation) -> &mut Told {
        let (of, told) = self
            .told
            .get_or_insert_with(|| (generation, Told::default()));
        if *of != generation {
            (*of, *told) = (generation, Told::default());
        }
        told
    }

    pub(super) fn have_opened(&mut self, change: &Change, at: u64) {
        let told = self.of(change.generation);
        told.opened = told.opened.saturating_add(1);
        told.last = Some((at, *change));
    }

    pub(super) fn have_refused(&mut self, generation: Generation) {
        let told = self.of(generation);
        told.refused = told.refused.saturating_add(1);
    }

    /// What was told of this generation.
    pub(super) fn told(&self, of: Generation) -> Option<Told> {
        let (generation, told) = self.told.as_ref()?;
        (*generation == of).then(|| told.clone())
    }
}

impl Told {
    /// When, and why, as a log has it: "would have opened after 5 failures, for 30s".
    pub(super) fn last(&self, circuit: CircuitId) -> (Option<u64>, Option<String>) {
        let Some((at, change)) = &self.last else {
            return (None, None);
        };
        let event = WouldTrip {
            breaker: "",
            key: None,
            circuit,
            change,
            sequence: 0,
        };
        (Some(*at), Some(without_name(&event)))
    }
}
