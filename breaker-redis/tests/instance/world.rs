//! A fleet, a Redis by the protocol's own rules, and a network between them that may do its worst.

use crate::network::{CALM, Event, Mess};
use crate::node::{Drifting, Node};
use crate::random::Random;
use crate::rates::Windows;
use breaker_core::{Outcome, Settings, Snapshot};
use breaker_redis::instance::Options;
use breaker_redis::protocol::{Stored, Told, Who};
use breakerbox::State;
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

pub(crate) struct World {
    pub(crate) now: u64,
    pub(crate) settings: Settings,
    pub(crate) nodes: BTreeMap<usize, Node>,
    born: usize,
    pub(crate) stored: Stored,
    pub(crate) kept: Vec<Stored>,
    /// How far Redis' clock is ahead.
    pub(crate) ahead: u64,
    pub(crate) mess: Mess,
    /// What is under way takes at least so long, in microseconds.
    pub(crate) way: u64,
    /// The processes that the service fails for; or all.
    pub(crate) dead: Vec<usize>,
    pub(crate) all_dead: bool,
    /// The processes that it is slow for.
    pub(crate) slow: Vec<usize>,
    pub(crate) traffic: Option<u64>,
    pub(crate) call_lasts: u64,
    /// Percent of calls that end with nothing that counts.
    pub(crate) neutral: u64,
    pub(crate) random: Random,
    pub(crate) published: u64,
    pub(crate) one_lease: bool,
    /// No more is opened by counts than half of the calls of those that can be reached.
    pub(crate) judged: bool,
    pub(crate) judgements: u64,
    /// Those of processes that crashed.
    pub(crate) gone: Vec<Windows>,
    pub(crate) log: Option<Vec<String>>,
    /// By time, and then in turn.
    pub(crate) queue: BTreeMap<(u64, u64), (usize, u32, Event)>,
    pub(crate) turn: u64,
}

impl World {
    pub(crate) fn new(settings: Settings, seed: u64) -> Self {
        Self {
            now: SECOND,
            settings,
            nodes: BTreeMap::new(),
            born: 0,
            stored: Stored::default(),
            kept: Vec::new(),
            ahead: 1_700_000_000 * SECOND,
            mess: CALM,
            dead: Vec::new(),
            all_dead: false,
            slow: Vec::new(),
            traffic: None,
            way: 0,
            call_lasts: 2 * MS,
            neutral: 0,
            random: Random(seed),
            published: 0,
            one_lease: false,
            judged: false,
            judgements: 0,
            gone: Vec::new(),
            log: std::env::var_os("BREAKER_LOG").map(|_| Vec::new()),
            queue: BTreeMap::new(),
            turn: 0,
        }
    }

    pub(crate) fn note(&mut self, line: impl FnOnce() -> String) {
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
        let node = Node::new(self.settings, options(id), clock, self.now, seed);
        self.nodes.insert(id, node);
        self.link(id);
        if self.traffic.is_some() {
            self.push(id, 0, Event::Call);
        }
        id
    }

    pub(crate) fn crash(&mut self, id: usize) {
        self.note(|| format!("{id} crashes"));
        if let Some(node) = self.nodes.remove(&id) {
            self.gone.push(node.windows);
        }
    }

    pub(crate) fn link(&mut self, id: usize) {
        let now = self.now;
        if let Some(node) = self.nodes.get_mut(&id)
            && !node.is_linked
        {
            node.is_linked = true;
            node.windows.is_troubled_until(now + 2 * SECOND);
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
        let anybody = Options::new(Who::new("anybody").expect("a name"));
        let now = self.now.saturating_add(self.ahead);
        Some(record.told(now, &anybody.caller()))
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
}
