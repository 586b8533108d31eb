//! A fleet, a Redis by the protocol's own rules, and a network between them that may do its worst.

use crate::node::{Drifting, Hook, Node};
use crate::random::Random;
use breaker_core::{Config, Outcome, Snapshot};
use breaker_redis::instance::{Asked, Options, Step, Unanswered};
use breaker_redis::protocol::{Command, Reply, Stored, Told, apply};
use breakerbox::{Generation, State};
use std::collections::BTreeMap;

pub(crate) const MS: u64 = 1_000;
pub(crate) const SECOND: u64 = 1_000 * MS;

/// What an operator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Close,
    ForceOpen,
    Disable,
    Shadow,
    OpenFor(u64),
}

impl Order {
    pub(crate) fn state(self) -> State {
        match self {
            Self::Close => State::Closed,
            Self::ForceOpen => State::ForcedOpen,
            Self::Disable => State::Disabled,
            Self::Shadow => State::Shadow,
            Self::OpenFor(_) => State::Open,
        }
    }
}

enum Event {
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

pub(crate) struct World {
    pub(crate) now: u64,
    pub(crate) config: Config,
    pub(crate) nodes: BTreeMap<usize, Node>,
    born: usize,
    pub(crate) stored: Stored,
    pub(crate) kept: Vec<Stored>,
    /// How far Redis' clock is ahead.
    pub(crate) ahead: u64,
    pub(crate) mess: Mess,
    /// The processes that the service fails for; or all.
    pub(crate) dead: Vec<usize>,
    pub(crate) all_dead: bool,
    pub(crate) traffic: Option<u64>,
    pub(crate) call_lasts: u64,
    /// Percent of calls that end with nothing that counts.
    pub(crate) neutral: u64,
    pub(crate) random: Random,
    pub(crate) published: u64,
    pub(crate) one_lease: bool,
    pub(crate) log: Option<Vec<String>>,
    /// By time, and then in turn.
    queue: BTreeMap<(u64, u64), (usize, u32, Event)>,
    turn: u64,
}

impl World {
    pub(crate) fn new(config: Config, seed: u64) -> Self {
        Self {
            now: SECOND,
            config,
            nodes: BTreeMap::new(),
            born: 0,
            stored: Stored::default(),
            kept: Vec::new(),
            ahead: 1_700_000_000 * SECOND,
            mess: CALM,
            dead: Vec::new(),
            all_dead: false,
            traffic: None,
            call_lasts: 2 * MS,
            neutral: 0,
            random: Random(seed),
            published: 0,
            one_lease: false,
            log: std::env::var_os("BREAKER_LOG").map(|_| Vec::new()),
            queue: BTreeMap::new(),
            turn: 0,
        }
    }

    fn note(&mut self, line: impl FnOnce() -> String) {
        let now = self.now;
        if let Some(log) = &mut self.log {
            let line = line();
            println!("{:>9.3} ms  {line}", now as f64 / 1_000.0);
            log.push(line);
        }
    }

    pub(crate) fn join(&mut self, options: impl FnOnce(usize) -> Options) -> usize {
        let id = self.born;
        self.born += 1;
        let clock = Drifting {
            origin: (id as u64 + 1) * 10_000 * SECOND + self.random.below(SECOND),
            too_fast: i64::try_from(self.random.below(20_001)).expect("small") - 10_000,
        };
        let seed = self.random.draw();
        let node = Node::new(self.config, options(id), clock, self.now, seed);
        self.nodes.insert(id, node);
        self.link(id);
        if self.traffic.is_some() {
            self.push(id, 0, Event::Call);
        }
        id
    }

    pub(crate) fn crash(&mut self, id: usize) {
        self.note(|| format!("{id} crashes"));
        self.nodes.remove(&id);
    }

    pub(crate) fn link(&mut self, id: usize) {
        let now = self.now;
        if let Some(node) = self.nodes.get_mut(&id)
            && !node.is_linked
        {
            node.is_linked = true;
            node.connection += 1;
            let local = node.local(now);
            node.instance.found(local);
            node.wakes_at = 0;
            self.note(|| format!("{id} is linked"));
        }
    }

    pub(crate) fn unlink(&mut self, id: usize) {
        let now = self.now;
        if let Some(node) = self.nodes.get_mut(&id)
            && node.is_linked
        {
            node.is_linked = false;
            let local = node.local(now);
            node.instance.lost(local);
            node.wakes_at = 0;
            self.note(|| format!("{id} is cut off"));
        }
    }

    pub(crate) fn ids(&self) -> Vec<usize> {
        self.nodes.keys().copied().collect()
    }

    pub(crate) fn is_dead_for(&self, id: usize) -> bool {
        self.all_dead || self.dead.contains(&id)
    }

    /// Calls come to every process from now on, one each so often.
    pub(crate) fn calls_come(&mut self, every: u64) {
        let comes = self.traffic.replace(every).is_some();
        if !comes {
            for id in self.ids() {
                let first = self.random.below(every);
                self.push(id, first, Event::Call);
            }
        }
    }

