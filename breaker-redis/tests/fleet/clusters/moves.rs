//! Circuits that go from node to node.

use super::nodes::{Cluster, Monitor};
use super::{Member, channel_of, key_of};
use crate::support::{LONG, Lines, name, until};
use crate::users::NEEDED;
use breakerbox::State;

#[test]
fn a_circuit_that_is_moved_to_another_node_is_lost_by_nobody() {
    let Some(cluster) = Cluster::start(2, 0) else {
        return;
    };
    let prefix = name("moved");
    let lines = Lines::of(prefix);
    let circuit = cluster.name_with(0, |name| format!("{prefix}:{name}"));
    let keyed = name("keys");
    // Who may what the docs say needs no more, also while a circuit is on its way.
    let needed: Vec<_> = NEEDED.split_whitespace().collect();
    let (keys, channels) = (format!("~{prefix}:*"), format!("&{prefix}:*"));
    let user = ["ACL", "SETUSER", "shop", "on", ">hush", &keys, &channels];
    for node in &cluster.nodes {
        node.order(&[&user, &needed[..], &["+cluster|slots", "+asking"]].concat());
    }
    // Each begins at another node.
    let fleets = [cluster.builder(), cluster.builder_from(1)]
        .map(|fleet| fleet.lease(LONG).answer(LONG).login("shop", "hush"));
    let [a, b] = fleets.map(|fleet| Member::new(fleet.prefix(prefix), &[circuit], (keyed, 16)));
    for key in 0..16 {
        a.fail_key(key);
    }
    for key in 0..16 {
        until("a key's trip", || b.state_of_key(key) == State::Open);
    }
    let nodes = (0..16).map(|key| cluster.node_of(&key_of(prefix, keyed, key)));
    assert_eq!(nodes.max(), Some(1), "both have some of them");
    let key = format!("{prefix}:{circuit}");
    let monitor = Monitor::of(&cluster);
    a.fail(0);
    until("a trip", || b.state(0) == State::Open);
    // It is on its way: the old node has it no more, and the new one answers only who was sent there.
    let slot = cluster.slot(&key).to_string();
    let [old, new] = [0, 1].map(|at| cluster.id(at));
    let set = |at: usize, what: &[&str]| {
        cluster.nodes[at].order(&[&["CLUSTER", "SETSLOT", &slot], what].concat());
    };
    set(1, &["IMPORTING", &old]);
    set(0, &["MIGRATING", &new]);
    let port = cluster.nodes[1].port().to_string();
    cluster.nodes[0].order(&["MIGRATE", "127.0.0.1", &port, &key, "0", "5000"]);
    b.circuits[0].force_open();
    until("an operator's word", || a.state(0) == State::ForcedOpen);
    a.circuits[0].close();
    until("another", || b.state(0) == State::Closed);
    // It has arrived.
    set(1, &["NODE", &new]);
    set(0, &["NODE", &new]);
    a.fail(0);
    until("a trip", || b.state(0) == State::Open);
    b.circuits[0].close();
    until("an operator's word", || a.state(0) == State::Closed);
    for member in [&a, &b] {
        member.fleet.ready(LONG).expect("to be ready");
    }
    // Each was asked by one instance, and done by one node.
    until("all that nodes have done", || {
        monitor.runs(&key, "change") >= 5
    });
    assert_eq!(monitor.runs(&key, "change"), 5);
    for member in [&a, &b] {
        let status = member.status();
        assert_eq!((status.lost, status.nonsense), (0, 0), "{status:?}");
        assert_eq!((status.cut_off, status.circuits), (0, 17), "{status:?}");
        assert!(
            status.is_connected && status.last_error.is_none(),
            "{status:?}"
        );
    }
    assert_eq!(lines.all(), [""; 0]);
}

