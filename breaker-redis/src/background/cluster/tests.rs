//! When a cluster is asked which node has what, and what is told where none has something.

use super::super::Background;
use super::super::connect::Target;
use super::super::nodes::{Nodes, Range, SLOTS, slot_of};
use super::super::report::News;
use super::*;
use crate::hub::Hub;
use crate::protocol::{Prefix, Who};
use crate::share::sealed::{Joins, To};
use crate::{Fleet, FleetBreaker, SharedFleetBreaker, Sharing};
use breakerbox::{Breaker, Settings};
use std::net::TcpListener;

/// A background that does only what it is told to, of a cluster whose nodes never say anything.
fn background(silent: &TcpListener) -> Background {
    let url = format!("redis://{}", silent.local_addr().expect("an address"));
    let settings = Fleet::builder(&url).node(&url);
    let me = Who::new("me").expect("a name");
    let hub = Arc::new(Hub::new(me, Prefix::default(), &settings));
    let target = Arc::new(Target::new(&settings).expect("a target"));
    let cluster = Cluster::of(&target, &settings.nodes).expect("a cluster");
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().expect("a runtime");
    let mut background = Background::new(hub, runtime, target);
    background.nodes = Nodes::of_cluster();
    background.cluster = cluster;
    background
}

/// One whose slot is in this half.
fn circuit(background: &Background, is_in_first_half: bool) -> Arc<SharedFleetBreaker> {
    let slot = |name: &str| slot_of(format!("breakerbox:{name}").as_bytes());
    let mut names = (0..).map(|number| format!("of-a-cluster-{number}"));
    let name = names.find(|name| (slot(name) < SLOTS / 2) == is_in_first_half);
    let name = name.expect("a name").leak();
    let breaker = Arc::new(Breaker::new(name, Settings::new().must()));
    let breaker = Arc::new(FleetBreaker::of(breaker, Sharing::new()));
    (&breaker).join(To(&background.hub)).expect("to be shared");
    breaker
}

fn range(silent: &TcpListener, first: u16, last: u16) -> Range {
    let address = silent.local_addr().expect("an address");
    Range {
        first,
        last,
        host: address.ip().to_string(),
        port: address.port(),
    }
}

/// It would look for it all the time.
#[test]
fn nobody_wakes_to_ask_what_is_being_asked() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut background = background(&silent);
    let one = circuit(&background, true);
    assert!(background.map_due().is_some());
    background.look();
    let cluster = background.cluster.as_mut().expect("a cluster");
    assert!(cluster.is_asking);
    // That was long ago, so it may be asked again.
    cluster.asked_at = None;
    background.want_map();
    let wanted = background.cluster.as_ref().expect("a cluster").due;
    assert!(wanted.is_some_and(|at| at <= Instant::now()));
    assert_eq!(background.map_due(), None);
    // Once it is answered, it is asked once more.
    background.mapped(Ok(vec![range(&silent, 0, SLOTS - 1)]));
    assert!(background.map_due().is_some());
    // And again, however many ask for it, a while later.
    let asked_at = Instant::now();
    let cluster = background.cluster.as_mut().expect("a cluster");
    (cluster.asked_at, cluster.due) = (Some(asked_at), None);
    background.want_map();
    background.want_map();
    assert_eq!(background.map_due(), Some(asked_at + ONCE_IN));
    drop(one);
}

