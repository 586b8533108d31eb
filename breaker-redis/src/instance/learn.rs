//! What others did: whether it is later than what is known, and what it means for the breaker.

use super::census::Census;
use super::here::There;
use super::options::micros;
use super::{Course, Instance};
use crate::protocol::{Cause, Counts, Known, Told};
use breakerbox::State;
use std::cmp::Ordering;

/// Waits that differ by no more, in microseconds, are the same, told by others a little later.
const SAME_WAIT: u64 = 1_000_000;

/// How an instance came to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A message, or an answer that isn't waited for any more.
    Message,
    /// Redis says so now.
    Answer,
    /// Redis says so now, although something else was offered.
    Refusal,
}

impl Instance {
    /// Takes over what was told, if it is later.
    pub(super) fn learn(&mut self, told: &Told, by: By) {
        if self.learn_state(told, by) {
            self.hear_of_census(told);
        }
    }

    /// Gives whether what was told is what is known then.
    fn learn_state(&mut self, told: &Told, by: By) -> bool {
        match Some(told.version).cmp(&self.known()) {
            Ordering::Less => return false,
            Ordering::Equal if by == By::Message => {
                self.hear_of_renewal(told);
                return true;
            }
            Ordering::Equal if self.is_known(told) => {
                self.there = self.told_now(told, by);
                return true;
            }
            // Redis was restored to an older state, and went on from there to another of this number.
            Ordering::Equal => {}
            Ordering::Greater if by != By::Refusal && self.knows_better(told) => {
                self.offering = true;
                return false;
            }
            Ordering::Greater => {}
        }
        self.adopt(told, by);
        true
    }

    /// A message of the version that is known: the lease of another was renewed, perhaps.
    fn hear_of_renewal(&mut self, told: &Told) {
        let Some((holder, left)) = &told.lease else {
            return;
        };
        let until = self
            .now
            .saturating_add((*left).min(self.options.longest_lease()));
        let is_later = self.held_until_there() < until;
        if is_later && *holder != self.options.me && self.is_known(told) {
            self.there = self.told_now(told, By::Message);
        }
    }

    fn told_now(&self, told: &Told, by: By) -> Option<Box<There>> {
        let (told, at) = (told.clone(), self.now);
        let mut there = There {
            told,
            at,
            free_at: at,
        };
        let (me, longest) = (&self.options.me, self.options.longest_lease());
        there.free_at = there.held_until(me, longest);
        if there.free_at == at {
            match &self.there {
                Some(before) if before.told.version == there.told.version => {
                    there.free_at = before.free_at.min(at);
                }
                // Where calls are frequent it is so for a moment only, and hardly the one of the first answer.
                None if by != By::Message => there.free_at = 0,
                _ => {}
            }
        }
        Some(Box::new(there))
    }

    fn is_known(&self, told: &Told) -> bool {
        let holder = |told: &Told| told.lease.as_ref().map(|(holder, _)| holder.clone());
        self.there
            .as_ref()
            .is_some_and(|there| there.is(told.shared.state) && holder(&there.told) == holder(told))
    }

    /// Somebody offered what is older than what is known here, after Redis had lost both.
    fn knows_better(&self, told: &Told) -> bool {
        match (told.offered, self.known()) {
            (Some(offered), Some(known)) => known > offered && known.epoch < told.version.epoch,
            _ => false,
        }
    }

    fn adopt(&mut self, told: &Told, by: By) {
        let known = self.known();
        let there = self.told_now(told, by);
        let before = std::mem::replace(&mut self.there, there);
        let came_to_nothing =
            before.as_ref().map(|before| before.told.cause) == Some(Cause::Released);
        self.comes_of_nothing = came_to_nothing && told.cause == Cause::Leased;
        self.offering = false;
        self.repeats = 0;
        self.lease = None;
        self.wanted = false;
        let is_mine = told.by == self.options.me;
        // Of an earlier version nothing counts; but what has founded it may be a count.
        let may_count = is_mine && told.cause == Cause::Founded;
        self.said = (!may_count).then(Counts::default);
        self.census = Census::NONE;

        self.follow_at = self.now;
        let stands = if is_mine {
            self.stands_by_itself(told, before)
        } else {
            self.stands_by_others(told, known)
        };
        self.alone &= stands && told.shared.state == State::Closed;
        if let Course::Following { .. } = self.course {
            // Perhaps something older: that is seen when it has come to an end.
            return;
        }
        self.course = if stands {
            Course::Settled
        } else {
            self.follow_at = self.follows_at(told);
            Course::Astray
        };
        self.vote_again();
    }

