//! The time that passes, the network between the processes and Redis, and the threads of the processes.

use crate::node::Hook;
use crate::world::{MS, SECOND, World};
use breaker_core::Outcome;
use breaker_redis::instance::{Asked, Step, Unanswered};
use breaker_redis::protocol::{Cause, Command, Reply, Told, apply};
use breakerbox::Generation;

pub(crate) enum Event {
    Request(Asked, Command),
    Reply(Asked, Reply),
    Message(Told),
    Tell(Hook),
    Followed(Result<Generation, Generation>),
    End(Generation, Outcome),
    Call,
}

/// What the network and the threads of the processes do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mess {
    /// Percent.
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    /// The longest time that something is under way, in microseconds.
    pub(crate) delay: u64,
    /// Percent of what a breaker tells that is told later.
    pub(crate) late_hooks: u64,
}

pub(crate) const CALM: Mess = Mess {
    lost: 0,
    doubled: 0,
    delay: MS,
    late_hooks: 0,
};

impl World {
    pub(crate) fn push(&mut self, id: usize, delay: u64, event: Event) {
        let connection = self.nodes.get(&id).map_or(0, |node| node.connection);
        self.turn += 1;
        let key = (self.now + delay, self.turn);
        self.queue.insert(key, (id, connection, event));
    }

    fn delay(&mut self) -> u64 {
        let most = self.mess.delay;
        // Mostly short, seldom as long as it may be.
        let more = match self.random.below(4) {
            0 => self.random.below(most + 1),
            _ => self.random.below(most / 20 + 1),
        };
        self.way + more
    }

    fn send(&mut self, id: usize, event: impl Fn() -> Event) {
        let Mess { lost, doubled, .. } = self.mess;
        let late = if self.random.happens(lost) {
            self.mess.delay + SECOND
        } else {
            let delay = self.delay();
            self.push(id, delay, event());
            delay
        };
        if late > 20 * MS {
            self.trouble(id, late + 2 * SECOND);
        }
        if self.random.happens(doubled) {
            let delay = self.delay();
            self.push(id, delay, event());
        }
    }

    /// What the breaker tells, now or later.
    pub(crate) fn tell(&mut self, id: usize, hooks: impl IntoIterator<Item = Hook>) {
        for hook in hooks {
            self.note(|| format!("{id} tells {hook:?}"));
            if self.random.happens(self.mess.late_hooks) {
                let delay = self.random.below(3 * MS);
                self.push(id, delay, Event::Tell(hook));
            } else if let Some(node) = self.nodes.get_mut(&id) {
                node.tell(self.now, hook);
            }
        }
    }

    /// A call is made: whether it was let through.
    fn pump(&mut self, id: usize) {
        let now = self.now;
        for step in 0.. {
            assert!(step < 100, "{id} never waits");
            let Some(node) = self.nodes.get_mut(&id) else {
                return;
            };
            if node.wakes_at > now {
                return;
            }
            let local = node.local(now);
            let due = node.instance.due(local);
            let step = node.instance.next(local);
            let is_due = due.is_some_and(|due| due <= local);
            assert!(
                matches!(step, Step::Wait(_)) || is_due,
                "{step:?} although due at {due:?}, and now is {local}"
            );
            match step {
                Step::Wait(until) => {
                    assert!(
                        until.is_none_or(|until| until > local),
                        "{until:?} at {local}"
                    );
                    node.wakes_at = until.map_or(u64::MAX, |until| node.clock.shows(until));
                    return;
                }
                Step::Look => {
                    node.note_window(now);
                    let counts = node.counts(now);
                    node.instance.counted(local, counts);
                }
                Step::Ask(asked, command) => {
                    node.asks += 1;
                    if !node.is_linked {
                        let nothing = Err(Unanswered::NotSent);
                        node.instance.replied(local, asked, nothing);
                        continue;
                    }
                    self.note(|| format!("{id} asks {command:?}"));
                    self.send(id, || Event::Request(asked, command.clone()));
                }
                Step::Follow(follow) => {
                    assert!(!node.is_following, "two at a time");
                    node.follows += 1;
                    let clock = node.moment(now);
                    let done = node
                        .circuit
                        .follow(&follow.to, Some(follow.only_in), &clock);
                    let outcome = match done.expect("sensible") {
                        Some(change) => Ok(change.generation),
                        None => Err(node.circuit.generation()),
                    };
                    node.note_window(now);
                    self.note(|| format!("{id} follows {:?}: {outcome:?}", follow.to));
                    if self.random.happens(self.mess.late_hooks) {
                        let node = self.nodes.get_mut(&id).expect("it is there");
                        node.is_following = true;
                        let delay = self.random.below(2 * MS);
                        self.push(id, delay, Event::Followed(outcome));
                    } else {
                        let node = self.nodes.get_mut(&id).expect("it is there");
                        node.instance.followed(local, outcome);
                    }
                }
            }
        }
    }

