//! A census: before a rate opens the circuit of all, each instance says what its window holds, also one
//! that has seen no failure and says nothing else of it.

use super::Instance;
use crate::protocol::{CENSUS, CENSUS_HOLDS, CENSUS_SPREAD, Told};

/// The last census that an instance heard of, as far as it takes part. Times of what isn't to come are
/// [`NEVER`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Census {
    began: u64,
    /// When it looks at its window, to say what it holds if that isn't known.
    looks_at: u64,
    /// When it counts again if it has seen failures, which then decides: whoever began the census may be
    /// no more.
    decides_at: u64,
}

const NEVER: u64 = u64::MAX;

impl Census {
    pub(super) const NONE: Self = Self {
        began: NEVER,
        looks_at: NEVER,
        decides_at: NEVER,
    };

    /// When there is something to do.
    pub(super) fn due(&self) -> Option<u64> {
        let due = self.looks_at.min(self.decides_at);
        (due != NEVER).then_some(due)
    }
}

impl Instance {
    /// Takes part in a census, if one is told of: once in each, however often it is told of.
    pub(super) fn hear_of_census(&mut self, told: &Told) {
        let Some(age) = told.census.filter(|_| self.counts_by_rate()) else {
            return;
        };
        let age = age.min(CENSUS_HOLDS);
        let (began, left) = (self.now.saturating_sub(age), CENSUS.saturating_sub(age));
        // Messages of the same one take their time, each another.
        let between = CENSUS_HOLDS / 2;
        let before = self.census.began;
        let is_new = before == NEVER || began > before.saturating_add(between);
        if is_new {
            self.census.began = began;
            // Not all at once; but it is to be there in time.
            let in_time = left.saturating_sub(self.round_trip.saturating_mul(2));
            let later = self.draw() % in_time.min(CENSUS_SPREAD).saturating_add(1);
            self.census.looks_at = self.now.saturating_add(later);
        }
        // Also when a count came before the end, by whatever clock.
        if (is_new || left > 0) && self.census.decides_at == NEVER {
            let later = left + self.draw() % CENSUS_SPREAD;
            self.census.decides_at = self.now.saturating_add(later);
        }
    }

    /// What there is to do for a census.
    pub(super) fn take_part(&mut self) {
        self.is_to_look = true;
        self.forget_old_calls();
        if self.census.looks_at <= self.now {
            self.census.looks_at = NEVER;
        }
        if self.census.decides_at <= self.now {
            self.census.decides_at = NEVER;
            self.count_again();
        }
    }
}