    /// When the breaker is to follow: what brings load back may take its time.
    fn follows_at(&mut self, told: &Told) -> u64 {
        let within = micros(self.options.slow_start);
        let is_recovery = told.cause == Cause::Recovered && told.shared.state == State::Closed;
        if !is_recovery || within == 0 || !self.here.waits() || told.by == self.options.me {
            return self.now;
        }
        let delay = self.draw() % within.saturating_add(1);
        self.now.saturating_add(delay)
    }

    /// Whether the breaker may stay as it is, after what this instance did itself: the answer was lost,
    /// or is still on its way.
    fn stands_by_itself(&mut self, told: &Told, before: Option<Box<There>>) -> bool {
        let is_order = told.cause == Cause::Operator && told.offered.is_none();
        if let (true, false, Some(before)) = (is_order, self.is_ordered(), before)
            && !before.is(told.shared.state)
        {
            self.order(before.shared(self.now));
        } else if self.is_told_by(told) {
            self.arrived();
        } else {
            self.went_on_since();
        }
        self.news.is_some() || self.agrees()
    }

    /// Whether the breaker may stay as it is, after what others did.
    fn stands_by_others(&mut self, told: &Told, known: Known) -> bool {
        let version = told.version;
        let closed = told.shared.state == State::Closed;
        // An operator's word begins an epoch, and counts begin with it; also where nothing was heard of it
        // but what came after.
        let is_ordered = known < told.operated;
        let is_new_life = known.is_none_or(|known| known.epoch != version.epoch && !is_ordered);
        if closed && is_new_life && (self.alone || self.here.is(State::Closed)) {
            // It has counted from the same beginning, or since before Redis lost what was counted.
            if !self.alone {
                self.drop_news();
            }
            return true;
        }
        if closed && known.is_none() && self.news.is_some() {
            return true;
        }
        self.drop_news();
        let is_next = known.is_some_and(|known| {
            known.epoch == version.epoch && known.counter.checked_add(1) == Some(version.counter)
        });
        // The wait is over, as it is here or will be in a moment: another probes, or may.
        let goes_on = is_next
            && self.course == Course::Settled
            && self.here.is(State::Open)
            && matches!(told.cause, Cause::Leased | Cause::Released)
            && told.shared.reopenings == self.here.shared.reopenings;
        goes_on || self.stands_so(told)
    }

    /// Whether the breaker stands so already, so that to follow would change nothing but be told as a
    /// change: an operator holds it so once more, or Redis has lost its opening, which was offered anew.
    fn stands_so(&self, told: &Told) -> bool {
        if !matches!(self.course, Course::Settled | Course::Astray) {
            return false;
        }
        let (here, there) = (self.here.told(self.now), told.shared);
        match there.state {
            // Else it is another opening.
            State::Open if told.offered.is_some() => {
                let is_open = self.here.is(State::Open) && here.imposed == there.imposed;
                let is_of_one_row = here.reopenings == there.reopenings;
                is_open && is_of_one_row && here.wait.abs_diff(there.wait) <= SAME_WAIT
            }
            // A breaker that is closed once more forgets what it has counted.
            State::Closed | State::Open | State::HalfOpen => false,
            state => self.here.is(state),
        }
    }

    /// Whether the breaker stands as the fleet does, as far as it has to.
    pub(super) fn agrees(&self) -> bool {
        let Some(there) = &self.there else {
            return true;
        };
        match there.told.shared.state {
            State::Closed => self.here.is(State::Closed) || self.alone && self.here.waits(),
            State::Open | State::HalfOpen => self.here.waits(),
            state => self.here.is(state),
        }
    }

    /// The breaker is to follow, unless it stands as the fleet does.
    pub(super) fn go_astray(&mut self) {
        if self.course == Course::Settled && !self.agrees() {
            self.course = Course::Astray;
        }
    }
}
