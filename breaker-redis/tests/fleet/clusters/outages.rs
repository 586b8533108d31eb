//! Nodes that are killed, stopped, or refuse everything.

use super::nodes::Cluster;
use super::{Member, channel_of, key_of};
use crate::support::{LONG, Lines, name, until};
use breaker_redis::Trouble;
use breakerbox::State;
use std::time::Duration;

/// Polls so rarely that only messages, and what is asked because they may have been missed, tell anything.
const HOURS: Duration = Duration::from_secs(3600);

/// Two instances of a fleet with a circuit on each of three nodes. `answer`: how long they may take.
fn two(cluster: &Cluster, prefix: &'static str, answer: Duration) -> [Member; 2] {
    let names = [0, 1, 2].map(|at| cluster.name_with(at, |name| format!("{prefix}:{name}")));
    let keyed = (name("keys"), 0);
    std::array::from_fn(|_| {
        let fleet = cluster.builder().prefix(prefix);
        Member::new(fleet.lease(LONG).answer(answer), &names, keyed)
    })
}

#[test]
fn a_node_that_is_killed_costs_its_own_circuits_and_is_told_once() {
    let Some(mut cluster) = Cluster::start(3, 0) else {
        return;
    };
    let prefix = name("killed");
    let [a, b] = two(&cluster, prefix, LONG);
    assert_eq!((a.status().cut_off, a.status().circuits), (0, 3));
    let lines = Lines::of(prefix);
    cluster.nodes[0].kill();
    for member in [&a, &b] {
        until("a loss", || member.status().lost == 1);
        let status = member.status();
        assert!(!status.is_connected, "{status:?}");
        assert_eq!((status.cut_off, status.circuits), (1, 3), "{status:?}");
        let error = status.last_error.expect("an error");
        assert_eq!(error.at, cluster.address(0));
    }
    // The others are shared, and what happens to it stays here.
    for circuit in [0, 1, 2] {
        a.fail(circuit);
    }
    until("trips of the others", || {
        b.state(1) == State::Open && b.state(2) == State::Open
    });
    assert_eq!((a.state(0), b.state(0)), (State::Open, State::Closed));
    b.circuits[1].force_open();
    until("an operator's word", || a.state(1) == State::ForcedOpen);
    assert_eq!((a.status().lost, a.status().cut_off), (1, 1));
    // Once the next attempt has failed as well.
    until("both to tell it", || lines.all().len() >= 2);
    let told = lines.all();
    let begin = format!(
        "1 of 3 circuits of fleet `{prefix}` can't be shared, each process is on its own with these: \
         redis at {} ",
        cluster.address(0)
    );
    assert!(told.iter().all(|line| line.starts_with(&begin)), "{told:?}");
    assert_eq!(told.len(), 2, "once by each: {told:?}");
    // It comes back without anything: what is known is offered.
    cluster.nodes[0].restart();
    until("the trip that was made alone", || b.state(0) == State::Open);
    until("all to be told", || lines.all().len() == 4);
    assert_eq!(lines.all()[2..], ["restored", "restored"]);
    for member in [&a, &b] {
        let status = member.status();
        assert!(status.is_connected && status.cut_off == 0, "{status:?}");
    }
}

