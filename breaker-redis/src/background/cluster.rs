//! A cluster: which nodes there are, which of them has which circuit, and what is to be done where one
//! says that another has it.
//!
//! Each node is reached by a connection like that of a single Redis. The client has a connection to a
//! cluster (`redis::cluster_async`, over connections of one's own if need be), which isn't enough here:
//! - it looks for nodes with all of them locked, and goes on with no command meanwhile: one that is
//!   stopped holds up all others for as long as connecting to it may take;
//! - how often it retries is one number for redirections, which are harmless, and for connections that
//!   end, after which a command may have been done;
//! - where it is subscribed, and that it has subscribed anew, it doesn't say, nor which node is gone;
//! - its map, the slot of a key and how it reads `CLUSTER SLOTS` are its own.

mod map;
#[cfg(test)]
mod tests;

use super::asking::Question;
use super::connect::Target;
use super::connection::Refusal;
use super::nodes::{Node, Range, Slots, backoff, next_wait, slot};
use super::{Background, Event};
use crate::circuit::{Circuit, Standing};
use crate::error::{ConnectionError, FleetError, Trouble};
use crate::settings::address::NO_NODE;
use backon::ExponentialBackoff;
use breakerbox::observe::Part;
use map::{Elsewhere, Known, ask_for_map};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Nodes that are asked at once which node has what.
const ASKED: usize = 8;

/// Nodes that a cluster has at most, without replicas. Redis' specification advises a thousand with them.
const MOST_NODES: usize = 1024;

/// How often a command follows where nodes send it, before the map is waited for.
const DETOURS: u8 = 4;

/// It is asked at most so often which node has what.
const ONCE_IN: Duration = Duration::from_millis(100);

/// What is known of a cluster.
pub(super) struct Cluster {
    /// The nodes that were named.
    seeds: Vec<Arc<Target>>,
    /// Whether it is known which node has what.
    pub(super) is_known: bool,
    is_asking: bool,
    /// Nobody had anything to say of it when it was asked last.
    asks_all: bool,
    asked_at: Option<Instant>,
    /// When it is asked which node has what.
    due: Option<Instant>,
    backoff: ExponentialBackoff,
    /// Some circuits have no node, as was said last.
    is_any_homeless: bool,
    /// Slots were refused, or are had again, since it was looked at what that means.
    have_refusals_changed: bool,
}

impl Cluster {
    /// The cluster that these are nodes of. `None`: no others were named, so it is a single Redis.
    pub(super) fn of(first: &Arc<Target>, others: &[String]) -> Result<Option<Self>, FleetError> {
        if others.is_empty() {
            return Ok(None);
        }
        if first.address().is_none() {
            return Err(NO_NODE);
        }
        let mut seeds = vec![Arc::clone(first)];
        for url in others {
            let target = first.of_url(url).ok_or(NO_NODE)?;
            if seeds.iter().all(|seed| seed.address() != target.address()) {
                seeds.push(Arc::new(target));
            }
        }
        Ok(Some(Self {
            seeds,
            is_known: false,
            is_asking: false,
            asks_all: false,
            asked_at: None,
            due: Some(Instant::now()),
            backoff: backoff(),
            is_any_homeless: false,
            have_refusals_changed: false,
        }))
    }

    /// When it is asked next which node has what, if that isn't being asked: who wants to know it meanwhile
    /// wakes nobody.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due.filter(|_| !self.is_asking)
    }
}

// Which node has what
impl Background {
    /// It has changed which node has what, perhaps.
    pub(super) fn want_map(&mut self) {
        if let Some(cluster) = &mut self.cluster {
            let now = Instant::now();
            let next = cluster.asked_at.map_or(now, |at| at + ONCE_IN).max(now);
            cluster.due = Some(cluster.due.map_or(next, |due| due.min(next)));
        }
    }

    /// A circuit has no node. Where others have none either it is asked by and by anyway, and more often it
    /// would be no other answer.
    pub(super) fn want_node(&mut self) {
        let is_wanted = |cluster: &Cluster| cluster.is_asking || cluster.due.is_some();
        if !self.cluster.as_ref().is_some_and(is_wanted) {
            self.want_map();
        }
    }

    /// Asks which node has what, if it is time.
    pub(super) fn look_at_map(&mut self) {
        let Some(cluster) = &mut self.cluster else {
            return;
        };
        let now = Instant::now();
        if cluster.due().is_none_or(|due| due > now) {
            return;
        }
        cluster.due = None;
        cluster.is_asking = true;
        cluster.asked_at = Some(now);
        let mut asked = self.whom_to_ask();
        // Each instance asks others.
        fastrand::shuffle(&mut asked);
        asked.truncate(ASKED);
        let to = self.events.0.clone();
        self.runtime.spawn(async move {
            let _ = to.send(Event::Mapped(ask_for_map(asked).await));
        });
    }