    fn happen(&mut self, id: usize, connection: u32, event: Event) {
        let now = self.now;
        let Some(node) = self.nodes.get_mut(&id) else {
            // A process that crashed: what it sent may still arrive.
            if let Event::Request(..) = event {
                self.note(|| format!("{id} is no more"));
            }
            return;
        };
        let local = node.local(now);
        node.wakes_at = 0;
        let is_of_before = !node.is_linked || node.connection != connection;
        match event {
            Event::Request(asked, command) => {
                let at = now.saturating_add(self.ahead);
                let caller = node.options.caller();
                let census = self.stored.record.as_ref().and_then(|record| record.census);
                let applied = apply(&mut self.stored, at, &caller, &command);
                let reply = applied.reply;
                self.note(|| format!("Redis: {id} {command:?} -> {reply:?}"));
                if applied.publish {
                    self.published += 1;
                    let told = reply.now.clone().expect("what is published");
                    if let (true, Cause::Counted { .. }) = (self.judged, told.cause) {
                        let began = census.expect("a census").saturating_sub(self.ahead);
                        self.judge(began);
                    }
                    for id in self.ids() {
                        if self.nodes[&id].is_linked {
                            self.send(id, || Event::Message(told.clone()));
                        }
                    }
                }
                self.send(id, || Event::Reply(asked, reply.clone()));
            }
            Event::Reply(..) | Event::Message(_) if is_of_before => {}
            Event::Reply(asked, reply) => node.instance.replied(local, asked, Ok(&reply)),
            Event::Message(told) => {
                node.instance.heard(local, &told);
                self.note(|| format!("{id} hears {told:?}"));
            }
            Event::Tell(hook) => node.tell(now, hook),
            Event::Followed(outcome) => {
                node.is_following = false;
                node.instance.followed(local, outcome);
            }
            Event::End(generation, outcome) => {
                let is_slow = self.slow.contains(&id);
                let hooks = node.settle(now, generation, outcome, is_slow);
                node.note_window(now);
                self.tell(id, hooks);
            }
            Event::Call => {
                self.call_service(id);
                if let Some(every) = self.traffic {
                    let next = every / 2 + self.random.below(every);
                    self.push(id, next, Event::Call);
                }
            }
        }
    }

    /// Lets so much time pass, in microseconds.
    pub(crate) fn run(&mut self, time: u64) {
        let until = self.now + time;
        loop {
            for id in self.ids() {
                self.pump(id);
            }
            let event = self.queue.first_key_value();
            let event = event.map_or(u64::MAX, |((at, _), _)| *at);
            let wake = self.nodes.values().map(|node| node.wakes_at).min();
            let next = event.min(wake.unwrap_or(u64::MAX));
            if next > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(next);
            while let Some(first) = self.queue.first_entry() {
                let (at, _) = *first.key();
                if at > self.now {
                    break;
                }
                let (id, connection, event) = first.remove();
                self.happen(id, connection, event);
            }
        }
    }
}
