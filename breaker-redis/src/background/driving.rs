//! What circuits want done, and what they are told.

use super::asking::{self, Answer, Answered, Question, Wrong};
use super::{Background, Event, task, trouble, window};
use crate::circuit::{Circuit, NEVER, Standing};
use crate::instance::{Follow, Step, Unanswered};
use crate::protocol::Declared;
use breakerbox::{AnyBreaker, link};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Commands that are asked at once.
const BATCH: usize = 64;

/// So long after a node was found, what is new asks at once, as if it had not been one of many.
const SETTLED: Duration = Duration::from_secs(1);

/// Steps that a circuit does at once. It never needs as many.
const STEPS: usize = 32;

/// For so long at most nothing is asked of a circuit that Redis refuses.
const QUIET: Duration = Duration::from_secs(5);

/// Of so many circuits that are gone an operator's word waits for a connection.
const UNSAID: usize = 1024;

/// Where a circuit can be asked for.
#[derive(Clone, Copy)]
enum Sought {
    /// At this node.
    At(usize),
    /// There, but there is time.
    Later(usize),
    /// For now nowhere.
    Nowhere,
}

impl Background {
    fn has_room(&self, at: usize, most: usize) -> bool {
        let node = &self.nodes.all[at];
        node.live.is_none() || node.in_flight + node.questions.len() < most
    }

    /// Room for what can wait: beside all that is urgent, or its own, since it would wait for ever where
    /// there is always something urgent.
    fn has_room_for_more(&self, at: usize) -> bool {
        let node = &self.nodes.all[at];
        self.has_room(at, node.window.room()) || node.patient_asked < window::LEAST
    }

    pub(super) fn drive_all(&mut self) {
        let now = self.hub.now();
        while let Some(circuit) = self.urgent.pop_front() {
            circuit.begin_to_wait(now);
            match self.nodes.of_key(circuit.place.key()) {
                // A node that is slow holds up none of the others.
                Some(at) => {
                    if !self.has_room(at, self.nodes.all[at].window.urgent()) {
                        self.follow_meanwhile(&circuit);
                    }
                    self.nodes.all[at].urgent.push_back(circuit);
                }
                None => self.drive(&circuit),
            }
        }
        for at in 0..self.nodes.all.len() {
            while self.has_room(at, self.nodes.all[at].window.urgent())
                && let Some(circuit) = self.nodes.all[at].urgent.pop_front()
            {
                self.drive(&circuit);
                self.ask_if_enough(at);
            }
            while self.has_room_for_more(at)
                && let Some(circuit) = self.nodes.all[at].patient.pop_front()
            {
                let before = self.nodes.all[at].questions.len();
                self.drive(&circuit);
                self.nodes.all[at].can_wait(before);
                self.ask_if_enough(at);
            }
            self.ask(at);
        }
        self.hub.progressed();
    }

