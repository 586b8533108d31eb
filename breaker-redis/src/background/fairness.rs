//! What is urgent and what can wait don't keep each other from being asked: with a real Redis, whose answers
//! nobody looks at.

use super::connect::{Target, Trial};
use super::window::{LEAST, Window};
use super::{Background, Woken};
use crate::circuit::Circuit;
use crate::hub::Hub;
use crate::protocol::tests::server::Server;
use crate::protocol::{Cause, Prefix, Shared, Told, Version, Who};
use crate::share::sealed::{Joins, To};
use crate::{Fleet, FleetBreaker, SharedFleetBreaker, Sharing};
use breakerbox::{Breaker, Settings, State};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const SESSION: u64 = 1;

/// A background that does only what it is told to, and is connected.
fn background(server: &Server) -> Background {
    let mut background = unconnected(server);
    connect(&mut background);
    background
}

/// One that isn't, yet.
pub(super) fn unconnected(server: &Server) -> Background {
    // A busy machine takes its time, and what nobody waits for any more is asked again.
    let settings = Fleet::builder(server.url())
        .lease(Duration::from_secs(60))
        .answer(Duration::from_secs(60));
    let me = Who::new("me").expect("a name");
    let hub = Arc::new(Hub::new(me, Prefix::default(), &settings));
    let target = Target::new(&settings).expect("a target");
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().expect("a runtime");
    Background::new(hub, runtime, Arc::new(target))
}

pub(super) fn connect(background: &mut Background) {
    let node = &mut background.nodes.all[0];
    (node.session, node.retry_at) = (SESSION, None);
    let connecting = node
        .target
        .connect(Trial::OfAll("breakerbox:~me".to_owned()));
    let live = background.runtime.block_on(connecting);
    background.connected(0, live.expect("a connection"));
}

/// Circuits with something to say at once, and their breakers.
pub(super) fn circuits(
    background: &Background,
    of: &str,
    many: usize,
) -> Vec<(Arc<Circuit>, Arc<SharedFleetBreaker>)> {
    let made = (0..many).map(|number| {
        let made = circuit(background, &format!("{of}-{number}"));
        made.1.force_open();
        made
    });
    made.collect()
}

/// One that has nothing to say.
fn circuit(background: &Background, name: &str) -> (Arc<Circuit>, Arc<SharedFleetBreaker>) {
    let breaker = Breaker::new(name.to_owned().leak(), Settings::new().must());
    let breaker = Arc::new(FleetBreaker::of(Arc::new(breaker), Sharing::new()));
    (&breaker).join(To(&background.hub)).expect("to be shared");
    let groups = background.hub.groups();
    let group = groups.last().expect("the last one");
    group.heard_in.store(SESSION, Ordering::Relaxed);
    (Arc::clone(&group.circuits()[0]), breaker)
}

fn is_asked((circuit, _): &(Arc<Circuit>, Arc<SharedFleetBreaker>)) -> bool {
    let is_found = circuit.found_in.load(Ordering::Relaxed) == SESSION;
    // All that it has to do is to wait for the answer.
    is_found && !circuit.instance().is_told() && circuit.due.load(Ordering::Relaxed) != u64::MAX
}

/// However many of the others are unanswered, until none more is asked.
#[test]
fn nobody_waits_for_answers_of_the_other_kind() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let urgent = Window::NEW.urgent();
    for (many, others_are_urgent, room) in [
        (3, true, urgent),
        (urgent - 4, true, urgent),
        (urgent + 100, true, urgent),
        (100, false, Window::NEW.room()),
    ] {
        let mut background = background(&server);
        let others = circuits(&background, "other", many);
        let new = circuits(&background, "new", LEAST);
        let queue = |background: &mut Background, circuits: &[(Arc<Circuit>, _)], urgent| {
            let node = &mut background.nodes.all[0];
            let queue = match urgent {
                true => &mut node.urgent,
                false => &mut node.patient,
            };
            queue.extend(circuits.iter().map(|(circuit, _)| Arc::clone(circuit)));
        };
        queue(&mut background, &others, others_are_urgent);
        background.drive_all();
        let asked = others.iter().filter(|other| is_asked(other)).count();
        assert_eq!(asked == many, many < room, "{asked} of {many}");
        // Some ask for more than one thing: on a busy machine it is soon time for their poll.
        let in_flight = background.nodes.all[0].in_flight;
        assert!(in_flight >= room.min(many));
        assert!(!new.iter().any(is_asked));
        queue(&mut background, &new, !others_are_urgent);
        background.drive_all();
        let found = new.iter().filter(|new| is_asked(new)).count();
        let asked = background.nodes.all[0].in_flight - in_flight;
        let beside = format!("{asked} of {found} beside {many}, urgent: {others_are_urgent}");
        assert!(asked >= LEAST && found >= LEAST / 2, "{beside}");
    }
}

