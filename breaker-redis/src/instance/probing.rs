//! Who may probe: the lease of a trial.

use super::options::micros;
use super::step::{Asked, Settled, Topic};
use super::{Course, Instance};
use crate::protocol::{Told, Version};
use breakerbox::{Generation, State};
use std::time::Duration;

/// The right to probe for all. Measured from when it was asked for, so that it ends here before it does
/// in Redis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lease {
    /// Less an eighth of it, since clocks run at different speeds.
    until: u64,
    renew_at: u64,
    is_used: bool,
    /// Until when it isn't given back.
    kept_until: u64,
    /// It is to be given back by then.
    is_idle: bool,
}

/// What a call is told that asks to probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Answer {
    Now,
    /// After so much time.
    Later(Duration),
    /// Nobody has the lease, as far as is known.
    AskFirst,
}

/// Calls of a fleet, or of a process, that come more rarely than that, in microseconds, don't wait for a lease.
const RARE: u64 = 1_000_000;

impl Lease {
    fn new(asked: Asked, lasts: u64) -> Self {
        Self {
            until: asked.at.saturating_add(lasts - lasts / 8),
            renew_at: asked.at.saturating_add(lasts / 2),
            is_used: false,
            kept_until: 0,
            is_idle: false,
        }
    }
}

/// The probes of an opening, or of its trial once there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    generation: Generation,
    let_through: u16,
    ended: u16,
    /// One has counted.
    has_counted: bool,
    last_probe: u64,
}

impl Trial {
    pub(super) const NONE: Self = Self {
        generation: Generation::NONE,
        let_through: 0,
        ended: 0,
        has_counted: false,
        last_probe: 0,
    };

    /// Whether a probe runs, or one has counted and more are to come.
    fn is_under_way(&self) -> bool {
        self.let_through > self.ended || self.has_counted
    }
}

impl Instance {
    /// The lease was given.
    pub(super) fn granted(&mut self, asked: Asked, told: &Told) {
        self.wanted = false;
        if self.here.waits() && self.news.is_none() {
            // Trials that come to nothing one after the other, as where each call is answered with what
            // doesn't count, would be told to all as quickly as they can be made.
            let kept = if self.comes_of_nothing { RARE } else { 0 };
            self.lease = self.given(told).map(|left| Lease {
                is_used: self.here.is(State::HalfOpen),
                kept_until: asked.at.saturating_add(kept),
                ..Lease::new(asked, left)
            });
        }
    }

    pub(super) fn renewed(&mut self, asked: Asked, told: &Told) {
        if let (Some(lease), Some(left)) = (self.lease, self.given(told)) {
            let Lease {
                until, renew_at, ..
            } = Lease::new(asked, left);
            self.lease = Some(Lease {
                until,
                renew_at,
                ..lease
            });
        }
    }

    /// How long the lease was given for, if it is that of what is known.
    fn given(&self, told: &Told) -> Option<u64> {
        let (holder, left) = told.lease.as_ref()?;
        let is_mine = *holder == self.options.me && self.known() == Some(told.version);
        is_mine.then_some(*left)
    }

    /// A call was let through as the first probe of a trial.
    pub(super) fn trial_began(&mut self, generation: Generation) {
        if self.trial.generation != Generation::NONE {
            // The probes of the one before never ended.
            self.trial = Trial::NONE;
        }
        self.trial.generation = generation;
        self.trial.let_through = self.trial.let_through.max(1);
        self.trial.last_probe = self.now;
    }

    /// A call asks to probe.
    pub(super) fn ask_to_probe(&mut self) -> Result<(), Duration> {
        let last_wanted = std::mem::replace(&mut self.last_wanted, self.now);
        match self.answer_to_a_probe() {
            Answer::Later(left) => return Err(left),
            Answer::Now => {}
            Answer::AskFirst => {
                let is_asked = self.wanted || self.lease_on_its_way().is_some();
                self.wanted = true;
                if is_asked || !self.are_calls_rare(last_wanted) {
                    return Err(self.soon());
                }
            }
        }
        self.let_through();
        Ok(())
    }

    /// What a call is told that asks to probe, as far as is known.
    pub(super) fn answer_to_a_probe(&self) -> Answer {
        let now = self.now;
        if self.has_lease(now) && self.course == Course::Settled {
            return Answer::Now;
        }
        if self.is_by_itself() {
            return match self.alone_at.saturating_sub(now) {
                0 => Answer::Now,
                left => Answer::Later(Duration::from_micros(left)),
            };
        }
        if self.course != Course::Settled {
            // It has recovered, and this instance follows in a while.
            let until = Duration::from_micros(self.follow_at.saturating_sub(now));
            return Answer::Later(until.max(self.soon()));
        }
        let is_nobodys = self.there.is_none() && self.is_answered && self.news.is_none();
        if self.alone || is_nobodys {
            return Answer::Now;
        }
        let held_until = self.held_until();
        if now >= held_until {
            return Answer::AskFirst;
        }
        // A lease is as long as it is for one who crashes: by then the result is long known.
        let most = match self.is_tried_by_another() {
            true => self.options.reset,
            false => Duration::MAX,
        };
        Answer::Later(Duration::from_micros(held_until - now).min(most))
    }