#[test]
fn a_replica_that_takes_over_has_the_circuits_of_its_primary() {
    let Some(mut cluster) = Cluster::start(3, 1) else {
        return;
    };
    let prefix = name("failover");
    let lines = Lines::of(prefix);
    let circuits = [0, 1].map(|at| cluster.name_with(at, |name| format!("{prefix}:{name}")));
    let keyed = name("keys");
    let [a, b] = [(); 2].map(|()| {
        Member::new(
            cluster.builder().prefix(prefix).lease(LONG).answer(LONG),
            &circuits,
            (keyed, 0),
        )
    });
    a.fail(0);
    until("a trip", || b.state(0) == State::Open);
    // Both are well: nothing is lost. Asked for it, the others would have a say, and take their time.
    cluster.nodes[3].order(&["CLUSTER", "FAILOVER", "TAKEOVER"]);
    until("the replica to be the primary", || {
        cluster.nodes[3]
            .ask(&["INFO", "replication"])
            .contains("role:master")
    });
    a.circuits[0].close();
    until("an operator's word", || b.state(0) == State::Closed);
    b.fail(0);
    until("a trip", || a.state(0) == State::Open);
    for member in [&a, &b] {
        // Of a trip a message may tell before its circuit was answered for there.
        member.fleet.ready(LONG).expect("to be ready");
        let status = member.status();
        assert_eq!((status.lost, status.cut_off), (0, 0), "{status:?}");
    }
    assert_eq!(lines.all(), [""; 0]);
    // And back because the other was killed.
    until("the old primary to be a replica that has all", || {
        let info = cluster.nodes[0].ask(&["INFO", "replication"]);
        info.contains("role:slave") && info.contains("master_link_status:up")
    });
    cluster.nodes[3].kill();
    cluster.nodes[0].order(&["CLUSTER", "FAILOVER", "TAKEOVER"]);
    a.circuits[0].close();
    until("an operator's word", || b.state(0) == State::Closed);
    b.fail(0);
    b.fail(1);
    until("trips", || {
        [0, 1].iter().all(|at| a.state(*at) == State::Open)
    });
    until("all to be had", || {
        let mut members = [&a, &b].into_iter();
        members.all(|member| member.status().is_connected && member.status().cut_off == 0)
    });
    // Who knew of the new primary before it saw the end of the old one has lost nothing.
    let lost: u64 = [&a, &b].iter().map(|member| member.status().lost).sum();
    assert!(lost <= 2, "each at most once: {lost}");
    let told = lines.all();
    let restored = told.iter().filter(|line| *line == "restored").count();
    assert_eq!(restored * 2, told.len(), "{told:?}");
    assert!(told.len() <= 4, "{told:?}");
}