    pub(crate) fn calls_stop(&mut self) {
        self.traffic = None;
        self.queue
            .retain(|_, (_, _, event)| !matches!(event, Event::Call));
    }

    fn push(&mut self, id: usize, delay: u64, event: Event) {
        let connection = self.nodes.get(&id).map_or(0, |node| node.connection);
        self.turn += 1;
        let key = (self.now + delay, self.turn);
        self.queue.insert(key, (id, connection, event));
    }

    fn delay(&mut self) -> u64 {
        let most = self.mess.delay;
        // Mostly short, seldom as long as it may be.
        match self.random.below(4) {
            0 => self.random.below(most + 1),
            _ => self.random.below(most / 20 + 1),
        }
    }

    fn send(&mut self, id: usize, event: impl Fn() -> Event) {
        let Mess { lost, doubled, .. } = self.mess;
        if !self.random.happens(lost) {
            let delay = self.delay();
            self.push(id, delay, event());
        }
        if self.random.happens(doubled) {
            let delay = self.delay();
            self.push(id, delay, event());
        }
    }

    /// What the breaker tells, now or later.
    fn tell(&mut self, id: usize, hooks: impl IntoIterator<Item = Hook>) {
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
    pub(crate) fn call(&mut self, id: usize, outcome: Outcome) -> bool {
        let now = self.now;
        let Some(node) = self.nodes.get_mut(&id) else {
            return false;
        };
        node.wakes_at = 0;
        let Some((generation, hook)) = node.admit(now) else {
            return false;
        };
        if self.one_lease && self.nodes[&id].state() == State::HalfOpen {
            self.check_one_lease();
        }
        self.tell(id, hook);
        let lasts = self.call_lasts;
        self.push(id, lasts, Event::End(generation, outcome));
        true
    }

    /// One that ends as the service is.
    pub(crate) fn call_service(&mut self, id: usize) -> bool {
        let outcome = if self.random.happens(self.neutral) {
            Outcome::Ignored
        } else if self.is_dead_for(id) {
            Outcome::Failure
        } else {
            Outcome::Success
        };
        self.call(id, outcome)
    }

    pub(crate) fn order(&mut self, id: usize, order: Order) {
        let now = self.now;
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        let (circuit, clock) = (&node.circuit, node.moment(now));
        let change = match order {
            Order::Close => circuit.close(&clock),
            Order::ForceOpen => circuit.force_open(&clock),
            Order::Disable => circuit.disable(&clock),
            Order::Shadow => circuit.shadow(&clock),
            Order::OpenFor(wait) => {
                circuit.open_for(std::time::Duration::from_micros(wait), &clock)
            }
        };
        let hook = node.happened(&change, now);
        self.note(|| format!("{id} is ordered {order:?}"));
        self.tell(id, [hook]);
    }

    pub(crate) fn restore(&mut self, id: usize, snapshot: &Snapshot) {
        let now = self.now;
        let node = self.nodes.get_mut(&id).expect("it is there");
        let change = node.circuit.restore(snapshot, &node.moment(now));
        let hook = node.happened(&change.expect("sensible"), now);
        self.tell(id, [hook]);
    }

    pub(crate) fn empty(&mut self) {
        self.note(|| "Redis is emptied".into());
        self.stored = Stored::default();
    }

    pub(crate) fn keep(&mut self) {
        self.kept.push(self.stored.clone());
    }

    /// Redis is restored to what was kept before.
    pub(crate) fn roll_back(&mut self, which: usize) {
        if !self.kept.is_empty() {
            let which = which % self.kept.len();
            self.stored = self.kept[which].clone();
            self.kept.truncate(which + 1);
            self.note(|| "Redis is rolled back".into());
        }
    }

    pub(crate) fn told(&self) -> Option<Told> {
        let record = self.stored.record.as_ref()?;
        Some(record.told(self.now.saturating_add(self.ahead)))
    }

    /// At most one may probe for all.
    fn check_one_lease(&self) {
        let holders: Vec<_> = self
            .nodes
            .iter()
            .filter(|(_, node)| node.instance.has_lease(node.local(self.now)))
            .map(|(id, _)| id)
            .collect();
        assert!(
            holders.len() <= 1,
            "{holders:?} have the lease at {}",
            self.now
        );
    }

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
                    let counted = node.circuit.counted(&node.moment(now));
                    let counts = breaker_redis::protocol::Counts {
                        calls: counted.calls,
                        failures: counted.failures,
                        slow: counted.slow,
                    };
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
                let applied = apply(&mut self.stored, at, &caller, &command);
                let reply = applied.reply;
                self.note(|| format!("Redis: {id} {command:?} -> {reply:?}"));
                if applied.publish {
                    self.published += 1;
                    let told = reply.now.clone().expect("what is published");
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
                let hooks = node.settle(now, generation, outcome);
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