#[test]
fn messages_of_a_node_that_is_gone_come_from_another_and_missed_ones_are_made_up_for() {
    let Some(mut cluster) = Cluster::start(3, 0) else {
        return;
    };
    // Messages of the keys come from the node of their channel, which has none of these keys itself.
    let channel = |name: &str| channel_of("breakerbox", name);
    let keyed = cluster.name_with(0, channel);
    let mut keys = (0..100).map(|key| (key, cluster.node_of(&key_of("breakerbox", keyed, key))));
    let missed = keys.find(|(_, at)| *at == 1).expect("a key").0;
    let later = keys.find(|(_, at)| *at == 2).expect("a key").0;
    let [a, b] = [(); 2].map(|()| {
        let fleet = cluster
            .builder()
            .poll(HOURS)
            .alive(HOURS * 3)
            .lease(LONG)
            .answer(LONG);
        let member = Member::new(fleet, &[], (keyed, 0));
        for key in [missed, later] {
            drop(member.keyed.get(&key));
        }
        member.fleet.ready(LONG).expect("to be ready");
        member
    });
    until("both to be heard of", || {
        let of = ["PUBSUB", "NUMSUB", &channel(keyed)];
        let mut command = redis::cmd(of[0]);
        let command = command.arg(&of[1..]);
        let answer: (String, u32) = command.query(&mut cluster.nodes[0].connect()).unwrap();
        answer.1 == 2
    });
    cluster.nodes[0].pause();
    a.fail_key(missed);
    until("the trip to be stored", || {
        let key = key_of("breakerbox", keyed, missed);
        cluster.nodes[1].ask(&["EXISTS", &key]) == "1"
    });
    assert_eq!(b.state_of_key(missed), State::Closed, "nobody has told it");
    cluster.nodes[0].kill();
    until("what was missed", || b.state_of_key(missed) == State::Open);
    b.fail_key(later);
    until("a message from another node", || {
        a.state_of_key(later) == State::Open
    });
    for member in [&a, &b] {
        let status = member.status();
        // Nothing of theirs was on it.
        assert_eq!((status.lost, status.cut_off), (0, 0), "{status:?}");
        assert!(status.is_connected, "{status:?}");
    }
}

#[test]
fn a_node_that_is_stopped_holds_up_no_other() {
    let Some(cluster) = Cluster::start(3, 0) else {
        return;
    };
    let prefix = name("stopped");
    let [a, b] = two(&cluster, prefix, Duration::from_secs(2));
    let lines = Lines::of(prefix);
    cluster.nodes[2].pause();
    // Whether it is noticed yet or not.
    a.fail(0);
    until("a trip", || b.state(0) == State::Open);
    until("a loss", || [&a, &b].iter().all(|it| it.status().lost == 1));
    let error = a.status().last_error.expect("an error");
    assert_eq!(error.at, cluster.address(2));
    assert!(matches!(error.trouble, Trouble::Silent(_)), "{error}");
    a.fail(1);
    until("another trip", || b.state(1) == State::Open);
    for member in [&a, &b] {
        let status = member.status();
        assert_eq!((status.lost, status.cut_off), (1, 1), "{status:?}");
    }
    a.fail(2);
    cluster.nodes[2].go_on();
    until("the third trip", || b.state(2) == State::Open);
    until("all to be told", || lines.all().len() == 4);
    let told = lines.all();
    let restored = told.iter().filter(|line| *line == "restored").count();
    assert_eq!(restored, 2, "{told:?}");
}

#[test]
fn a_circuit_that_no_node_has_is_told_and_shared_once_one_has_it() {
    let Some(cluster) = Cluster::start(2, 0) else {
        return;
    };
    let prefix = name("homeless");
    let names = [0, 1].map(|at| cluster.name_with(at, |name| format!("{prefix}:{name}")));
    let slot = cluster.slot(&format!("{prefix}:{}", names[0])).to_string();
    for node in &cluster.nodes {
        node.order(&["CLUSTER", "DELSLOTS", &slot]);
    }
    let lines = Lines::of(prefix);
    let [a, b] = std::array::from_fn(|_| {
        let fleet = cluster.builder().prefix(prefix).lease(LONG).answer(LONG);
        Member::unready(fleet, &names, (name("keys"), 0))
    });
    until("that it is told", || lines.all().len() == 2);
    let begin = format!("1 of 2 circuits of fleet `{prefix}` can't be shared");
    let is_told = |line: &String| line.starts_with(&begin) && line.contains("no node");
    assert!(lines.all().iter().all(is_told), "{:?}", lines.all());
    for member in [&a, &b] {
        until("the other to be had", || member.status().cut_off == 1);
        assert!(!member.status().is_connected);
    }
    a.fail(0);
    a.fail(1);
    until("the trip of the other", || b.state(1) == State::Open);
    assert_eq!(b.state(0), State::Closed);
    cluster.give(&slot, 1);
    until("the trip that was made alone", || b.state(0) == State::Open);
    until("all to be told", || lines.all().len() == 4);
    assert_eq!(lines.all()[2..], ["restored", "restored"]);
    assert!(a.status().is_connected && b.status().is_connected);
}

