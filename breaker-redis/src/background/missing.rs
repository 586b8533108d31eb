//! For which circuits Redis can't be had: none, some of a cluster's, those that it refuses, or all.

use super::asking::Wrong;
use super::report::News;
use super::{Background, trouble};
use crate::circuit::{Circuit, Standing};
use crate::error::{ConnectionError, Trouble};
use crate::status::Why;
use breakerbox::observe::Part;
use std::sync::Arc;
use std::time::Instant;

impl Background {
    /// Redis, or this node, has answered, but not as it should for these circuits: so it is with what else
    /// is asked for them.
    pub(super) fn refused(&mut self, at: usize, circuits: Vec<(Arc<Circuit>, Wrong)>) {
        let mut first = None;
        for (circuit, wrong) in circuits {
            if !circuit.is_shared() {
                continue;
            }
            let key = circuit.place.key().to_owned();
            let why = self.in_words(&key, wrong);
            let error = ConnectionError {
                at: self.nodes.all[at].target.shown(),
                trouble: Trouble::Circuit {
                    key,
                    why: why.clone(),
                },
            };
            let before = circuit.stand(Standing::Unusable(Box::new(error.clone())));
            match before {
                Standing::Unusable(_) => {}
                Standing::Had | Standing::Awaited => first = first.or(Some((error, why))),
            }
        }
        let Some((error, why)) = first else {
            return;
        };
        self.hub.failed(&error, false);
        let now = Instant::now();
        if self.is_another_refusal(now, why) {
            // How many they are is seen when it is told.
            let part = Some(Part::new(1, self.hub.circuits().max(1)));
            self.report.lost(now, error, part, true);
        }
        self.is_changed = true;
        self.hub.progressed();
    }

    /// Whether it is another loss: circuits that are refused all at once, as by a right that the user has
    /// lost, come to light one after the other, as they are asked for.
    fn is_another_refusal(&mut self, now: Instant, why: String) -> bool {
        let before = self.refused_last.replace((now, why));
        let Some(((before, of), (_, why))) = before.zip(self.refused_last.as_ref()) else {
            return true;
        };
        of != *why || now.saturating_duration_since(before) > 2 * self.hub.times().poll
    }

    fn in_words(&self, key: &str, wrong: Wrong) -> String {
        match wrong {
            Wrong::Nonsense(why) => Why { of: key, why }.to_string(),
            Wrong::NoText => "the answer is no text".to_owned(),
            Wrong::Refused(trouble) => match trouble::with_prefix(trouble, self.hub.prefix()) {
                Trouble::Forbidden(right) => format!("the user {right}"),
                Trouble::Refuses(what) => what,
                other => other.to_string(),
            },
        }
    }

    /// Redis has answered for this circuit as it should.
    pub(super) fn had(&mut self, circuit: &Circuit) {
        self.is_changed |= !matches!(circuit.stand(Standing::Had), Standing::Had);
    }

    /// That some or all are lost is told, if it is to be by now.
    pub(super) fn tell_of_loss(&mut self) {
        let now = Instant::now();
        if !self.report.is_due(now) {
            return;
        }
        let part = self.part();
        self.report.now_of(part);
        let news = self.report.look(now);
        self.tell(news);
    }

    fn tell(&self, news: Option<News>) {
        if let Some(news) = news {
            news.tell(self.hub.prefix().as_str());
        }
    }

    /// Which part of the circuits is cut off. `None`: all, since nothing can be reached.
    pub(super) fn part(&self) -> Option<Part> {
        if self.nodes.is_one() && self.nodes.all[0].live.is_none() {
            return None;
        }
        let (mut reached, mut lost, mut homeless, mut of) = (0, 0, 0, 0);
        let (mut unusable, mut awaited) = (0, 0);
        for circuit in self.circuits() {
            of += 1;
            let node = self.nodes.of_key(circuit.place.key());
            let Some(at) = node.filter(|_| !self.nodes.is_refused(&circuit)) else {
                homeless += 1;
                continue;
            };
            let node = &self.nodes.all[at];
            // Others are just being connected to.
            lost += usize::from(node.is_lost);
            if node.live.is_some() {
                reached += 1;
                unusable += usize::from(circuit.unusable().is_some());
                awaited += usize::from(circuit.is_missed());
            }
        }
        if reached == 0 && (lost > 0 || homeless == of) {
            return None;
        }
        let circuits = match lost + homeless + unusable {
            // All can be had again, and haven't been answered for yet.
            0 => awaited,
            circuits => circuits,
        };
        Some(Part::new(circuits, of))
    }