#[test]
fn what_no_node_has_is_told_once_and_asked_for_more_and_more_rarely() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut background = background(&silent);
    let (with, without) = (circuit(&background, true), circuit(&background, false));
    let part = vec![range(&silent, 0, SLOTS / 2 - 1)];
    for round in 0..10 {
        background.mapped(Ok(part.clone()));
        let due = background.map_due().expect("to be asked again");
        background.drive_all();
        assert_eq!(background.map_due(), Some(due), "{round}");
        match background.report.look(Instant::now()) {
            Some(News::Lost {
                error,
                losses,
                part,
            }) => {
                assert_eq!((round, losses, part), (0, 1, Some(Part::new(1, 2))));
                let error = error.to_string();
                assert!(error.contains("no node of its cluster has the slots"));
            }
            told => assert_eq!((round > 0, told), (true, None)),
        }
        background.look_whether_all_are_had();
    }
    // By then it waits for seconds, half of which may be chance.
    background.mapped(Ok(part.clone()));
    let due = background.map_due().expect("to be asked again");
    assert!(due > Instant::now() + Duration::from_secs(1));
    // One has them, and loses them again: another loss.
    background.mapped(Ok(vec![range(&silent, 0, SLOTS - 1)]));
    background.mapped(Ok(part));
    assert!(background.report.next().is_some(), "it is kept back");
    let status = background.hub.status();
    assert!(!status.is_connected && status.last_error.is_some());
    drop((with, without));
}

#[test]
fn with_a_node_that_is_no_part_of_the_cluster_any_more_its_connection_goes() {
    let [silent, other] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    let mut background = background(&silent);
    let breaker = circuit(&background, true);
    background.mapped(Ok(vec![range(&silent, 0, SLOTS - 1)]));
    // As if it was connected, and the circuit asked for there.
    background.nodes.all[0].session = 7;
    background.hub.connected(7);
    let circuit = background.circuits().next().expect("a circuit");
    circuit.found_in.store(7, Ordering::Relaxed);
    circuit.instance().found(0);
    assert_eq!(background.hub.status().cut_off, 0);
    background.mapped(Ok(vec![range(&other, 0, SLOTS - 1)]));
    assert_eq!(background.nodes.all.len(), 1);
    assert_eq!(background.nodes.of_session(7), None);
    let status = background.hub.status();
    assert_eq!((status.cut_off, status.circuits), (1, 1), "{status:?}");
    assert_eq!(circuit.found_in.load(Ordering::Relaxed), 0);
    drop(breaker);
}

/// However often it is tried again.
#[test]
fn a_cluster_or_node_that_stays_away_is_one_loss() {
    let [silent, other] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    let mut background = background(&silent);
    let (one, two) = (circuit(&background, true), circuit(&background, false));
    let away = || Trouble::Silent(Duration::from_secs(1));
    let told = |background: &mut Background| match background.report.look(Instant::now()) {
        Some(News::Lost { losses, part, .. }) => Some((losses, part)),
        told => {
            assert_eq!(told, None);
            None
        }
    };
    // Nobody says what is where: all is lost.
    for round in 0..3 {
        let (at, trouble) = ("here".to_owned(), away());
        background.mapped(Err(ConnectionError { at, trouble }));
        assert_eq!(told(&mut background), (round == 0).then_some((1, None)));
    }
    // Of each of two nodes it is a loss, at the first attempt.
    background.mapped(Ok(vec![
        range(&silent, 0, SLOTS / 2 - 1),
        range(&other, SLOTS / 2, SLOTS - 1),
    ]));
    background.report = super::super::report::Report::default();
    background.lose(0, away());
    assert_eq!(told(&mut background), Some((1, None)), "none is there yet");
    for _ in 0..3 {
        background.lose(0, away());
        assert_eq!(background.report.next(), None);
    }
    background.lose(1, away());
    assert!(background.report.next().is_some(), "another loss");
    drop((one, two));
}