    /// Does what a circuit wants done, until it has to wait.
    fn drive(&mut self, circuit: &Arc<Circuit>) {
        circuit.waits_since.store(NEVER, Ordering::Relaxed);
        let group = circuit.group.upgrade();
        if group.as_ref().is_some_and(|group| group.is_left()) {
            return;
        }
        let had = circuit.have().filter(|_| !circuit.is_over());
        let breaker = had.as_ref().map(|had| had.breaker());
        let (Some(group), Some(breaker)) = (&group, breaker) else {
            if let Some(group) = &group {
                group.forget(circuit);
            }
            self.part_with(circuit);
            return;
        };
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
        let is_heard = self.nodes.is_live(group.heard_in.load(Ordering::Relaxed));
        let node = self.look_for(circuit, is_heard);
        if let Sought::Later(at) = node {
            self.nodes.all[at].patient.push_back(Arc::clone(circuit));
            return;
        }
        for _ in 0..STEPS {
            let now = self.hub.now();
            let step = circuit.instance().next(now);
            match step {
                Step::Ask(asked, command) => {
                    if let Sought::At(at) = node {
                        let question = Question::new(circuit, &caller, Some(asked), &command);
                        self.nodes.all[at].questions.push(question);
                    } else {
                        let mut instance = circuit.instance();
                        instance.replied(now, asked, Err(Unanswered::NotSent));
                    }
                }
                Step::Follow(follow) => self.follow(circuit, breaker, &follow),
                Step::Look => {
                    let counted = breaker.counted().into();
                    circuit.instance().counted(self.hub.now(), counted);
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

    /// The node to ask for it, if it is connected. If it isn't yet, it is from now on.
    fn look_for(&mut self, circuit: &Circuit, is_heard: bool) -> Sought {
        let at = self.nodes.of_key(circuit.place.key());
        let live = at.filter(|at| self.nodes.all[*at].live.is_some());
        let found_in = &circuit.found_in;
        let Some(live) = live else {
            self.is_changed |= at.is_none();
            if found_in.swap(0, Ordering::Relaxed) != 0 {
                circuit.instance().lost(self.hub.now());
                // Until it is answered for elsewhere.
                if !circuit.is_missed() {
                    circuit.stand(Standing::Awaited);
                }
            }
            match at {
                Some(at) if self.nodes.all[at].is_idle() => self.connect(at),
                Some(_) => {}
                #[cfg(feature = "cluster")]
                None => self.want_node(),
                #[cfg(not(feature = "cluster"))]
                None => {}
            }
            return Sought::Nowhere;
        };
        let node = &self.nodes.all[live];
        let session = node.session;
        if is_heard && found_in.swap(session, Ordering::Relaxed) != session {
            let now = self.hub.now();
            let mut instance = circuit.instance();
            instance.found(now);
            if node.has_lasted(SETTLED) {
                instance.hasten(now);
            }
            if instance.can_wait(now) {
                return Sought::Later(live);
            }
        }
        Sought::At(live)
    }

    /// Its breaker is gone: what it has not told yet is told, and a lease given back, if that can be done
    /// at once. Only what an operator said waits for the next connection.
    pub(super) fn part_with(&mut self, circuit: &Arc<Circuit>) {
        self.timers.set(circuit, None);
        self.is_changed = true;
        let node = self.nodes.of_key(circuit.place.key());
        let Some(at) = node.filter(|at| self.nodes.all[*at].live.is_some()) else {
            if circuit.has_last_word() && self.unsaid.len() < UNSAID {
                self.unsaid.push(Arc::clone(circuit));
            }
            return;
        };
        let last = Question::last(circuit, self.hub.now());
        self.nodes.all[at].questions.extend(last);
        self.ask_if_enough(at);
    }

    /// It waits until more may be asked. What was heard of others is taken over all the same: while Redis is
    /// busy with a thousand circuits, calls of those would go on to what is down.
    fn follow_meanwhile(&self, circuit: &Arc<Circuit>) {
        let is_left = circuit.group.upgrade().is_none_or(|it| it.is_left());
        let had = circuit.have().filter(|_| !is_left && !circuit.is_over());
        let Some(breaker) = had.as_ref().map(|had| had.breaker()) else {
            return;
        };
        let follow = circuit.instance().next_to_follow(self.hub.now());
        if let Some(follow) = follow {
            self.follow(circuit, breaker, &follow);
        }
    }

    /// What others did is taken over. Observers hear of it here, so nothing is held.
    fn follow(&self, circuit: &Circuit, breaker: &dyn AnyBreaker, follow: &Follow) {
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

    /// For so many microseconds nothing is asked again that was refused.
    pub(super) fn quiet(&self) -> u64 {
        let quiet = QUIET.min(self.hub.times().poll);
        u64::try_from(quiet.as_micros()).unwrap_or(u64::MAX)
    }

    /// Another process declares the circuit otherwise, if it does.
    pub(super) fn tell_otherwise(&self, circuit: &Circuit, there: Option<Declared>, is_used: bool) {
        if let (true, Some(group)) = (there.is_some() || is_used, circuit.group.upgrade()) {
            group.look_at_declared(there, is_used);
        }
    }

    fn keep_quiet(&mut self, circuit: &Arc<Circuit>) {
        let until = self.hub.now().saturating_add(self.quiet());
        circuit.quiet_until.store(until, Ordering::Relaxed);
        self.timers.set(circuit, Some(until));
    }

    fn ask_if_enough(&mut self, at: usize) {
        if self.nodes.all[at].questions.len() >= BATCH {
            self.ask(at);
        }
    }

    /// Asks a node what is to be asked.
    pub(super) fn ask(&mut self, at: usize) {
        let node = &mut self.nodes.all[at];
        let Some(live) = &node.live else {
            return;
        };
        if node.questions.is_empty() {
            return;
        }
        let questions = std::mem::take(&mut node.questions);
        let commands = questions.len();
        let (session, to) = (node.session, self.events.0.clone());
        let asking = asking::ask(live, questions, self.hub.times().answer);
        node.in_flight += commands;
        let asked_at = Instant::now();
        node.asked_at = asked_at;
        task::start(&self.runtime, asking, move |answers| {
            let _ = to.send(Event::Answered(session, asked_at.elapsed(), answers));
        });
    }

    /// Circuits are told what was answered in this session.
    pub(super) fn answered(&mut self, session: u64, took: Duration, answers: Vec<Answered>) {
        let Some(at) = self.nodes.of_session(session) else {
            // It came too late: the circuits were told that it wouldn't.
            return;
        };
        let gone = self.hub.times().answer;
        let could_wait = answers.iter().filter(|answer| answer.question.can_wait);
        let could_wait = could_wait.count();
        let node = &mut self.nodes.all[at];
        node.answered(answers.len(), took, gone);
        node.patient_asked = node.patient_asked.saturating_sub(could_wait);
        let (mut refused, mut unusable) = (None, Vec::new());
        for Answered { question, answer } in answers {
            #[cfg(feature = "cluster")]
            if let (Answer::Elsewhere(refusal), true) = (&answer, self.cluster.is_some()) {
                self.redirect(session, question, refusal);
                continue;
            }
            #[cfg(feature = "cluster")]
            self.served(&question.circuit);
            let now = self.hub.now();
            let reply = match &answer {
                Answer::Reply(reply) => {
                    self.hub.answered.fetch_add(1, Ordering::Relaxed);
                    Ok(reply)
                }
                _ => Err(Unanswered::Unknown),
            };
            let circuit = question.circuit;
            if let (true, Ok(reply)) = (question.is_order, reply) {
                self.note_listeners(&circuit, reply.listeners);
            }
            if let Some(asked) = question.asked {
                let mut instance = circuit.instance();
                let told = reply.ok().and_then(|reply| reply.now.as_ref());
                let otherwise = told.and_then(|told| instance.declared_otherwise(told, false));
                instance.replied(now, asked, reply);
                let is_used = instance.is_used();
                drop(instance);
                self.tell_otherwise(&circuit, otherwise, is_used);
            }
            match answer {
                Answer::Reply(_) => {
                    if question.asked.is_none() {
                        circuit.has_said_last_word();
                    }
                    self.drive(&circuit);
                    circuit.told_in.store(session, Ordering::Release);
                    self.had(&circuit);
                }
                Answer::Unusable(wrong) => {
                    let why = match &wrong {
                        Wrong::Nonsense(why) => Some(*why),
                        Wrong::Refused(_) | Wrong::NoText => None,
                    };
                    self.hub.refuse(circuit.place.key(), why);
                    self.keep_quiet(&circuit);
                    unusable.push((circuit, wrong));
                }
                Answer::Elsewhere(refusal) => refused = Some(trouble::refusal(&refusal)),
                Answer::Refused(trouble) => refused = Some(trouble),
            }
        }
        self.refused(at, unusable);
        #[cfg(feature = "cluster")]
        self.look_at_refusals();
        if let (Some(trouble), Some(at)) = (refused, self.nodes.of_session(session)) {
            self.lose(at, trouble);
        }
    }

    /// Where nothing is asked, nobody would notice that Redis is gone.
    pub(super) fn look_whether_alive(&mut self) {
        let poll = self.hub.times().poll;
        let nodes = self.nodes.all.iter();
        let is_silent = nodes.filter(|node| node.live.is_some() && node.asked_at.elapsed() >= poll);
        let silent: Vec<_> = is_silent.map(|node| node.session).collect();
        for session in silent {
            self.ask_whether_alive(session);
        }
    }

    /// Asks, although nothing is to be known.
    pub(super) fn ask_whether_alive(&mut self, session: u64) {
        let Some(at) = self.nodes.of_session(session) else {
            return;
        };
        let node = &mut self.nodes.all[at];
        let Some(live) = &node.live else {
            return;
        };
        node.asked_at = Instant::now();
        let asking = asking::is_alive(live, self.hub.times().answer);
        let to = self.events.0.clone();
        task::start(&self.runtime, asking, move |answer| {
            let _ = to.send(Event::Alive(session, answer));
        });
    }
}
