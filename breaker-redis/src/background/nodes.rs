//! The nodes that circuits are on: a Redis that has all of them, or those of a cluster.

#[cfg(feature = "cluster")]
mod slots;

use super::asking::Question;
use super::connect::{Live, Target};
use super::window::Window;
use crate::circuit::Circuit;
use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
#[cfg(feature = "cluster")]
pub(super) use slots::{Range, SLOTS, Slots, slot_of};
#[cfg(feature = "cluster")]
use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The longest that is waited before another attempt to connect; the shortest is a fiftieth of it.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A connection that lasted so long was a good one: the next attempt is made at once.
const GOOD: Duration = Duration::from_secs(10);

/// The slot of its key.
#[cfg(feature = "cluster")]
pub(super) fn slot(circuit: &Circuit) -> u16 {
    slot_of(circuit.place.key().as_bytes())
}

pub(super) fn backoff() -> ExponentialBackoff {
    ExponentialBuilder::new()
        .with_min_delay(LONGEST_WAIT / 50)
        .with_max_delay(LONGEST_WAIT / 2)
        .with_factor(2.0)
        .with_jitter()
        .without_max_times()
        .build()
}

/// What is waited before the next attempt.
pub(super) fn next_wait(backoff: &mut ExponentialBackoff) -> Duration {
    backoff.next().unwrap_or(LONGEST_WAIT)
}

/// A Redis, or a node of a cluster.
pub(super) struct Node {
    pub(super) target: Arc<Target>,
    /// Of its connection, or of the attempt to make one: no other has had it. 0: neither.
    pub(super) session: u64,
    pub(super) live: Option<Live>,
    /// Since when a connection is being made.
    pub(super) connecting_since: Option<Instant>,
    connected_at: Option<Instant>,
    /// When the next attempt is made.
    pub(super) retry_at: Option<Instant>,
    backoff: ExponentialBackoff,
    /// It can't be had, and that counts as a loss.
    pub(super) is_lost: bool,
    /// What calls and messages made worth looking at, and what was answered.
    pub(super) urgent: VecDeque<Arc<Circuit>>,
    /// What can wait: circuits of which it is to be asked how they stand.
    pub(super) patient: VecDeque<Arc<Circuit>>,
    pub(super) questions: Vec<Question>,
    /// Commands that were asked and not answered.
    pub(super) in_flight: usize,
    /// Those of them, and of the questions, that could wait.
    pub(super) patient_asked: usize,
    pub(super) window: Window,
    pub(super) asked_at: Instant,
}

impl Node {
    pub(super) fn new(target: Arc<Target>) -> Self {
        Self {
            target,
            session: 0,
            live: None,
            connecting_since: None,
            connected_at: None,
            retry_at: None,
            backoff: backoff(),
            is_lost: false,
            urgent: VecDeque::new(),
            patient: VecDeque::new(),
            questions: Vec::new(),
            in_flight: 0,
            patient_asked: 0,
            window: Window::NEW,
            asked_at: Instant::now(),
        }
    }

    /// Nobody has wanted it yet.
    pub(super) fn is_idle(&self) -> bool {
        self.live.is_none() && self.connecting_since.is_none() && self.retry_at.is_none()
    }

    pub(super) fn connected(&mut self, live: Live) {
        self.live = Some(live);
        self.connecting_since = None;
        self.is_lost = false;
        self.in_flight = 0;
        self.patient_asked = 0;
        self.asked_at = Instant::now();
        self.connected_at = Some(self.asked_at);
    }

    /// Whether it has been connected for so long.
    pub(super) fn has_lasted(&self, time: Duration) -> bool {
        self.connected_at.is_some_and(|at| at.elapsed() >= time)
    }

    /// The questions from this one on can wait.
    pub(super) fn can_wait(&mut self, from: usize) {
        for question in self.questions.iter_mut().skip(from) {
            question.can_wait = true;
            self.patient_asked += 1;
        }
    }

    /// So many commands were answered after so long, of the time after which Redis counts as gone.
    pub(super) fn answered(&mut self, commands: usize, took: Duration, gone: Duration) {
        self.in_flight = self.in_flight.saturating_sub(commands);
        self.window.answered(commands, took, gone);
    }

