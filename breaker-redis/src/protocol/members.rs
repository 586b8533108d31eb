//! The instances of a fleet: who is alive, what each has counted, and who votes.
//!
//! Nothing here looks at all instances. Each stands in the slice of time in which it was last heard of,
//! a quarter of `alive` long, and a slice has the sums of those in it: an instance that is heard of again
//! is taken out of its slice and added to the present one, and those that fall silent are forgotten with
//! their slice. Slices are numbered by ticks, which only grow, whatever the clock does.

use super::{Caller, Counts, Quorum, Version, Who};
use std::collections::{HashMap, VecDeque};

/// The slices that count: the present one and the four before it.
const SLICES: usize = 5;

/// The quarters of `alive` that it takes until it is known who is alive: by then each has asked once.
const TO_SETTLE: u64 = 2;

/// The shortest and the longest `alive`, in microseconds.
const ALIVE: (u64, u64) = (100_000, 86_400_000_000);

/// What Redis holds of the instances of one circuit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    ticks: Option<Ticks>,
    slices: [Slice; SLICES],
    of: HashMap<Who, Member>,
    /// In which tick each was heard of, the oldest first.
    heard: VecDeque<(u64, Who)>,
}

/// Which slice is the present one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    pub(crate) tick: u64,
    /// When it began, in microseconds of Redis' clock.
    pub(crate) since: u64,
    /// From which tick on it is known who is alive.
    pub(crate) settled: u64,
}

/// The sums of the instances that were last heard of in a slice of time; but for `present` and `tick`
/// of the present version of the state alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) present: u64,
    pub(crate) calls: u64,
    pub(crate) failures: u64,
    pub(crate) slow: u64,
    /// Instances with failures.
    pub(crate) failing: u64,
    /// Instances with slow calls.
    pub(crate) slowed: u64,
    pub(crate) votes: u64,
}

/// An instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// When it was last heard of.
    pub(crate) tick: u64,
    /// The version of the state in which it counted and voted.
    pub(crate) term: Option<Version>,
    pub(crate) says: Says,
}

/// What an instance adds to the fleet's sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Says {
    pub(crate) counts: Counts,
    pub(crate) vote: bool,
}

impl Ticks {
    fn begin(now: u64) -> Self {
        Self {
            tick: 1,
            since: now,
            settled: 1 + TO_SETTLE,
        }
    }

    /// After the time that passed; and by how much it grew.
    fn at(self, now: u64, alive: u64) -> (Self, u64) {
        // A clock that was set back: no time has passed.
        let since = self.since.min(now);
        let width = alive.clamp(ALIVE.0, ALIVE.1) / 4;
        let more = (now - since) / width;
        let tick = self.tick + more;
        let ticks = Self {
            tick,
            since: since + more * width,
            // Nobody was heard of for so long: a clock that was set forward, perhaps.
            settled: if more < SLICES as u64 {
                self.settled
            } else {
                tick + TO_SETTLE
            },
        };
        (ticks, more)
    }

    fn counts(self, tick: u64) -> bool {
        self.tick - tick < SLICES as u64
    }
}

impl Slice {
    /// Of a single instance.
    fn of(says: Says) -> Self {
        Self {
            present: 1,
            calls: says.counts.calls.into(),
            failures: says.counts.failures.into(),
            slow: says.counts.slow.into(),
            failing: (says.counts.failures > 0).into(),
            slowed: (says.counts.slow > 0).into(),
            votes: says.vote.into(),
        }
    }

    fn with(self, other: Self, both: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            present: both(self.present, other.present),
            calls: both(self.calls, other.calls),
            failures: both(self.failures, other.failures),
            slow: both(self.slow, other.slow),
            failing: both(self.failing, other.failing),
            slowed: both(self.slowed, other.slowed),
            votes: both(self.votes, other.votes),
        }
    }
}

impl Members {
    /// The instance is heard of, which keeps what it said before. Nothing is kept of one that has said
    /// nothing, unless it is to be `present`.
    pub(crate) fn hear(&mut self, now: u64, caller: &Caller, term: Option<Version>) {
        let before = self.says(now, caller, term);
        if caller.present || before.is_some() {
            self.say(now, caller, term, |says| says);
        }
    }

    /// The instance is over, and counts no more.
    pub(crate) fn leave(&mut self, now: u64, caller: &Caller, term: Option<Version>) {
        if let Some(says) = self.says(now, caller, term) {
            self.pass(now, caller.alive);
            if let Some(member) = self.of.remove(&caller.who) {
                let slice = self.slice(member.tick);
                *slice = slice.with(Slice::of(says), u64::saturating_sub);
            }
        }
    }