/// Who floods a channel makes nobody keep more than there is.
#[test]
fn messages_that_are_dropped_again_and_again_cost_no_memory() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let mut background = background(&server);
    let many = circuits(&background, "flooded", 10);
    for round in 0..100 {
        let live = background.nodes.all[0].live.as_ref();
        let live = live.expect("a connection");
        live.overflowed.store(true, Ordering::Release);
        background.hear_all();
        assert_eq!(background.nodes.all[0].patient.len(), many.len(), "{round}");
        // Nothing that was dropped is forgotten, now or when it is time.
        assert!(!background.has_missed || background.due().is_some());
        if round % 10 == 0 {
            background.made_up_at = None;
        }
    }
}

/// Whoever waits for a lease then probes by itself.
#[test]
fn what_is_not_asked_for_too_long_is_neglected() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let mut background = background(&server);
    let others = circuits(&background, "other", Window::NEW.urgent() + 100);
    let new = circuits(&background, "new", 1);
    let all = others.iter().chain(&new);
    background
        .urgent
        .extend(all.map(|(circuit, _)| Arc::clone(circuit)));
    background.drive_all();
    let (now, hour) = (background.hub.now(), 3_600_000_000);
    let circuit = &new[0].0;
    assert!(!is_asked(&new[0]) && !circuit.is_neglected(now, hour));
    assert!(circuit.is_neglected(now + hour + 1, hour));
    // It waits since then, however often it is found worth looking at.
    background.urgent.push_back(Arc::clone(circuit));
    background.drive_all();
    assert!(circuit.is_neglected(now + hour + 1, hour));
    // Once it is asked for, nobody neglects it.
    background.nodes.all[0].in_flight = 0;
    for _ in 0..100 {
        background.drive_all();
        background.nodes.all[0].in_flight = 0;
    }
    assert!(is_asked(&new[0]));
    assert_eq!(circuit.waits_since.load(Ordering::Relaxed), u64::MAX);
}

/// What was heard of needs no answer.
#[test]
fn what_others_did_is_followed_however_much_is_unanswered() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let mut background = background(&server);
    let others = circuits(&background, "other", Window::NEW.urgent() + 100);
    let all = others.iter().map(|(circuit, _)| Arc::clone(circuit));
    background.urgent.extend(all);
    background.drive_all();
    let in_flight = background.nodes.all[0].in_flight;
    let (heard, breaker) = circuit(&background, "heard");
    for (counter, state) in [(1, State::Open), (2, State::Disabled), (3, State::Closed)] {
        let is_open = state == State::Open;
        let told = Told {
            version: Version { epoch: 7, counter },
            shared: Shared {
                state,
                wait: if is_open { 60_000_000 } else { 0 },
                imposed: false,
                reopenings: 0,
            },
            lease: None,
            cause: Cause::Operator,
            by: Who::new("other").expect("a name"),
            offered: None,
            census: None,
            operated: None,
            declared: None,
        };
        heard.instance().heard(background.hub.now(), &told);
        background.urgent.push_back(Arc::clone(&heard));
        background.drive_all();
        assert_eq!(breaker.state(), state);
        assert_eq!(background.nodes.all[0].in_flight, in_flight);
    }
    // Once its breaker is gone there is none.
    drop(breaker);
    background.urgent.push_back(heard);
    background.drive_all();
}

/// Else nothing would be asked any more, at some time.
#[test]
fn what_is_answered_makes_room_for_as_much_again() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let mut background = background(&server);
    let (patient, urgent) = (
        circuits(&background, "patient", 100),
        circuits(&background, "urgent", 20),
    );
    let node = &mut background.nodes.all[0];
    let of = |circuits: &[(Arc<Circuit>, _)]| -> Vec<_> {
        circuits
            .iter()
            .map(|(circuit, _)| Arc::clone(circuit))
            .collect()
    };
    node.patient.extend(of(&patient));
    node.urgent.extend(of(&urgent));
    let is_told = |(circuit, _): &(Arc<Circuit>, _)| {
        circuit.told_in.load(Ordering::Relaxed) == SESSION && circuit.instance().is_told()
    };
    let begun = Instant::now();
    while !patient.iter().chain(&urgent).all(is_told) || background.nodes.all[0].in_flight > 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "not all is told");
        background.drive_all();
        if let Woken::Event(event) = background.wait() {
            background.take(event);
        }
    }
    let node = &background.nodes.all[0];
    let left = (node.in_flight, node.patient_asked, node.questions.len());
    assert_eq!(left, (0, 0, 0));
    assert!(node.window.room() >= LEAST);
}

/// Else a connection of which nothing else is asked would end some day, for having said too much.
#[test]
fn signs_of_life_count_as_answers() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let background = background(&server);
    let live = background.nodes.all[0].live.as_ref();
    let live = live.expect("a connection");
    for _ in 0..3 {
        let asking = super::asking::is_alive(live, Duration::from_secs(60));
        background.runtime.block_on(asking).expect("an answer");
        assert_eq!(live.gauge.unread(), 0);
    }
}