    /// Those that are connected, or else those that were named, or have something of ours. Others that the
    /// last map named hear of us only where none of these can say anything.
    fn whom_to_ask(&self) -> Vec<(Arc<Target>, Option<Known>)> {
        let live = self.nodes.all.iter().filter_map(|node| {
            let known = Known::of(node.live.as_ref()?);
            Some((Arc::clone(&node.target), Some(known)))
        });
        let live: Vec<_> = live.collect();
        let Some(cluster) = self.cluster.as_ref().filter(|_| live.is_empty()) else {
            return live;
        };
        let all = 0..self.nodes.all.len();
        let known = all.filter(|at| cluster.asks_all || self.is_wanted(*at));
        let known = known.map(|at| &self.nodes.all[at].target);
        let known = cluster.seeds.iter().chain(known);
        known.map(|target| (Arc::clone(target), None)).collect()
    }

    /// What came of it.
    pub(super) fn mapped(&mut self, mapped: Result<Vec<Range>, ConnectionError>) {
        let Some(cluster) = &mut self.cluster else {
            return;
        };
        cluster.is_asking = false;
        cluster.asks_all = mapped.is_err();
        match mapped {
            Ok(ranges) => {
                cluster.is_known = true;
                self.take_map(&ranges);
            }
            Err(error) => {
                let wait = next_wait(&mut cluster.backoff);
                cluster.due = Some(Instant::now() + wait);
                // Where nodes are known and lost, that says more.
                if self
                    .nodes
                    .all
                    .iter()
                    .all(|node| node.live.is_none() && !node.is_lost)
                {
                    self.hub.failed(&error, false);
                    self.report.lost(Instant::now(), error, None, false);
                }
            }
        }
        self.is_changed = true;
        self.hub.progressed();
    }

    /// It is so from now on.
    fn take_map(&mut self, ranges: &[Range]) {
        let address = |node: &Node| {
            let (host, port) = node.target.address()?;
            Some((host.to_owned(), port))
        };
        let before = std::mem::take(&mut self.nodes.all);
        let mut before: HashMap<_, _> = { before }
            .drain(..)
            .map(|node| (address(&node), node))
            .collect();
        let (mut nodes, mut slots) = (Vec::<Node>::new(), Slots::unknown());
        // Of a node that has many pieces it is said as often.
        let mut found = HashMap::<_, Option<usize>>::new();
        for range in ranges {
            let at = found.entry((&range.host, range.port)).or_insert_with(|| {
                let known = before.remove(&Some((range.host.clone(), range.port)));
                nodes.push(known.or_else(|| self.node(&range.host, range.port))?);
                Some(nodes.len() - 1)
            });
            if let Some(at) = *at {
                slots.set(range.first, range.last, at);
            }
        }
        self.nodes.all = nodes;
        self.nodes.slots = Some(slots);
        self.looked_at = None;
        for mut gone in before.into_values() {
            self.urgent.append(&mut gone.urgent);
            let session = gone.session;
            self.not_sent(gone.lost());
            self.leave(session);
        }
        // Where others have them now, they are to be asked for there.
        let mut are_all_had = true;
        let mut refused = BTreeSet::new();
        for circuit in self.circuits() {
            let at = self.nodes.of_key(circuit.place.key());
            are_all_had &= self.nodes.is_reached(&circuit);
            if self.nodes.is_refused(&circuit) {
                refused.insert(slot(&circuit));
            }
            let session = at.map_or(0, |at| self.nodes.all[at].session);
            let found_in = circuit.found_in.load(Ordering::Relaxed);
            if session == 0 || session != found_in {
                self.urgent.push_back(circuit);
            }
        }
        self.nodes.refused = refused;
        self.look_for_homeless();
        let Some(cluster) = &mut self.cluster else {
            return;
        };
        if are_all_had {
            cluster.backoff = backoff();
        } else {
            // A replica may take its place, of which nobody tells.
            let wait = next_wait(&mut cluster.backoff);
            cluster.due = Some(Instant::now() + wait);
        }
    }

