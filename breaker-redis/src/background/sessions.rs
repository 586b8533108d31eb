//! Connections that are made and lost, and what that means for circuits.

use super::asking::Question;
use super::connect::{Live, Trial};
use super::{Background, Event, task, trouble};
use crate::circuit::{Circuit, Standing};
use crate::error::{ConnectionError, Trouble};
use crate::instance::Unanswered;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

impl Background {
    /// Begins to connect to a node.
    pub(super) fn connect(&mut self, at: usize) {
        let trial = self.trial(at);
        self.sessions += 1;
        let node = &mut self.nodes.all[at];
        node.retry_at = None;
        node.session = self.sessions;
        node.connecting_since = Some(Instant::now());
        let (session, target) = (self.sessions, Arc::clone(&node.target));
        let to = self.events.0.clone();
        let connecting = async move { target.connect(trial).await };
        task::start(&self.runtime, connecting, move |made| {
            let _ = to.send(Event::Connected(session, Box::new(made)));
        });
    }

    /// What is tried out there.
    fn trial(&self, at: usize) -> Trial {
        let written = format!("{}:~{}", self.hub.prefix().as_str(), self.hub.me());
        #[cfg(feature = "cluster")]
        if self.cluster.is_some() {
            return Trial::OfNode(self.nodes.key_of(at, &written));
        }
        let _ = at;
        Trial::OfAll(written)
    }

    pub(super) fn connected(&mut self, at: usize, live: Live) {
        let node = &mut self.nodes.all[at];
        // Of a node of a cluster that nobody has asked for yet, nobody misses anything.
        let is_awaited = node.is_lost || !self.hub.is_connected();
        node.connected(live);
        let session = node.session;
        self.hub.connected(session);
        self.is_changed = true;
        self.looked_at = None;
        for circuit in self.circuits() {
            if self.nodes.of_key(circuit.place.key()) == Some(at) {
                circuit.quiet_until.store(0, Ordering::Relaxed);
                if is_awaited {
                    circuit.stand(Standing::Awaited);
                }
            }
        }
        for circuit in std::mem::take(&mut self.unsaid) {
            self.part_with(&circuit);
        }
        for group in self.hub.groups() {
            group.quiet_until.store(0, Ordering::Relaxed);
        }
        // Where messages arrive already nothing else says that they can be asked for.
        for group in self.hub.groups() {
            if self.nodes.is_live(group.heard_in.load(Ordering::Relaxed)) {
                for circuit in group.circuits() {
                    if self.nodes.of_key(circuit.place.key()) == Some(at) {
                        self.nodes.all[at].patient.push_back(circuit);
                    }
                }
            }
        }
    }

    /// A node can't be had, for now.
    pub(super) fn lose(&mut self, at: usize, trouble: Trouble) {
        let node = &mut self.nodes.all[at];
        let session = node.session;
        let was_live = node.live.is_some();
        let error = ConnectionError {
            at: node.target.shown(),
            trouble: trouble::with_prefix(trouble, self.hub.prefix()),
        };
        let unsent = node.lost();
        self.refused_last = None;
        self.not_sent(unsent);
        for circuit in self.circuits() {
            let is_here = self.nodes.of_key(circuit.place.key()) == Some(at);
            let is_found = circuit.found_in.load(Ordering::Relaxed) == session && session != 0;
            if is_found || is_here && circuit.unusable().is_some() {
                circuit.stand(Standing::Awaited);
            }
        }
        self.leave(session);
        #[cfg(feature = "cluster")]
        self.want_map();
        // Of a cluster's node that has no circuits nobody misses anything.
        let is_missed = self.nodes.is_one() || self.has_circuits(at);
        let is_new = is_missed && !std::mem::replace(&mut self.nodes.all[at].is_lost, is_missed);
        if is_missed {
            let part = self.part();
            self.hub.failed(&error, was_live);
            self.report.lost(Instant::now(), error, part, is_new);
        }
        self.is_changed = true;
        self.hub.progressed();
    }

    /// What was found in this session is not any more.
    pub(super) fn leave(&mut self, session: u64) {
        self.hub.disconnected(session);
        self.looked_at = None;
        let now = self.hub.now();
        for circuit in self.circuits() {
            if circuit.found_in.load(Ordering::Relaxed) == session && session != 0 {
                circuit.found_in.store(0, Ordering::Relaxed);
                circuit.instance().lost(now);
                self.urgent.push_back(circuit);
            }
        }
    }

    /// Circuits are told that these weren't asked.
    pub(super) fn not_sent(&self, questions: Vec<Question>) {
        for question in questions {
            if let Some(asked) = question.asked {
                let now = self.hub.now();
                let mut instance = question.circuit.instance();
                instance.replied(now, asked, Err(Unanswered::NotSent));
            }
        }
    }

    pub(super) fn circuits(&self) -> impl Iterator<Item = Arc<Circuit>> + use<> {
        let groups = self.hub.groups();
        groups.into_iter().flat_map(|group| group.circuits())
    }

    fn has_circuits(&self, at: usize) -> bool {
        let mut circuits = self.circuits();
        circuits.any(|circuit| self.nodes.of_key(circuit.place.key()) == Some(at))
    }

    /// Whether anything is to be had from this node: else it need not know of us.
    pub(super) fn is_wanted(&self, at: usize) -> bool {
        let is_here = |name: &str| self.nodes.of_key(name) == Some(at);
        self.nodes.is_one()
            || !self.nodes.all[at].questions.is_empty()
            || self.has_circuits(at)
            || self
                .hub
                .groups()
                .iter()
                .any(|group| is_here(&group.channel))
    }

    /// Whether it is known which node has what.
    pub(super) fn is_mapped(&self) -> bool {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            return cluster.is_known;
        }
        true
    }

    /// When it is to be asked which node has what.
    #[cfg_attr(
        not(feature = "cluster"),
        expect(clippy::unused_self, reason = "of a cluster it does")
    )]
    pub(super) fn map_due(&self) -> Option<Instant> {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            return cluster.due();
        }
        None
    }
}