    /// Whether what was lost is there again.
    pub(super) fn look_whether_all_are_had(&mut self) {
        if !std::mem::take(&mut self.is_changed) || !self.is_mapped() {
            return;
        }
        if self.nodes.is_one() && self.nodes.all[0].live.is_none() {
            return;
        }
        let is_known = self.missing.upgrade();
        if is_known.is_some_and(|known| self.is_missing(&known)) {
            return;
        }
        // The last of them: most others are answered for before it.
        let missing = self.circuits().filter(|circuit| self.is_missing(circuit));
        if let Some(missing) = missing.last() {
            self.missing = Arc::downgrade(&missing);
            return;
        }
        self.refused_last = None;
        let late = self.report.look_at_last(Instant::now());
        self.tell(late);
        self.hub.all_are_had();
        let news = self.report.restored(Instant::now());
        self.tell(news);
    }

    fn is_missing(&self, circuit: &Circuit) -> bool {
        (!self.nodes.is_reached(circuit) || circuit.is_missed()) && circuit.is_shared()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Woken;
    use super::super::asking::{Answer, Answered, Question};
    use super::super::fairness::{circuits, connect, unconnected};
    use super::*;
    use crate::protocol::Unusable;
    use crate::protocol::tests::server::Server;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    /// Whether it is connected, and how many are cut off.
    fn status(background: &mut Background) -> (bool, usize) {
        background.look_whether_all_are_had();
        let status = background.hub.status();
        (status.is_connected, status.cut_off)
    }

    #[test]
    fn all_are_had_once_each_is_answered_for_as_it_should_be() {
        let Some(server) = Server::start(&[]) else {
            return;
        };
        let mut background = unconnected(&server);
        let shared = circuits(&background, "had", 3);
        assert_eq!(status(&mut background), (false, 3));
        connect(&mut background);
        let had = |background: &mut Background, at: usize| {
            let session = background.nodes.all[0].session;
            shared[at].0.found_in.store(session, Ordering::Relaxed);
            background.had(&shared[at].0);
            status(background)
        };
        assert_eq!(status(&mut background), (false, 3));
        assert_eq!(had(&mut background, 2), (false, 2));
        assert_eq!(had(&mut background, 0), (false, 1));
        let foreign = || Wrong::Nonsense(Unusable::Foreign);
        for _ in 0..2 {
            background.refused(0, vec![(Arc::clone(&shared[1].0), foreign())]);
            assert_eq!(status(&mut background), (false, 1));
            assert_eq!(background.part(), Some(Part::new(1, 3)));
        }
        assert_eq!(had(&mut background, 1), (true, 0));
        // Who is new doesn't count, until it is known to be missed.
        let new = circuits(&background, "new", 1);
        assert_eq!(status(&mut background), (true, 0));
        background.refused(0, vec![(Arc::clone(&new[0].0), foreign())]);
        assert_eq!(status(&mut background), (false, 1));
        // A connection that ends cuts off all of them.
        background.lose(0, Trouble::Silent(Duration::ZERO));
        assert_eq!(
            (status(&mut background), background.part()),
            ((false, 4), None)
        );
        // Nobody is missed who is gone.
        connect(&mut background);
        for at in 0..3 {
            had(&mut background, at);
        }
        assert_eq!(status(&mut background), (false, 1));
        drop(new);
        background.look_at_groups();
        assert_eq!(status(&mut background), (true, 0));
    }

    /// What was known of a connection says nothing of the next.
    #[test]
    fn who_is_refused_is_awaited_and_asked_for_anew_after_a_loss() {
        let Some(server) = Server::start(&[]) else {
            return;
        };
        let mut background = unconnected(&server);
        let shared = circuits(&background, "anew", 2);
        connect(&mut background);
        let session = background.nodes.all[0].session;
        for (circuit, _) in &shared {
            circuit.found_in.store(session, Ordering::Relaxed);
            background.had(circuit);
        }
        assert_eq!(status(&mut background), (true, 0));
        let circuit = Arc::clone(&shared[0].0);
        circuit.stand(Standing::Awaited);
        // Also before the background has said so.
        assert!(!background.hub.status().is_connected);
        assert_eq!(background.part(), Some(Part::new(1, 2)));

        let foreign = || Wrong::Nonsense(Unusable::Foreign);
        let answered = Answered {
            question: Question::last(&circuit, background.hub.now()).remove(0),
            answer: Answer::Unusable(foreign()),
        };
        background.answered(session, Duration::ZERO, vec![answered]);
        assert!(circuit.unusable().is_some());
        // It isn't asked for again and again.
        assert_ne!(circuit.quiet_until.load(Ordering::Relaxed), 0);
        let group = circuit.group.upgrade().expect("a group");
        for quiet_until in [&circuit.quiet_until, &group.quiet_until] {
            quiet_until.store(u64::MAX, Ordering::Relaxed);
        }
        // Nothing was heard there yet.
        circuit.found_in.store(0, Ordering::Relaxed);
        background.lose(0, Trouble::Silent(Duration::ZERO));
        assert!(circuit.unusable().is_none() && circuit.is_missed());
        connect(&mut background);
        for quiet_until in [&circuit.quiet_until, &group.quiet_until] {
            assert_eq!(quiet_until.load(Ordering::Relaxed), 0);
        }
        // What is refused to who is gone is no loss.
        background.had(&circuit);
        drop((group, shared));
        background.refused(0, vec![(Arc::clone(&circuit), foreign())]);
        assert!(!circuit.is_missed());
    }

    /// However many answers it takes until each of them is known to be.
    #[test]
    fn circuits_that_are_refused_together_are_one_loss() {
        let Some(server) = Server::start(&[]) else {
            return;
        };
        let mut background = unconnected(&server);
        let shared = circuits(&background, "together", 6);
        connect(&mut background);
        let session = background.nodes.all[0].session;
        let had = |background: &mut Background| {
            for (circuit, _) in &shared {
                circuit.found_in.store(session, Ordering::Relaxed);
                background.had(circuit);
            }
            assert_eq!(status(background), (true, 0));
        };
        had(&mut background);
        let foreign = || Wrong::Nonsense(Unusable::Foreign);
        let refuse = |background: &mut Background, at: usize, wrong: Wrong| {
            background.refused(0, vec![(Arc::clone(&shared[at].0), wrong)]);
        };
        for at in 0..2 {
            refuse(&mut background, at, foreign());
        }
        let told = background.report.look(Instant::now());
        assert!(
            matches!(told, Some(News::Lost { losses: 1, .. })),
            "{told:?}"
        );
        for at in 2..4 {
            refuse(&mut background, at, foreign());
            // Nor is it another cause that is told of in a while.
            assert_eq!(background.report.next(), None, "{at}");
            assert_eq!(status(&mut background), (false, at + 1));
        }
        refuse(&mut background, 4, Wrong::NoText);
        assert!(background.report.next().is_some(), "for another reason");
        // What is mended and wrong again is another, and so is what is wrong much later.
        for is_mended in [true, false] {
            had(&mut background);
            background.report = super::super::report::Report::default();
            refuse(&mut background, 0, foreign());
            assert!(background.report.look(Instant::now()).is_some());
            if is_mended {
                had(&mut background);
            } else if let Some((at, _)) = &mut background.refused_last {
                *at = at
                    .checked_sub(3 * background.hub.times().poll)
                    .expect("a while ago");
            }
            refuse(&mut background, 1, foreign());
            assert!(background.report.next().is_some(), "{is_mended}");
        }
    }

    /// Also where the background has yet to say that not all are had.
    #[test]
    fn nobody_is_ready_whose_circuit_is_not_answered_for() {
        let Some(server) = Server::start(&[]) else {
            return;
        };
        let mut background = unconnected(&server);
        let shared = circuits(&background, "ready", 2);
        connect(&mut background);
        for (circuit, _) in &shared {
            background.urgent.push_back(Arc::clone(circuit));
        }
        let ready = |background: &Background| background.hub.wait_until_told(Duration::ZERO);
        let begun = Instant::now();
        while ready(&background).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it is not told");
            background.drive_all();
            if let Woken::Event(event) = background.wait() {
                background.take(event);
            }
            background.look_whether_all_are_had();
        }
        let circuit = &shared[1].0;
        circuit.stand(Standing::Awaited);
        assert!(background.hub.is_connected());
        assert_eq!(ready(&background), Err(None));
        background.had(circuit);
        assert_eq!(ready(&background), Ok(()));
    }

    #[test]
    fn without_circuits_a_connection_is_enough() {
        let Some(server) = Server::start(&[]) else {
            return;
        };
        let mut background = unconnected(&server);
        assert_eq!(status(&mut background), (false, 0));
        connect(&mut background);
        assert_eq!(status(&mut background), (true, 0));
    }
}