/// It gets no login that it has no use for.
#[test]
fn a_node_that_has_nothing_of_ours_is_not_tried_again() {
    let [mine, others] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    let mut background = background(&mine);
    let breaker = circuit(&background, true);
    background.mapped(Ok(vec![
        range(&mine, 0, SLOTS / 2 - 1),
        range(&others, SLOTS / 2, SLOTS - 1),
    ]));
    background.look();
    let is_connecting = |background: &Background| -> Vec<_> {
        let nodes = background.nodes.all.iter();
        nodes.map(|node| node.connecting_since.is_some()).collect()
    };
    assert_eq!(is_connecting(&background), [true, false]);
    for at in 0..2 {
        background.lose(at, Trouble::Silent(Duration::ZERO));
        background.nodes.all[at].retry_at = Some(Instant::now());
    }
    background.look();
    assert_eq!(is_connecting(&background), [true, false]);
    assert!(background.nodes.all[1].is_idle());
    // Once a circuit is there, it is.
    let other = circuit(&background, false);
    for circuit in background.circuits() {
        background.urgent.push_back(circuit);
    }
    background.look();
    assert_eq!(is_connecting(&background), [true, true]);
    background.lose(1, Trouble::Silent(Duration::ZERO));
    background.nodes.all[1].retry_at = Some(Instant::now());
    background.look();
    assert_eq!(is_connecting(&background), [true, true]);
    drop((breaker, other));
}

/// A primary may be all that was named, and all that there is of ours, and be gone.
#[test]
fn who_else_there_is_is_asked_only_where_nobody_says_anything() {
    let [mine, others, named] = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
    let mut background = background(&named);
    let breaker = circuit(&background, true);
    let port = |of: &TcpListener| of.local_addr().expect("an address").port();
    let asked = |background: &Background| -> Vec<_> {
        let asked = background.whom_to_ask().into_iter();
        asked
            .map(|(target, _)| target.address().expect("an address").1)
            .collect()
    };
    assert_eq!(asked(&background), [port(&named)]);
    let map = || {
        Ok(vec![
            range(&mine, 0, SLOTS / 2 - 1),
            range(&others, SLOTS / 2, SLOTS - 1),
        ])
    };
    let gone = || {
        let (at, trouble) = (
            "here".to_owned(),
            Trouble::Ended("as it is told".to_owned()),
        );
        Err(ConnectionError { at, trouble })
    };
    for _ in 0..2 {
        background.mapped(map());
        assert_eq!(asked(&background), [port(&named), port(&mine)]);
        background.mapped(gone());
        assert_eq!(asked(&background), [&named, &mine, &others].map(port));
    }
    drop(breaker);
}

/// Who asks for a slot that is nobody's, and no more, has it asked for no longer.
#[test]
fn a_slot_that_was_refused_is_kept_in_mind_while_somebody_has_a_circuit_there() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut background = background(&silent);
    let map = || Ok(vec![range(&silent, 0, SLOTS - 1)]);
    let (stays, goes) = (circuit(&background, true), circuit(&background, false));
    background.mapped(map());
    let slots: Vec<_> = background.circuits().map(|it| slot(&it)).collect();
    background.nodes.refused.extend(&slots);
    background.mapped(map());
    assert_eq!(background.nodes.refused.len(), 2);
    drop(goes);
    background.look_at_groups();
    background.mapped(map());
    let refused: Vec<_> = background.nodes.refused.iter().copied().collect();
    assert_eq!(refused, [slots[0]]);
    // Until it is answered for.
    let circuit = background.circuits().next().expect("a circuit");
    assert!(background.nodes.is_refused(&circuit));
    background.served(&circuit);
    assert!(!background.nodes.is_refused(&circuit));
    background.look_at_refusals();
    drop(stays);
}

/// That not all are had, and how many aren't, is seen together.
#[test]
fn who_has_no_node_is_cut_off_before_it_is_said_that_not_all_are_had() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut background = background(&silent);
    let _circuits = [true, false].map(|half| circuit(&background, half));
    background.mapped(Ok(vec![range(&silent, 0, SLOTS - 1)]));
    // As if the node had answered for both.
    background.hub.connected(7);
    for circuit in background.circuits() {
        circuit.found_in.store(7, Ordering::Relaxed);
        background.had(&circuit);
    }
    background.hub.all_are_had();
    let status = |background: &Background| {
        let status = background.hub.status();
        (status.is_connected, status.cut_off)
    };
    assert_eq!(status(&background), (true, 0));
    background.mapped(Ok(vec![range(&silent, 0, SLOTS / 2 - 1)]));
    assert_eq!(status(&background), (false, 1));
}
