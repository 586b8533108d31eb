//! Messages: which node they arrive from, and what comes of them.

#[cfg(all(test, feature = "cluster"))]
mod tests;

use super::asking::Wrong;
use super::connect::Heard;
use super::{Background, Event, asking, task};
use crate::circuit::Circuit;
use crate::error::Trouble;
use crate::group::Group;
use crate::protocol::Message;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Channels that are subscribed to at once.
const CHANNELS: usize = 100;

/// How often it is looked whether breakers have gone, in case that nobody says so.
const LOOKED: Duration = Duration::from_secs(1);

impl Background {
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
            let mut instance = circuit.instance();
            let otherwise = instance.declared_otherwise(&message.told, true);
            instance.heard(self.hub.now(), &message.told);
            let is_used = instance.is_used();
            drop(instance);
            if message.told.by != *self.hub.me() {
                circuit.is_unheard.store(false, Ordering::Relaxed);
            }
            self.tell_otherwise(&circuit, otherwise, is_used);
            self.urgent.push_back(circuit);
        }
    }

    /// What an operator said was told to so many connections, if to any: perhaps to none but this one.
    pub(super) fn note_listeners(&self, circuit: &Circuit, listeners: Option<u32>) {
        let (Some(listeners), Some(group)) = (listeners, circuit.group.upgrade()) else {
            return;
        };
        // A cluster's node knows its own listeners alone, and others hear the same from other nodes.
        let is_known = self.nodes.is_one();
        let own = u32::from(self.nodes.is_live(group.heard_in.load(Ordering::Relaxed)));
        let is_unheard = is_known && listeners <= own;
        circuit.is_unheard.store(is_unheard, Ordering::Relaxed);
    }

    /// Messages may have been missed.
    pub(super) fn ask_for_all(&mut self) {
        // Those that wait to be asked for are among all.
        for node in &mut self.nodes.all {
            node.patient.clear();
        }
        for group in self.hub.groups() {
            self.ask_for_group(&group);
        }
    }

    fn ask_for_group(&mut self, group: &Group) {
        let now = self.hub.now();
        for circuit in group.circuits() {
            if self.nodes.is_found(&circuit) {
                circuit.instance().found(now);
            }
            match self.nodes.of_key(circuit.place.key()) {
                Some(at) => self.nodes.all[at].patient.push_back(circuit),
                None => self.urgent.push_back(circuit),
            }
        }
    }

    /// Messages of these groups arrive, in this session.
    pub(super) fn subscribed(&mut self, session: u64, groups: Vec<Arc<Group>>) {
        for group in groups {
            if self.nodes.is_live(session) && group.asked_in.load(Ordering::Relaxed) == session {
                group.heard_in.store(session, Ordering::Release);
                self.ask_for_group(&group);
            }
        }
    }

    /// The user may not hear one of these channels: so the circuits of that one, which wouldn't hear what
    /// others do, are on their own.
    pub(super) fn unheard(&mut self, session: u64, groups: &[Arc<Group>], why: &Trouble) {
        let Some(at) = self.nodes.of_session(session) else {
            return;
        };
        let [group] = groups else {
            for group in groups {
                self.begin_to_hear(at, vec![Arc::clone(group)]);
            }
            return;
        };
        group.asked_in.store(0, Ordering::Relaxed);
        let quiet_until = self.hub.now().saturating_add(self.quiet());
        group.quiet_until.store(quiet_until, Ordering::Relaxed);
        let circuits = group.circuits().into_iter();
        let circuits = circuits.map(|circuit| (circuit, Wrong::Refused(why.clone())));
        self.refused(at, circuits.collect());
    }

    /// Groups whose messages don't arrive yet, or not any more, are subscribed to, and those that are over
    /// no more.
    pub(super) fn look_at_groups(&mut self) {
        let is_recent = self.looked_at.is_some_and(|at| at.elapsed() < LOOKED);
        if !self.hub.take_changed() && is_recent {
            return;
        }
        self.looked_at = Some(Instant::now());
        self.hub.recount();
        let is_over = |group: &Arc<Group>| group.is_over();
        let (over, present): (Vec<_>, Vec<_>) = self.hub.groups().into_iter().partition(is_over);
        if self.hub.is_ending() {
            // They have left with their fleet, whose farewell is theirs.
            return;
        }
        if !over.is_empty() {
            self.is_changed = true;
            for circuit in over.iter().flat_map(|group| group.circuits()) {
                circuit.keep_last_word(&self.hub);
            }
            self.hub.remove(&over);
        }
        // For those of a fleet that ends all is said by its farewell.
        for group in over.iter().filter(|group| !group.is_left()) {
            for circuit in group.circuits() {
                self.part_with(&circuit);
            }
        }
        let now = self.hub.now();
        let is_unheard = |group: &&Arc<Group>| {
            let is_asked = self.nodes.is_live(group.asked_in.load(Ordering::Relaxed));
            !is_asked && group.quiet_until.load(Ordering::Relaxed) <= now
        };
        let new = present.iter().filter(is_unheard);
        let new: Vec<_> = new.collect();
        let mut at_nodes: Vec<_> = self.nodes.all.iter().map(|_| Vec::new()).collect();
        for group in new {
            if let Some(at) = self.node_to_hear(&group.channel) {
                let session = self.nodes.all[at].session;
                group.asked_in.store(session, Ordering::Relaxed);
                at_nodes[at].push(Arc::clone(group));
            }
        }
        // First: another of its name may be there by now, and is asked for then.
        self.stop_hearing(&over);
        for (at, groups) in at_nodes.iter().enumerate() {
            for groups in groups.chunks(CHANNELS) {
                self.begin_to_hear(at, groups.to_vec());
            }
        }
    }

    /// Where messages of this channel are to come from. In a cluster each node has those of all: that of
    /// a key of this name has them first. `None`: none yet.
    fn node_to_hear(&mut self, channel: &str) -> Option<usize> {
        let is_live = |at: &usize| self.nodes.all[*at].live.is_some();
        let best = self.nodes.of_key(channel);
        if let Some(at) = best.filter(is_live) {
            return Some(at);
        }
        if let Some(at) = best {
            if self.nodes.all[at].is_idle() {
                self.connect(at);
            }
            let since = self.nodes.all[at].connecting_since;
            let patience = self.hub.times().answer;
            if since.is_some_and(|since| since.elapsed() < patience) && !self.nodes.all[at].is_lost
            {
                // Until then, or until it has failed.
                self.looked_at = None;
                return None;
            }
        }
        (0..self.nodes.all.len()).find(|at| self.nodes.all[*at].live.is_some())
    }

    fn begin_to_hear(&mut self, at: usize, groups: Vec<Arc<Group>>) {
        let node = &mut self.nodes.all[at];
        let Some(live) = &node.live else {
            return;
        };
        node.asked_at = Instant::now();
        let channels = groups.iter().map(|group| group.channel.clone()).collect();
        let asking = asking::listen(live, channels, true, self.hub.times().answer);
        let (session, to) = (node.session, self.events.0.clone());
        task::start(&self.runtime, asking, move |done| {
            let _ = to.send(Event::Subscribed(session, groups, done));
        });
    }

    fn stop_hearing(&self, groups: &[Arc<Group>]) {
        let within = self.hub.times().answer;
        for node in &self.nodes.all {
            let Some(live) = &node.live else {
                continue;
            };
            let is_here =
                |group: &&Arc<Group>| group.asked_in.load(Ordering::Relaxed) == node.session;
            let channels = groups.iter().filter(is_here);
            let channels: Vec<_> = channels.map(|group| group.channel.clone()).collect();
            for channels in channels.chunks(CHANNELS) {
                self.runtime
                    .spawn(asking::listen(live, channels.to_vec(), false, within));
            }
        }
    }
}