    /// The connection has ended, or couldn't be made. Gives what was to be asked.
    pub(super) fn lost(&mut self) -> Vec<Question> {
        let lasted = self.connected_at.take().map(|at| at.elapsed());
        if lasted.is_some_and(|lasted| lasted >= GOOD) {
            self.backoff = backoff();
        }
        self.retry_at = Some(Instant::now() + next_wait(&mut self.backoff));
        self.live = None;
        self.connecting_since = None;
        // Answers to what was asked before are none any more.
        self.session = 0;
        self.in_flight = 0;
        self.patient_asked = 0;
        self.window = Window::NEW;
        self.patient.clear();
        std::mem::take(&mut self.questions)
    }
}

/// All of them, and which has which circuit.
pub(super) struct Nodes {
    pub(super) all: Vec<Node>,
    /// `None`: one has all circuits.
    #[cfg(feature = "cluster")]
    pub(super) slots: Option<Slots>,
    /// Slots that the node refused which has them, as others say: until it answers for one of their circuits.
    #[cfg(feature = "cluster")]
    pub(super) refused: BTreeSet<u16>,
}

impl Nodes {
    /// One, which has all circuits.
    pub(super) fn one(target: Arc<Target>) -> Self {
        Self {
            all: vec![Node::new(target)],
            #[cfg(feature = "cluster")]
            slots: None,
            #[cfg(feature = "cluster")]
            refused: BTreeSet::new(),
        }
    }

    /// Those of a cluster, none of which is known yet.
    #[cfg(feature = "cluster")]
    pub(super) fn of_cluster() -> Self {
        Self {
            all: Vec::new(),
            slots: Some(Slots::unknown()),
            refused: BTreeSet::new(),
        }
    }

    /// Whether there is one that has all circuits.
    #[cfg(feature = "cluster")]
    pub(super) fn is_one(&self) -> bool {
        self.slots.is_none()
    }

    #[cfg(not(feature = "cluster"))]
    #[expect(clippy::unused_self, reason = "of a cluster it is asked")]
    pub(super) fn is_one(&self) -> bool {
        true
    }

    /// Which node has this key, or would have a channel of this name if it were a key.
    #[cfg(feature = "cluster")]
    pub(super) fn of_key(&self, key: &str) -> Option<usize> {
        match &self.slots {
            Some(slots) => slots.node(slot_of(key.as_bytes())),
            None => Some(0),
        }
    }

    #[cfg(not(feature = "cluster"))]
    #[expect(clippy::unused_self, reason = "of a cluster it does")]
    pub(super) fn of_key(&self, _: &str) -> Option<usize> {
        Some(0)
    }

    /// A key that begins so and is on this node. `None`: none was found.
    #[cfg(feature = "cluster")]
    pub(super) fn key_of(&self, at: usize, begin: &str) -> Option<String> {
        // Of a node with a single slot it takes some ten thousand.
        let keys = (0..200_000).map(|number| format!("{begin}.{number}"));
        let mut keys = keys.take(if begin.contains('{') { 1 } else { usize::MAX });
        keys.find(|key| self.of_key(key) == Some(at))
    }

    /// The one that is connected, or connects, in this session.
    pub(super) fn of_session(&self, session: u64) -> Option<usize> {
        let is_it = |node: &Node| node.session == session && session != 0;
        self.all.iter().position(is_it)
    }

    /// Whether one is connected in this session.
    pub(super) fn is_live(&self, session: u64) -> bool {
        let node = self.of_session(session).map(|at| &self.all[at]);
        node.is_some_and(|node| node.live.is_some())
    }

    /// Whether the circuit can be asked for.
    pub(super) fn is_reached(&self, circuit: &Circuit) -> bool {
        let node = self.of_key(circuit.place.key());
        node.is_some_and(|at| self.all[at].live.is_some()) && !self.is_refused(circuit)
    }

    /// Whether its node has refused its slot, and not answered since.
    #[cfg(feature = "cluster")]
    pub(super) fn is_refused(&self, circuit: &Circuit) -> bool {
        !self.refused.is_empty() && self.refused.contains(&slot(circuit))
    }

    #[cfg(not(feature = "cluster"))]
    #[expect(clippy::unused_self, reason = "of a cluster it may have")]
    pub(super) fn is_refused(&self, _: &Circuit) -> bool {
        false
    }

    /// Whether the circuit was found in a session that lasts.
    pub(super) fn is_found(&self, circuit: &Circuit) -> bool {
        self.is_live(circuit.found_in.load(Ordering::Relaxed))
    }
}
