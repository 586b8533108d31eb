//! What circuits want done, and what they are told.

use super::asking::{self, Answer, Answered, Question};
use super::connect::Heard;
use super::{Background, Event};
use crate::circuit::{Circuit, Reached, counts};
use crate::error::Trouble;
use crate::group::Group;
use crate::instance::{Follow, Step, Unanswered};
use crate::protocol::Message;
use breakerbox::link;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Commands that are asked at once.
const BATCH: usize = 64;

/// Commands that may be unanswered before no more is asked.
const MOST_URGENT: usize = 2048;

/// So long after Redis was found, what is new asks at once, as if it had not been one of many.
const SETTLED: Duration = Duration::from_secs(1);

/// How often it is looked whether breakers have gone, which nobody says.
const LOOKED: Duration = Duration::from_secs(1);

/// Channels that are subscribed to at once.
const CHANNELS: usize = 100;

/// Steps that a circuit does at once. It never needs as many.
const STEPS: usize = 32;

/// For so long nothing is asked of a circuit of which Redis says what makes no sense.
const QUIET: Duration = Duration::from_secs(5);

impl Background {
    fn has_room(&self, most: usize) -> bool {
        self.live.is_none() || self.in_flight + self.questions.len() < most
    }

    pub(super) fn drive_all(&mut self) {
        while self.has_room(MOST_URGENT)
            && let Some(circuit) = self.urgent.pop_front()
        {
            self.drive(&circuit);
            self.ask_if_enough();
        }
        while self.has_room(self.window.room())
            && let Some(circuit) = self.patient.pop_front()
        {
            self.drive(&circuit);
            self.ask_if_enough();
        }
        self.ask();
        self.hub.progressed();
    }

    /// Does what a circuit wants done, until it has to wait.
    fn drive(&mut self, circuit: &Arc<Circuit>) {
        let Some(group) = circuit.group.upgrade() else {
            return;
        };
        let Some(breaker) = circuit.reach.get() else {
            group.forget(circuit);
            return;
        };
        let _had = circuit.had();
        if group.is_left() {
            return;
        }
        group.look_at_settings(&breaker.config());
        let options = group.options();
        let now = self.hub.now();
        if circuit.quiet_until.load(Ordering::Relaxed) > now {
            let until = circuit.quiet_until.load(Ordering::Relaxed);
            self.timers.set(circuit, Some(until));
            return;
        }
        let caller = options.caller();
        circuit.instance().set_options(options);
        let session = self.session;
        let is_heard = self.live.is_some() && group.heard_in.load(Ordering::Relaxed) == session;
        if is_heard && circuit.found_in.swap(session, Ordering::Relaxed) != session {
            let mut instance = circuit.instance();
            instance.found(now);
            if self.is_settled() {
                instance.hasten(now);
            }
            if instance.can_wait(now) {
                drop(instance);
                self.patient.push_back(Arc::clone(circuit));
                return;
            }
        }
        for _ in 0..STEPS {
            let now = self.hub.now();
            let step = circuit.instance().next(now);
            match step {
                Step::Ask(asked, command) if self.live.is_some() => {
                    let question = Question::new(circuit, &caller, Some(asked), &command);
                    self.questions.push(question);
                }
                Step::Ask(asked, _) => {
                    circuit
                        .instance()
                        .replied(now, asked, Err(Unanswered::NotSent));
                }
                Step::Follow(follow) => self.follow(circuit, &breaker, &follow),
                Step::Look => {
                    let counts = counts(breaker.counted());
                    circuit.instance().counted(self.hub.now(), counts);
                }
                Step::Wait(until) => {
                    self.timers.set(circuit, until);
                    // What was put in since, by a call that saw that it was to be looked at anyway.
                    let due = circuit.instance().due(now);
                    if !circuit.is_worth_waking(due) {
                        return;
                    }
                }
            }
        }
        self.keep_quiet(circuit);
    }

    fn is_settled(&self) -> bool {
        self.connected_at.is_some_and(|at| at.elapsed() >= SETTLED)
    }

    /// What others did is taken over. Observers hear of it here, so nothing is held.
    fn follow(&self, circuit: &Circuit, breaker: &Reached, follow: &Follow) {
        let followed = breaker.follow(&link::Follow {
            to: follow.to,
            only_in: Some(follow.only_in),
        });
        let outcome = match followed {
            Ok(Some(change)) => Ok(change.generation),
            Ok(None) => Err(breaker.generation()),
            Err(_) => {
                self.hub.refuse(circuit.place.key(), None);
                Err(breaker.generation())
            }
        };
        circuit.instance().followed(self.hub.now(), outcome);
    }

    fn keep_quiet(&mut self, circuit: &Arc<Circuit>) {
        let quiet = u64::try_from(QUIET.as_micros()).unwrap_or(u64::MAX);
        let until = self.hub.now().saturating_add(quiet);
        circuit.quiet_until.store(until, Ordering::Relaxed);
        self.timers.set(circuit, Some(until));
    }

    fn ask_if_enough(&mut self) {
        if self.questions.len() >= BATCH {
            self.ask();
        }
    }