/// Where it is sent to, nobody answers yet.
#[test]
fn a_circuit_that_is_sent_to_a_node_that_is_still_connected_to_waits_for_it() {
    let Some(cluster) = Cluster::start(2, 0) else {
        return;
    };
    let prefix = name("sent");
    let lines = Lines::of(prefix);
    let key = |name: &str| format!("{prefix}:{name}");
    // Nobody has a reason to connect to the other node.
    let [sent, stays] = [(); 2].map(|()| cluster.name_with(0, key));
    let keyed = cluster.name_with(0, |name| channel_of(prefix, name));
    let [a, b] = std::array::from_fn(|_| {
        // It takes as long as the test says, and is no loss.
        let fleet = cluster.builder_from(0).prefix(prefix).connect(LONG);
        Member::new(fleet.lease(LONG).answer(LONG), &[sent, stays], (keyed, 0))
    });
    let monitor = Monitor::of(&cluster);
    let (slot, new) = (cluster.slot(&key(sent)).to_string(), cluster.id(1));
    cluster.nodes[1].order(&["CLUSTER", "SETSLOT", &slot, "NODE", &new]);
    cluster.nodes[1].pause();
    cluster.nodes[0].order(&["CLUSTER", "SETSLOT", &slot, "NODE", &new]);
    // Each way to be sent there: news, an operator's word, a poll.
    a.fail(0);
    b.circuits[0].force_open();
    for member in [&a, &b] {
        until("it to be cut off", || member.status().cut_off == 1);
    }
    // Meanwhile each is by itself, the other is shared, and nothing is asked all the time.
    for _ in 0..5 {
        a.fail(1);
        until("a trip", || b.state(1) == State::Open);
        b.circuits[1].close();
        until("an operator's word", || a.state(1) == State::Closed);
    }
    assert_eq!((a.state(0), b.state(0)), (State::Open, State::ForcedOpen));
    let stats = cluster.nodes[0].ask(&["INFO", "commandstats"]);
    let of_script = stats.lines().find(|line| line.contains("cmdstat_evalsha"));
    let rejected = of_script.and_then(|line| line.split("rejected_calls=").nth(1));
    let rejected = rejected.and_then(|said| said.split(',').next()?.parse().ok());
    let rejected: u32 = rejected.expect("how many were sent elsewhere");
    assert!((1..=8).contains(&rejected), "{rejected}: {stats}");
    cluster.nodes[1].go_on();
    // The operator's word stands, whichever came first.
    until("an operator's word", || a.state(0) == State::ForcedOpen);
    for member in [&a, &b] {
        member.fleet.ready(LONG).expect("to be ready");
        let status = member.status();
        assert_eq!((status.lost, status.nonsense), (0, 0), "{status:?}");
        assert!(status.is_connected && status.cut_off == 0, "{status:?}");
    }
    assert_eq!(b.state(0), State::ForcedOpen);
    until("what the node has done", || {
        monitor.runs(&key(sent), "change") >= 1
    });
    let runs = monitor.runs(&key(sent), "change");
    assert!((1..=2).contains(&runs), "what two said, each once: {runs}");
    assert_eq!(lines.all(), [""; 0]);
}

/// As nodes do by themselves where a primary is gone.
#[test]
fn a_replica_that_the_others_elect_takes_over_and_it_is_told_once() {
    let options = [
        "--cluster-node-timeout",
        "3000",
        "--cluster-replica-validity-factor",
        "0",
    ];
    let Some(mut cluster) = Cluster::start_with(3, 1, &options) else {
        return;
    };
    let prefix = name("elected");
    let circuits = [0, 1].map(|at| cluster.name_with(at, |name| format!("{prefix}:{name}")));
    let [a, b] = std::array::from_fn(|_| {
        let fleet = cluster.builder().prefix(prefix).lease(LONG).answer(LONG);
        Member::new(fleet, &circuits, (name("keys"), 0))
    });
    b.circuits[0].force_open();
    until("an operator's word", || a.state(0) == State::ForcedOpen);
    let lines = Lines::of(prefix);
    cluster.nodes[0].kill();
    for member in [&a, &b] {
        until("a loss", || member.status().lost == 1);
    }
    // What is said meanwhile is said once it can be; what is on the others is shared all the time.
    a.circuits[0].close();
    b.fail(1);
    until("a trip", || a.state(1) == State::Open);
    until("the replica to be elected", || {
        cluster.nodes[3]
            .ask(&["INFO", "replication"])
            .contains("role:master")
    });
    until("an operator's last word", || b.state(0) == State::Closed);
    b.fail(0);
    until("a trip", || a.state(0) == State::Open);
    until("all to be told", || lines.all().len() == 4);
    let told = lines.all();
    let restored = told.iter().filter(|line| *line == "restored").count();
    assert_eq!(restored, 2, "{told:?}");
    let part = format!("1 of 2 circuits of fleet `{prefix}` can't be shared");
    let is_told = |line: &&String| line.starts_with(&part);
    assert_eq!(told.iter().filter(is_told).count(), 2, "{told:?}");
    for member in [&a, &b] {
        let status = member.status();
        assert_eq!((status.lost, status.nonsense), (1, 0), "{status:?}");
        assert!(status.is_connected && status.cut_off == 0, "{status:?}");
    }
}