/// Others on the same node are none the worse for it.
#[test]
fn a_slot_that_is_taken_from_a_node_costs_its_own_circuits_and_is_told_once() {
    let Some(cluster) = Cluster::start(2, 0) else {
        return;
    };
    let prefix = name("unserved");
    let key = |name: &str| format!("{prefix}:{name}");
    let [first, beside, other] = [0, 0, 1].map(|at| cluster.name_with(at, key));
    let slot = cluster.slot(&key(first));
    assert_ne!(slot, cluster.slot(&key(beside)));
    let [a, b] = std::array::from_fn(|_| {
        let fleet = cluster.builder().prefix(prefix).lease(LONG).answer(LONG);
        Member::new(fleet, &[first, beside, other], (name("keys"), 0))
    });
    let lines = Lines::of(prefix);
    let slot = slot.to_string();
    for node in &cluster.nodes {
        node.order(&["CLUSTER", "DELSLOTS", &slot]);
    }
    a.fail(0);
    for member in [&a, &b] {
        until("it to be cut off", || !member.status().is_connected);
        let status = member.status();
        assert_eq!((status.cut_off, status.circuits), (1, 3), "{status:?}");
        assert_eq!(status.lost, 0, "no connection was: {status:?}");
    }
    for circuit in [1, 2] {
        a.fail(circuit);
        until("trips of the others", || b.state(circuit) == State::Open);
    }
    assert_eq!((a.state(0), b.state(0)), (State::Open, State::Closed));
    let begin = format!("1 of 3 circuits of fleet `{prefix}` can't be shared");
    let is_told = |line: &String| line.starts_with(&begin) && line.contains("no node");
    until("that it is told", || lines.all().len() == 2);
    assert!(lines.all().iter().all(is_told), "{:?}", lines.all());
    // Given back, it is on the node that had it, or another.
    cluster.give(&slot, 1);
    until("the trip that was made alone", || b.state(0) == State::Open);
    until("all to be told", || lines.all().len() == 4);
    assert_eq!(lines.all()[2..], ["restored", "restored"]);
    for member in [&a, &b] {
        let status = member.status();
        assert!(status.is_connected && status.cut_off == 0, "{status:?}");
        assert_eq!((status.lost, status.nonsense), (0, 0), "{status:?}");
    }
}

#[test]
fn a_cluster_that_is_down_is_told_as_a_redis_that_is_gone() {
    let options = ["--cluster-require-full-coverage", "yes"];
    let Some(mut cluster) = Cluster::start_with(3, 0, &options) else {
        return;
    };
    let prefix = name("down");
    let [a, b] = two(&cluster, prefix, LONG);
    let lines = Lines::of(prefix);
    let all_lost = format!("fleet `{prefix}` can't be reached, each process is on its own: ");
    // Of a cluster in which a slot is nobody's, all nodes refuse everything.
    for node in &cluster.nodes {
        node.order(&["CLUSTER", "DELSLOTS", "16383"]);
    }
    for circuit in [0, 1, 2] {
        a.fail(circuit);
    }
    until("all to be lost", || {
        [&a, &b].iter().all(|it| it.status().cut_off == 3)
    });
    until("that it is told", || {
        let of_all = lines.all().into_iter();
        of_all.filter(|line| line.starts_with(&all_lost)).count() == 2
    });
    let text = a.status().last_error.expect("an error").to_string();
    assert!(
        text.contains("refuses commands: its cluster is down (CLUSTERDOWN)"),
        "{text}"
    );
    assert!(!a.status().is_connected);
    let owner = cluster.id(2);
    for node in &cluster.nodes {
        node.order(&["CLUSTER", "SETSLOT", "16383", "NODE", &owner]);
    }
    for circuit in [0, 1, 2] {
        until("the trips made alone", || b.state(circuit) == State::Open);
    }
    let is_restored = |line: &String| line == "restored";
    until("all to be told", || {
        lines.all().iter().filter(|line| is_restored(line)).count() == 2
    });
    let told = lines.all();
    assert!(
        told.len() <= 6,
        "a part, all, and the end, by each: {told:?}"
    );
    // Now it is gone for good.
    for node in &mut cluster.nodes {
        node.kill();
    }
    until("all to be lost", || a.status().cut_off == 3);
    assert_eq!(a.state(0), State::Open);
}
