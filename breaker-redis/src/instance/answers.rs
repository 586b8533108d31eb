//! What Redis answers, and that it doesn't.

use super::learn::By;
use super::options::micros;
use super::step::{Asked, Topic, Unanswered};
use super::{Course, Instance};
use crate::protocol::{Counts, Reply, Told, Verdict};
use breakerbox::State;

/// The longest round trip that is believed, in microseconds.
const LONGEST_TRIP: u64 = 60_000_000;

impl Instance {
    pub(super) fn answered(&mut self, asked: Asked, reply: &Reply) {
        let is_awaited = self.land(asked.number);
        if self.silences > 0 {
            self.silences = 0;
            self.say_again();
        }
        if !is_awaited {
            if let Some(told) = &reply.now {
                self.learn(told, By::Message);
            }
            return;
        }
        self.is_answered = true;
        self.round_trip = self.now.saturating_sub(asked.at).clamp(1, LONGEST_TRIP);
        self.poll_at = self.spread(self.options.quiet_micros());
        if self.is_disbelieved(asked, reply) {
            self.there = None;
        }
        match (reply.verdict, &reply.now) {
            (Verdict::Done, Some(told)) => self.done(asked, told),
            (Verdict::Refused, Some(told)) => self.refused(asked, told),
            _ => self.gone(asked),
        }
        if let (Course::Stuck(generation), Topic::Read) = (self.course, asked.topic) {
            // What led there would have been told by now.
            self.here.generation = generation;
            self.course = Course::Astray;
        }
    }

    /// Redis tells of what is earlier than it was asked with, and not that it is behind: so it doesn't
    /// believe the version that is known here.
    fn is_disbelieved(&self, asked: Asked, reply: &Reply) -> bool {
        let is_answer = matches!(reply.verdict, Verdict::Done | Verdict::Refused);
        let told = reply.now.as_ref().map(|told| told.version);
        is_answer && asked.known == self.known() && told < asked.known
    }

    fn done(&mut self, asked: Asked, told: &Told) {
        match asked.topic {
            Topic::News => {
                if !self.is_sent_as(asked.number) {
                    self.went_on_since();
                }
                self.learn(told, By::Answer);
                if self.is_sent_as(asked.number) {
                    if self.is_overtaken() {
                        self.order_afresh();
                    } else {
                        self.arrived();
                    }
                }
                // Others may have gone on from there.
                if self.news.is_none() {
                    self.go_astray();
                }
            }
            Topic::Lease => {
                self.learn(told, By::Answer);
                self.granted(asked, told);
            }
            Topic::Renew => {
                self.learn(told, By::Answer);
                self.renewed(asked, told);
            }
            Topic::Count => {
                self.learn(told, By::Answer);
                // Also in the record that this has founded. Of one before the present one nothing counts.
                if self.known() == Some(told.version) {
                    self.said = Some(self.saying);
                }
            }
            Topic::Offer => {
                self.offering = false;
                self.learn(told, By::Answer);
            }
            Topic::Read => {
                self.repeats = self.repeats.saturating_sub(1);
                self.learn(told, By::Answer);
            }
        }
    }

    fn refused(&mut self, asked: Asked, told: &Told) {
        let was_known = asked.known == Some(told.version);
        let by = match asked.topic {
            Topic::Offer => By::Refusal,
            _ => By::Answer,
        };
        match asked.topic {
            // Refused because it is another version by now, it is to be said of that one.
            Topic::Count if was_known => self.said = Some(self.saying),
            Topic::Offer => self.offering = false,
            _ => {}
        }
        self.learn(told, by);
        let is_mine = told.by == self.options.me;
        let is_sent = self.is_sent_as(asked.number);
        match asked.topic {
            // An order of before came late, over this one.
            Topic::News if is_sent && self.is_ordered() && is_mine => self.order_afresh(),
            // Not because others were first: or then another operator was.
            Topic::News if is_sent && (was_known || self.is_ordered()) => {
                self.news = None;
                self.alone = false;
            }
            Topic::Lease => {
                self.wanted = false;
                // There is nothing to wait for that is known.
                self.lease_after = self.now.saturating_add(self.round_trip);
            }
            _ => {}
        }
        if self.news.is_none() {
            self.go_astray();
        }
    }

    /// Redis holds nothing, or what is older than what was known when it was asked.
    fn gone(&mut self, asked: Asked) {
        if asked.topic == Topic::Offer || self.is_change_sent_as(asked.number) {
            // Either is taken where there is nothing, or less: it makes no sense, and would make none again.
            self.falls_silent(asked, Unanswered::Unknown);
            return;
        }
        self.wanted &= asked.topic != Topic::Lease;
        self.offering |= asked.known.is_some() && asked.known == self.known();
        if self.is_sent_as(asked.number) {
            self.news_unanswered(asked.number, false);
            if self.there.is_none() || self.is_release() {
                // There is no state that it would change; or the trial ends with what is offered.
                self.news = None;
            }
        }
        // Nothing that was said counts there.
        self.said = Some(Counts::default());
        self.vote_again();
    }

    /// There is no answer, and won't be.
    pub(super) fn unanswered(&mut self, asked: Asked, why: Unanswered) {
        if self.land(asked.number) {
            self.falls_silent(asked, why);
        }
    }

    fn falls_silent(&mut self, asked: Asked, why: Unanswered) {
        self.gave_up(asked, why);
        self.silences = self.silences.saturating_add(1);
        let doubled = 1 << (self.silences - 1).min(16);
        let wait = micros(self.options.answer).saturating_mul(doubled);
        self.retry_at = self.spread(wait.min(self.options.poll_micros()));
    }

    fn gave_up(&mut self, asked: Asked, why: Unanswered) {
        match asked.topic {
            Topic::News => self.news_unanswered(asked.number, why == Unanswered::Unknown),
            Topic::Count => self.said = None,
            // Who wanted it went on by itself.
            Topic::Lease => self.wanted = false,
            _ => {}
        }
    }

    /// Takes the question out of the air: whether it was still waited for.
    fn land(&mut self, number: u32) -> bool {
        for flight in [&mut self.urgent, &mut self.common] {
            if flight.is_some_and(|asked| asked.number == number) {
                *flight = None;
                return true;
            }
        }
        false
    }

    /// What is on its way isn't waited for any more.
    pub(super) fn ground(&mut self) {
        for asked in [self.urgent.take(), self.common.take()]
            .into_iter()
            .flatten()
        {
            self.gave_up(asked, Unanswered::Unknown);
        }
    }

    /// A question that was not answered in time.
    pub(super) fn overdue(&self) -> Option<Asked> {
        let flights = [self.urgent, self.common].into_iter().flatten();
        flights
            .into_iter()
            .find(|asked| self.now >= self.given_up_at(asked))
    }

    pub(super) fn given_up_at(&self, asked: &Asked) -> u64 {
        asked.at.saturating_add(micros(self.options.answer))
    }

    /// What was counted and voted may have been forgotten, or not.
    pub(super) fn say_again(&mut self) {
        if self.counts != Counts::default() {
            self.said = None;
        }
        self.vote_again();
    }

    /// Whether calls go by what is known here alone.
    pub(super) fn is_by_itself(&self) -> bool {
        !self.is_reachable || self.silences > 0 || self.overdue().is_some()
    }

    pub(super) fn is_closed_there(&self) -> bool {
        self.there.as_ref().is_none_or(|it| it.is(State::Closed))
    }
}