    /// Asks what is to be asked.
    fn ask(&mut self) {
        let Some(live) = &self.live else {
            return;
        };
        if self.questions.is_empty() {
            return;
        }
        let questions = std::mem::take(&mut self.questions);
        let commands = questions.len();
        let (session, to) = (self.session, self.events.0.clone());
        let asking = asking::ask(live, questions, self.hub.times().answer);
        self.in_flight += commands;
        let asked_at = Instant::now();
        self.asked_at = asked_at;
        self.runtime.spawn(async move {
            let answers = asking.await;
            let _ = to.send(Event::Answered(session, asked_at.elapsed(), answers));
        });
    }

    /// Circuits are told what was answered. `Err`: Redis refuses everything.
    pub(super) fn answered(&mut self, answers: Vec<Answered>) -> Result<(), Trouble> {
        let mut refused = Ok(());
        for Answered {
            circuit,
            asked,
            answer,
        } in answers
        {
            let now = self.hub.now();
            let reply = match &answer {
                Answer::Reply(reply) => {
                    self.hub.answered.fetch_add(1, Ordering::Relaxed);
                    Ok(reply)
                }
                _ => Err(Unanswered::Unknown),
            };
            if let Some(asked) = asked {
                circuit.instance().replied(now, asked, reply);
            }
            match answer {
                Answer::Reply(_) => {
                    self.drive(&circuit);
                    circuit.told_in.store(self.session, Ordering::Release);
                }
                Answer::Nonsense(why) => {
                    self.hub.refuse(circuit.place.key(), why);
                    self.keep_quiet(&circuit);
                }
                Answer::Refused(trouble) => refused = Err(trouble),
            }
        }
        refused
    }

    /// A message arrived.
    pub(super) fn hear(&mut self, heard: &Heard) {
        let Some(group) = self.hub.group_of(&heard.channel) else {
            return;
        };
        let message = match Message::decode(&heard.text) {
            Ok(message) => message,
            Err(why) => {
                // One of ours, or there were no group.
                let channel = String::from_utf8_lossy(&heard.channel);
                self.hub.refuse(&channel, Some(why));
                return;
            }
        };
        self.hub.heard.fetch_add(1, Ordering::Relaxed);
        // A key that isn't known here has nothing to follow: once it is, it is asked for.
        if let Some(circuit) = group.of_label(&message.label) {
            circuit.instance().heard(self.hub.now(), &message.told);
            self.urgent.push_back(circuit);
        }
    }

    /// Messages may have been missed.
    pub(super) fn ask_for_all(&mut self) {
        let now = self.hub.now();
        for circuit in self.hub.groups().iter().flat_map(|group| group.circuits()) {
            if circuit.found_in.load(Ordering::Relaxed) == self.session {
                circuit.instance().found(now);
                self.patient.push_back(circuit);
            }
        }
    }

    /// Groups whose messages don't arrive yet are subscribed to, and those that are over no more.
    pub(super) fn look_at_groups(&mut self) {
        let is_recent = self.looked_at.is_some_and(|at| at.elapsed() < LOOKED);
        if !self.hub.take_changed() && is_recent {
            return;
        }
        self.looked_at = Some(Instant::now());
        self.hub.recount();
        let is_over = |group: &Arc<Group>| group.is_over();
        let (over, present): (Vec<_>, Vec<_>) = self.hub.groups().into_iter().partition(is_over);
        if !over.is_empty() {
            self.hub.remove(&over);
        }
        let Some(live) = &self.live else {
            return;
        };
        let within = self.hub.times().answer;
        // Another of its name may be there by now.
        let is_heard = |channel: &str| present.iter().any(|group| group.channel == channel);
        let mut unheard: Vec<_> = over
            .iter()
            .filter(|group| group.asked_in.load(Ordering::Relaxed) == self.session)
            .map(|group| group.channel.clone())
            .filter(|channel| !is_heard(channel))
            .collect();
        while !unheard.is_empty() {
            let channels = unheard.split_off(unheard.len().saturating_sub(CHANNELS));
            self.runtime
                .spawn(asking::listen(live, channels, false, within));
        }
        let is_new = |group: &Arc<Group>| {
            group.asked_in.swap(self.session, Ordering::Relaxed) != self.session
        };
        let new: Vec<_> = present.into_iter().filter(is_new).collect();
        for groups in new.chunks(CHANNELS) {
            let groups = groups.to_vec();
            let channels = groups.iter().map(|group| group.channel.clone()).collect();
            let asking = asking::listen(live, channels, true, within);
            let (session, to) = (self.session, self.events.0.clone());
            self.asked_at = Instant::now();
            self.runtime.spawn(async move {
                let _ = to.send(Event::Subscribed(session, groups, asking.await));
            });
        }
    }

    /// Where nothing is asked, nobody would notice that Redis is gone.
    pub(super) fn look_whether_alive(&mut self) {
        if self.asked_at.elapsed() >= self.hub.times().poll {
            self.ask_whether_alive();
        }
    }

    /// Asks, although nothing is to be known.
    pub(super) fn ask_whether_alive(&mut self) {
        let Some(live) = &self.live else {
            return;
        };
        self.asked_at = Instant::now();
        let asking = asking::is_alive(live, self.hub.times().answer);
        let (session, to) = (self.session, self.events.0.clone());
        self.runtime.spawn(async move {
            let _ = to.send(Event::Alive(session, asking.await));
        });
    }
}