    /// What an instance that counts has said in the present term.
    fn says(&self, now: u64, caller: &Caller, term: Option<Version>) -> Option<Says> {
        let (ticks, _) = self.ticks?.at(now, caller.alive);
        let member = self.of.get(&caller.who)?;
        ticks.counts(member.tick).then(|| member.says_in(term))
    }

    /// The instance says something else than before.
    pub(crate) fn say(
        &mut self,
        now: u64,
        caller: &Caller,
        term: Option<Version>,
        change: impl FnOnce(Says) -> Says,
    ) {
        let ticks = self.pass(now, caller.alive);
        let old = self.of.get(&caller.who).copied();
        let old = old.filter(|old| ticks.counts(old.tick));
        let mut says = Says::default();
        if let Some(old) = old {
            says = old.says_in(term);
            let slice = self.slice(old.tick);
            // More than there is only where versions have come to their end.
            *slice = slice.with(Slice::of(says), u64::saturating_sub);
        }
        let says = change(says);
        let slice = self.slice(ticks.tick);
        *slice = slice.with(Slice::of(says), |sum, part| sum + part);
        let tick = ticks.tick;
        let member = Member { tick, term, says };
        self.of.insert(caller.who.clone(), member);
        if old.is_none_or(|old| old.tick != tick) {
            self.heard.push_back((tick, caller.who.clone()));
            self.sweep(ticks);
        }
    }

    /// Lets the time pass, and forgets the slices that it takes.
    fn pass(&mut self, now: u64, alive: u64) -> Ticks {
        let before = self.ticks.unwrap_or_else(|| Ticks::begin(now));
        let (ticks, more) = before.at(now, alive);
        for step in 1..=more.min(SLICES as u64) {
            *self.slice(before.tick + step) = Slice::default();
        }
        *self.ticks.insert(ticks)
    }

    fn slice(&mut self, tick: u64) -> &mut Slice {
        &mut self.slices[(tick % SLICES as u64) as usize]
    }

    /// Forgets two that are silent, if there are: more than come.
    fn sweep(&mut self, ticks: Ticks) {
        for _ in 0..2 {
            match self.heard.front() {
                Some(&(tick, _)) if !ticks.counts(tick) => {}
                _ => return,
            }
            if let Some((tick, who)) = self.heard.pop_front()
                && self.of.get(&who).is_some_and(|member| member.tick == tick)
            {
                self.of.remove(&who);
            }
        }
    }

    /// The state has changed: what was counted and voted counts no more.
    pub(crate) fn begin_term(&mut self) {
        for slice in &mut self.slices {
            *slice = Slice {
                present: slice.present,
                ..Slice::default()
            };
        }
    }

    /// The sums over the fleet, as of when somebody last said something.
    pub(crate) fn sums(&self) -> Slice {
        let none = Slice::default();
        let add = |sum: Slice, slice: &Slice| sum.with(*slice, |sum, part| sum + part);
        self.slices.iter().fold(none, add)
    }

    /// Whether so many instances are as many as it takes.
    pub(crate) fn reach(&self, quorum: Quorum, instances: u64) -> bool {
        match quorum {
            Quorum::Instances(least) => instances >= least.into(),
            Quorum::Share(share) => {
                let alive = self.sums().present;
                self.ticks.is_some_and(|ticks| ticks.tick >= ticks.settled)
                    && instances >= alive.min(2)
                    && share.reached(instances, alive)
            }
        }
    }
}

#[cfg(test)]
impl Members {
    /// All that there is to compare; of the instances those that count.
    pub(crate) fn parts(&self) -> Option<(Ticks, &[Slice], impl Iterator<Item = (&Who, &Member)>)> {
        let ticks = self.ticks?;
        let members = self
            .of
            .iter()
            .filter(move |(_, member)| ticks.counts(member.tick));
        Some((ticks, &self.slices, members))
    }

    /// What [`sums`](Self::sums) are to be, found by looking at each instance that counts.
    pub(crate) fn summed_up(&self, term: Option<Version>) -> Slice {
        let members = self.parts().into_iter().flat_map(|(_, _, members)| members);
        members.fold(Slice::default(), |sum, (_, member)| {
            sum.with(Slice::of(member.says_in(term)), |sum, part| sum + part)
        })
    }

    /// How many instances are kept, with those that don't count any more.
    pub(crate) fn kept(&self) -> usize {
        self.of.len().max(self.heard.len())
    }
}

impl Member {
    fn says_in(&self, term: Option<Version>) -> Says {
        if self.term == term {
            self.says
        } else {
            Says::default()
        }
    }
}