    /// Circuits that no node has are cut off without any connection that ends.
    fn look_for_homeless(&mut self) {
        let (mut homeless, mut cut_off, mut of) = (0, 0, 0);
        for circuit in self.circuits() {
            let at = self.nodes.of_key(circuit.place.key());
            of += 1;
            let is_homeless = at.is_none() || self.nodes.is_refused(&circuit);
            homeless += usize::from(is_homeless);
            if is_homeless && !circuit.is_missed() {
                // Until another node answers for it. It is so before anybody can see that not all are had.
                circuit.stand(Standing::Awaited);
            }
            // Others are just being connected to, perhaps.
            let is_lost = |at: usize| self.nodes.all[at].is_lost;
            cut_off += usize::from(is_homeless || at.is_some_and(is_lost));
        }
        let Some(cluster) = &mut self.cluster else {
            return;
        };
        let was_any = std::mem::replace(&mut cluster.is_any_homeless, homeless > 0);
        if homeless == 0 || was_any {
            return;
        }
        let error = ConnectionError {
            at: cluster.seeds[0].shown(),
            trouble: Trouble::Refuses(
                "no node of its cluster has the slots of some circuits, or it isn't said how that one is \
                 reached"
                    .to_owned(),
            ),
        };
        let part = (cut_off < of).then(|| Part::new(cut_off, of));
        self.hub.failed(&error, false);
        self.report.lost(Instant::now(), error, part, true);
    }

    /// No node has the slot of this circuit, says the one that has it as others say. Of the cluster's other
    /// circuits that says nothing.
    fn refuse_slot(&mut self, question: Question) {
        let circuit = Arc::clone(&question.circuit);
        let slot = slot(&circuit);
        self.nodes.refused.insert(slot);
        if let Some(slots) = &mut self.nodes.slots {
            slots.forget(slot);
        }
        if let Some(cluster) = &mut self.cluster
            && !cluster.is_asking
            && cluster.due.is_none()
        {
            // Mostly it says the same again.
            cluster.due = Some(Instant::now() + next_wait(&mut cluster.backoff));
        }
        self.not_sent(vec![question]);
        self.urgent.push_back(circuit);
        self.refusals_have_changed();
    }

    /// A node answered for this circuit.
    pub(super) fn served(&mut self, circuit: &Circuit) {
        if self.nodes.is_refused(circuit) {
            self.nodes.refused.remove(&slot(circuit));
            self.refusals_have_changed();
        }
    }

    fn refusals_have_changed(&mut self) {
        self.is_changed = true;
        if let Some(cluster) = &mut self.cluster {
            cluster.have_refusals_changed = true;
        }
    }

    /// Looks once, however many slots were refused, or are had again.
    pub(super) fn look_at_refusals(&mut self) {
        let cluster = self.cluster.as_mut();
        let changed = cluster.map(|cluster| std::mem::take(&mut cluster.have_refusals_changed));
        if changed == Some(true) {
            self.look_for_homeless();
        }
    }

    fn node(&self, host: &str, port: u16) -> Option<Node> {
        let first = self.cluster.as_ref()?.seeds.first()?;
        Some(Node::new(Arc::new(first.at(host, port)?)))
    }
}

// Where another node has it
impl Background {
    /// A node said that another has the circuit of this question, or none: so nothing was done.
    pub(super) fn redirect(&mut self, session: u64, mut question: Question, refusal: &Refusal) {
        if refusal.is_nowhere() {
            self.refuse_slot(question);
            return;
        }
        let from = self.nodes.of_session(session);
        let host = from.and_then(|at| self.nodes.all[at].target.address());
        let host = host.map(|(host, _)| host.to_owned());
        let elsewhere = Elsewhere::read(refusal, host.as_deref());
        let is_moving = refusal.code == "ASK";
        if !is_moving {
            self.want_map();
        }
        question.detours += 1;
        question.is_moving = is_moving;
        let at = elsewhere
            .as_ref()
            .and_then(|elsewhere| self.node_at(elsewhere));
        let at = at.filter(|_| question.detours <= DETOURS);
        if let (Some(at), Some(elsewhere), false) = (at, &elsewhere, is_moving)
            && let Some(slots) = &mut self.nodes.slots
        {
            slots.set(elsewhere.slot, elsewhere.slot, at);
        }
        match at {
            // While it is moved, each question is sent there by itself.
            Some(at) if is_moving || self.nodes.all[at].live.is_some() => {
                if self.nodes.all[at].is_idle() {
                    self.connect(at);
                }
                question.can_wait = false;
                self.nodes.all[at].questions.push(question);
                self.ask(at);
            }
            _ => {
                let circuit = Arc::clone(&question.circuit);
                self.not_sent(vec![question]);
                self.urgent.push_back(circuit);
            }
        }
    }

    /// The node that has this address, which may be a new one.
    fn node_at(&mut self, elsewhere: &Elsewhere) -> Option<usize> {
        let address = Some((elsewhere.host.as_str(), elsewhere.port));
        let is_it = |node: &Node| node.target.address() == address;
        let known = self.nodes.all.iter().position(is_it);
        if known.is_some() || self.nodes.all.len() >= MOST_NODES {
            return known;
        }
        let node = self.node(&elsewhere.host, elsewhere.port)?;
        self.nodes.all.push(node);
        Some(self.nodes.all.len() - 1)
    }
}
