//! What is to be done next.

use super::options::micros;
use super::step::{Asked, Follow, Step, Topic, Unanswered};
use super::{Course, Instance};
use crate::protocol::{Command, Counts};
use breakerbox::State;

/// What there is to do at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    GiveUp(Asked),
    Lapse,
    Release,
    Follow,
    Ask(Topic),
    /// For a census.
    TakePart,
    /// For the poll that is due.
    LookFirst,
    Look,
    Wait(Option<u64>),
}

impl Instance {
    pub(super) fn work(&self) -> Work {
        if let Some(asked) = self.overdue() {
            return Work::GiveUp(asked);
        }
        if self.lapses_at().is_some_and(|at| at <= self.now) {
            return Work::Lapse;
        }
        if self.releases_at().is_some_and(|at| at <= self.now) {
            return Work::Release;
        }
        let follows_at = self.follows_at_last();
        if follows_at.is_some_and(|at| at <= self.now) {
            return Work::Follow;
        }
        let census_at = self.census.due();
        if census_at.is_some_and(|at| at <= self.now) {
            return Work::TakePart;
        }
        let of_lease = earlier(self.lapses_at(), self.releases_at());
        let until = earlier(earlier(of_lease, follows_at), census_at);
        if !self.is_reachable {
            return Work::Wait(until);
        }
        if self.silences > 0 {
            return match self.urgent.or(self.common) {
                // It isn't asked again before that is answered, or given up.
                Some(asked) => Work::Wait(earlier(until, Some(self.given_up_at(&asked)))),
                None if self.retry_at > self.now => Work::Wait(earlier(until, Some(self.retry_at))),
                None => Work::Ask(self.urgent_topic().unwrap_or(Topic::Read)),
            };
        }
        if self.urgent.is_none()
            && let Some(topic) = self.urgent_topic()
        {
            return Work::Ask(topic);
        }
        if self.is_to_look {
            return Work::Look;
        }
        let mut until = until;
        for asked in [self.urgent, self.common].into_iter().flatten() {
            until = earlier(until, Some(self.given_up_at(&asked)));
        }
        if self.common.is_none() {
            let is_due = self.poll_at <= self.now;
            if is_due && self.is_window_told() && !self.has_looked {
                return Work::LookFirst;
            }
            for (topic, at) in [
                (Topic::Renew, self.renews_at()),
                // Answered as a poll is.
                (Topic::Count, self.counts_at()),
                (Topic::Read, Some(self.poll_at)),
            ] {
                if at.is_some_and(|at| at <= self.now) {
                    return Work::Ask(topic);
                }
                until = earlier(until, at);
            }
        }
        Work::Wait(until)
    }

    /// When the breaker is to follow what is known.
    fn follows_at_last(&self) -> Option<u64> {
        let is_to = self.course == Course::Astray && !self.is_ordered() && self.there.is_some();
        is_to.then_some(self.follow_at)
    }

    fn urgent_topic(&self) -> Option<Topic> {
        if self.offering {
            Some(Topic::Offer)
        } else if self.news.is_some() {
            Some(Topic::News)
        } else if self.wanted && self.here.waits() && self.course == Course::Settled {
            Some(Topic::Lease)
        } else {
            None
        }
    }

    /// Whether nothing is at stake here that a poll would be for.
    fn is_quiet(&self) -> bool {
        let is_closed = self.here.is(State::Closed) && self.is_closed_there();
        let says_nothing = self.said == Some(Counts::default()) && self.repeats == 0;
        is_closed && says_nothing && self.news.is_none() && !self.offering
    }

    /// What was quiet, and is no more, is asked for earlier.
    fn poll_in_time(&mut self) {
        let poll = self.options.poll_micros();
        let latest = self.now.saturating_add(poll).saturating_add(poll / 4);
        if self.poll_at > latest && !self.is_quiet() {
            self.poll_at = self.spread(poll);
        }
    }

    pub(super) fn step(&mut self) -> Step {
        self.poll_in_time();
        loop {
            match self.work() {
                Work::GiveUp(asked) => self.unanswered(asked, Unanswered::Unknown),
                Work::Lapse => self.lapse(),
                Work::Release => self.release(),
                Work::Follow => {
                    if let Some(follow) = self.follow() {
                        return Step::Follow(follow);
                    }
                }
                Work::Ask(topic) => {
                    if let Some((asked, command)) = self.ask(topic) {
                        return Step::Ask(asked, command);
                    }
                }
                Work::TakePart => self.take_part(),
                Work::LookFirst => {
                    self.has_looked = true;
                    self.forget_old_calls();
                    self.count_again();
                    return Step::Look;
                }
                Work::Look => {
                    self.is_to_look = false;
                    return Step::Look;
                }
                Work::Wait(until) => return Step::Wait(until),
            }
        }
    }

    /// What a poll says beside asking how things stand: what it counts, or how it votes, if it does both the
    /// one after the other.
    fn say_once_more(&self) -> Option<Command> {
        let (vote, count) = (self.vote_once_more(), self.count_once_more());
        match self.number % 2 {
            0 => vote.or(count),
            _ => count.or(vote),
        }
    }

    pub(super) fn follow(&mut self) -> Option<Follow> {
        let there = self.there.as_ref()?;
        let version = there.told.version;
        let follow = Follow {
            to: there.snapshot(self.now),
            only_in: self.here.generation,
            why: there.told.clone(),
        };
        self.course = Course::Following {
            version,
            only_in: self.here.generation,
            to: there.shared(self.now),
            meanwhile: None,
        };
        Some(follow)
    }

    fn ask(&mut self, topic: Topic) -> Option<(Asked, Command)> {
        let known = self.known();
        self.number = self.number.wrapping_add(1);
        let number = self.number;
        let lasts = micros(self.options.lease);
        let command = match topic {
            Topic::News => self.send_news(number)?,
            Topic::Count => self.send_counts()?,
            Topic::Read => self.say_once_more().unwrap_or(Command::Read { known }),
            Topic::Lease => {
                self.wanted = false;
                Command::Lease { known, lasts }
            }
            Topic::Renew => Command::Renew { known, lasts },
            Topic::Offer => {
                let Some(there) = &self.there else {
                    self.offering = false;
                    return None;
                };
                Command::Offer {
                    known: there.told.version,
                    to: there.shared(self.now),
                    cause: there.told.cause,
                }
            }
        };
        let asked = Asked {
            number,
            topic,
            at: self.now,
            // Of an operator's word that is told again, it is what was known then.
            known: command.known(),
        };
        let flight = match topic {
            Topic::News | Topic::Lease | Topic::Offer => &mut self.urgent,
            Topic::Read | Topic::Renew | Topic::Count => {
                self.has_looked = false;
                &mut self.common
            }
        };
        *flight = Some(asked);
        Some((asked, command))
    }
}

fn earlier(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