    /// When it probes by itself after an opening that lasts so long: all that have followed it wait as long.
    pub(super) fn alone_after(&mut self, wait: u64) -> u64 {
        let later = match micros(self.options.jitter) {
            0 => 0,
            within => self.draw() % within.saturating_add(1),
        };
        self.now.saturating_add(wait).saturating_add(later)
    }

    /// When an answer of Redis can be there.
    fn soon(&self) -> Duration {
        Duration::from_micros(self.round_trip)
    }

    pub(super) fn let_through(&mut self) {
        self.trial.let_through = self.trial.let_through.saturating_add(1);
        self.trial.last_probe = self.now;
        if let Some(lease) = &mut self.lease {
            (lease.is_used, lease.is_idle) = (true, false);
        }
    }

    /// One that was let through did not probe.
    pub(super) fn withdraw(&mut self) {
        self.trial.let_through = self.trial.let_through.saturating_sub(1);
        if self.trial.let_through == 0
            && let Some(lease) = &mut self.lease
        {
            lease.is_used = false;
        }
        if self.trial.ended > 0 {
            self.release_if_over();
        }
    }

    /// Gives the lease back where nobody probes any more, and nothing has counted.
    fn release_if_over(&mut self) {
        if self.trial.is_under_way() || !self.has_lease(self.now) {
            return;
        }
        match &mut self.lease {
            Some(lease) if self.now < lease.kept_until => lease.is_idle = true,
            _ => self.release(),
        }
    }

    /// When a lease is given back that its probes have left, unless another call makes use of it.
    pub(super) fn releases_at(&self) -> Option<u64> {
        let idle = self.lease.filter(|lease| lease.is_idle);
        idle.map(|lease| lease.kept_until)
    }

    /// Whether the next call may not come before a lease that this one asks for has ended. Then it doesn't
    /// wait for it: else it would be refused, and where each process makes a call or few, all of them would
    /// be. So it is where nobody has asked for a lease for long; and where the one who had it made no use of
    /// it, and no call wanted to probe here meanwhile: each process calls rarely, although the fleet doesn't.
    fn are_calls_rare(&self, last_wanted: u64) -> bool {
        // A message that says so may be on its way.
        let long = RARE.saturating_add(self.round_trip.saturating_mul(4));
        let free_at = self.there.as_ref().map_or(self.now, |there| there.free_at);
        let is_over = |since: u64| self.now.saturating_sub(since) > long;
        is_over(free_at.max(self.lease_after))
            || self.is_tried_by_another() && is_over(last_wanted.max(self.lease_after))
    }

    fn is_tried_by_another(&self) -> bool {
        let lease = self.there.as_ref().and_then(|it| it.told.lease.as_ref());
        lease.is_some_and(|(holder, _)| *holder != self.options.me)
    }

    /// The version that a lease would have that was asked for and not answered yet.
    pub(super) fn lease_on_its_way(&self) -> Option<Version> {
        let asked = self.urgent.filter(|asked| asked.topic == Topic::Lease)?;
        asked.known.map(Version::next)
    }

    fn held_until(&self) -> u64 {
        self.held_until_there().max(self.lease_after)
    }

    /// Until when nobody else gets a lease, by what was told.
    pub(super) fn held_until_there(&self) -> u64 {
        let (me, longest) = (&self.options.me, self.options.longest_lease());
        let there = self.there.as_ref();
        there.map_or(0, |there| there.held_until(me, longest))
    }

    /// A call of a trial ended.
    pub(super) fn probe_ended(&mut self, settled: &Settled) {
        if self.trial.generation != settled.generation {
            return;
        }
        self.trial.ended = self.trial.ended.saturating_add(1);
        self.trial.has_counted |= settled.counted;
        self.release_if_over();
    }

    /// The lease's time is over.
    pub(super) fn lapse(&mut self) {
        let now = self.now;
        self.lease.take_if(|lease| now >= lease.until);
    }

    pub(super) fn lapses_at(&self) -> Option<u64> {
        self.lease.map(|lease| lease.until)
    }

    /// When the lease is to be renewed, while it is of use.
    pub(super) fn renews_at(&self) -> Option<u64> {
        let timeout = micros(self.options.probe_timeout);
        let end = self.trial.last_probe.saturating_add(timeout);
        let lease = self.lease.filter(|lease| lease.renew_at < end)?;
        (lease.is_used && self.trial.is_under_way()).then_some(lease.renew_at)
    }
}
